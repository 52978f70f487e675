"""What each shell sources. The line's words go to longseq, and candidates come back: `word TEXT HELP`, or `part TEXT
HELP` behind which more is to come, parted by tabs; `file` or `dir` asks the shell for its own."""

_BASH = r"""_longseq() {
    local IFS=$'\n' kind text help i back words=() asked=() join=0 files= folders=
    for ((i = 1; i <= COMP_CWORD; i++)); do  # bash cuts words at = and :
        if [[ ${COMP_WORDS[i]} == [=:] && ${#words[@]} -gt 0 ]]; then
            words[${#words[@]} - 1]+=${COMP_WORDS[i]}
            join=1
        elif ((join)); then
            words[${#words[@]} - 1]+=${COMP_WORDS[i]}
            join=0
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    back=${COMP_WORDS[COMP_CWORD]}
    [[ $back == [=:] ]] && back=
    back=${words[${#words[@]} - 1]%"$back"}
    for text in "${words[@]}"; do  # as longseq would get them: without quotes
        text=${text#[\'\"]} text=${text%[\'\"]}
        asked+=("${text//\\/}")
    done
    COMPREPLY=()
    while IFS=$'\t' read -r kind text help; do
        text=${text#"$back"}
        if [[ $text == *[!A-Za-z0-9_.,:=/@%+-]* ]]; then  # a record's name must not become a command
            [[ ${COMP_WORDS[COMP_CWORD]} == [\'\"]* ]] && continue
            printf -v text %q "$text"
        fi
        case $kind in
            part) compopt -o nospace; COMPREPLY+=("$text") ;;
            word) COMPREPLY+=("$text") ;;
            file) files=1 ;;
            dir) folders=1 ;;
        esac
    done < <(LONGSEQ_COMPLETE=bash command longseq "${asked[@]}" 2>/dev/null)
    if [[ $files && ${#COMPREPLY[@]} -gt 0 ]]; then
        COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
        compopt -o filenames
    elif [[ $files ]]; then
        compopt -o default -o bashdefault
    elif [[ $folders ]]; then
        compopt -o plusdirs -o filenames
    fi
}
complete -o nosort -F _longseq longseq 2>/dev/null || complete -F _longseq longseq
"""

_ZSH = r"""#compdef longseq
_longseq() {
    local kind text help files folders
    local -a whole parts
    while IFS=$'\t' read -r kind text help; do
        case $kind in
            word) whole+=("${text//:/\\:}:$help") ;;
            part) parts+=("${text//:/\\:}:$help") ;;
            file) files=1 ;;
            dir) folders=1 ;;
        esac
    done < <(LONGSEQ_COMPLETE=zsh command longseq "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#whole )) && _describe -V '' whole
    (( $#parts )) && _describe -V '' parts -S ''
    [[ -n $files$folders && $words[CURRENT] == --*=* ]] && compset -P '*='
    [[ -n $files ]] && _files
    [[ -n $folders ]] && _files -/
}
if [[ $funcstack[1] == _longseq ]]; then
    _longseq "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _longseq longseq
fi
"""

_FISH = r"""function __longseq_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' $current)
    for line in (LONGSEQ_COMPLETE=fish command longseq $words[2..-1] "$current" 2>/dev/null)
        set -l parts (string split \t -- $line)
        switch $parts[1]
            case word part
                printf '%s\t%s\n' $parts[2] $parts[3]
            case file
                printf "$option%s\n" (__fish_complete_path (string replace -- "$option" '' $current))
            case dir
                printf "$option%s\n" (__fish_complete_directories (string replace -- "$option" '' $current) '')
        end
    end
end
complete --command longseq --no-files --keep-order --arguments '(__longseq_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
