"""Stops that end no sentence, where sentencex takes them for one: abbreviations, citations, numbers, speech."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words("Mr Mrs Ms Mme Mlle Dr Prof Rev Hon Gen Col Capt Lt Maj Sgt Cpl Sen Gov Pres Messrs Sr Sra Dra")
"""A name follows."""
_NUMBERED = _words(
    "no nos art arts fig figs eq eqs sec secs § §§ ch chap chs vol vols p pp par para paras ex exs exh exhs app apps"
    " tab tbl cl ver pt pts bk l ll n nn fn col cols dkt doc docs amend amends tit subd rule reg regs ser abs nr bd s"
    " pág pag págs blz стр рис гл ст табл п пп см"
)
"""A number follows, or a letter in its place."""
_CITED = _words(
    "Fed Civ Crim Evid Bankr App Proc Supp Summ Mot Decl Dep Def Defs Pl Pls Pet Resp Opp Mem Br Aff Ann Stat Reg Regs"
    " Cong Sess Rep Rev Cir Ct Ed"
    " Ex Exh Dkt Doc Tr Op Compl Prac Am Cal Const Pub Sup Penal Veh Prob Mass Conn Fla Ga Ill"
    " Ind Kan Ky Md Mich Minn Mo Mont Neb Nev Okla Pa Tenn Tex Va"
    " Vt Wash Wis Wyo Ariz Ark Colo Del Haw Harv Yale Stan"
    " Colum L J P R F S N E W Cl Atl Misc Rptr Adv Appx Litig Jud Admin Cas Pac"
)
"""Words of citations (The Bluebook, tables 1, 6 and 8): a number follows, or another of them."""
_PARTIES = _words(
    "Bd Educ Dist Cty Cnty Cons Comp Ry Mfg Ins Sec Gen Gov't Dept Dep't Univ Assn Ass'n Int'l Nat'l Comm'n Comm Corp"
    " Co Inc Ltd Bros Prop Auth Serv Transp Elec Indus Twp Sav Hosp Inst Mut Prods"
)
"""Words of the names of parties: one of either follows."""
_LEGAL = _CITED | _PARTIES
_BEFORE_SMALL = _NUMBERED | _words(
    "al approx ca cf ed eds e.g esp est etc excl i.e ibid incl inc co corp ltd jr sr max min misc resp trans viz vs v"
    " dept univ mt ft lb lbs oz govt bros obj hrsg bzw usw ggf vgl evtl sog inkl zzgl op cit id et seq q.v n.b a.k.a"
)
"""In small or capital letters; the sentence goes on in small ones."""
_ALWAYS = _words("cf e.g i.e viz vs v approx ca esp vgl z.b d.h т.е т.к т.д")
"""More follows, whatever it is."""
_OTHER_SCRIPTS = _words("डॉ प्रो श्री पं कु स्व सं रु मि")
_KNOWN = _TITLES | _LEGAL | _BEFORE_SMALL | _ALWAYS | _OTHER_SCRIPTS
_NOUNS = re.compile(
    r"(?:Supreme|District|Circuit|Court|Congress|Senate|House|Government|Constitution|Code|Const\.|Dep(?:artmen|')t|Dist\."
    r"|Attorney|Marshals?|Army|Navy|Air|Bank|Treasury|Patent|Postal|Embassy|President|Ambassador|Census|Geological)\b"
)
"""What stands behind `U.S.` inside a sentence."""

_LAST = re.compile(r"""(?:^|(?<=[\s(\[{"“”‘’'—–/]))[^\s(\[{"“”‘—–/]+\.\Z""")
_LONGEST = 16
"""Code points of an abbreviation."""
_NEXT = re.compile(r"\S{1,24}")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\.")
_FIGURE = re.compile(r"[\"“(\[]?(?:\d|§|¶|#|[IVXLC]+\b|[A-Z](?:[-.,;:)]|\b(?!['’])))")
_SERIES = re.compile(r"\d|§|¶")
_CODE = re.compile(r"(?:Rules?|Code|Proc)\b|Nos?\.|&")
_ORDINAL = re.compile(r"\b[Dd](?:ie|er|as|em|en|es)\s+\Z")
_ENUMERATOR = re.compile(
    r"(?:\d{1,2}\s{2,})?[\s\"“‘(\[]*(?:[QA][.:]|(?:\d{1,3}(?:\.\d{1,3})*|[^\W\d_]|[ivxl]{1,5}|[IVXL]{1,5})[.)]|[(（][\w]{1,3}[)）]\.?)"
    r"\s*\Z"
)
_IN_CODE = "/=&%#-_~:@+"
_APOSTROPHE = re.compile(r"\w\.?['’]\Z")
_TAG = re.compile(
    # 「…」と言った: a particle carries the sentence on; words that only begin like one do not
    r"(?:と(?!ても|ころ|き|にかく|りあえず|うとう|もかく|うぜん|なり)|って|を|が(?!、)|の(?!ち))"
    # “…”他问: somebody says it
    r"|[^\s。！？，；：“”「」『』]{1,7}?(?:问道|問道|说道|說道|答道|笑道|喊道|叫道|叹道|嘆道|怒道|骂道|罵道|(?<![听聽])[说說]|(?<!学)[问問]"
    r"|回答)[他她它我你们們]{0,2}[。，,]"
)


def goes_on(text: str, start: int, end: int) -> bool:
    """Whether the sentence that begins at `start` goes on past `end`, which sentencex takes for its end.

    Looks at no more than 24 code points of the word behind `end`.
    """
    stop = end
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    if stop - start <= _LONGEST and _ENUMERATOR.fullmatch(text, start, end):
        return _past_blanks(text, end) < len(text)
    last = text[stop - 1] if stop > start else ""
    if text[end : end + 1] in ("'", "’") and stop == end:
        return text[end + 1 : end + 2].isalnum()  # Def.'s
    if last == ".":
        if stop == end and text[max(start, stop - 2)].isdigit():
            return end < len(text)  # 1.判令
        return _is_abbreviation(text, start, stop, end)
    if last in "!?" and stop == end and text[end : end + 1] in _IN_CODE:
        return end < len(text)  # #!/bin/sh, ?a=b
    if last in "'’" and stop == end:
        inside = _APOSTROPHE.search(text, max(start, end - 3), end)  # Def.'s
        return inside is not None and text[end : end + 1].isalnum()
    return last in "」』”’»" and _TAG.match(text, _past_blanks(text, end)) is not None


def _is_abbreviation(text: str, start: int, stop: int, end: int) -> bool:
    """Whether the stop before `stop` is that of an abbreviation, with what is behind `end` in the same sentence."""
    last = _LAST.search(text, max(start, stop - _LONGEST), stop)
    if last is None:
        return False
    short = last[0][:-1]
    if not (len(short) == 1 or short.casefold() in _KNOWN or short in _KNOWN or short.isdigit() or "." in short):
        return False
    follows = _NEXT.match(text, _past_blanks(text, end))
    return follows is not None and _abbreviates(short, follows[0], text[start : last.start()])


def _abbreviates(short: str, word: str, before: str) -> bool:
    """Whether the stop behind `short` is that of an abbreviation, with `word` behind it in the same sentence."""
    small = short.casefold()
    if short in _TITLES and word[0].isupper():
        return True
    if short in _ALWAYS or (len(short) > 1 and small in _ALWAYS) or short in _OTHER_SCRIPTS:
        return True
    if len(short) == 1 and "\u0620" <= short <= "\u097f":  # an Arabic or Hindi initial
        return True
    if small in _NUMBERED and (len(short) > 1 or (word[0].isdigit() and short.islower())) and _FIGURE.match(word):
        return word not in ("I", "A")
    if word[0].islower():
        return small in _BEFORE_SMALL or short in _LEGAL or short.isdigit()
    if short in _LEGAL and (len(short) > 1 or before.rstrip()[-1:] == "."):
        bare = word.rstrip(",;:)")
        if (bare[-1:] == "." and bare[:-1] in _LEGAL) or _CODE.match(word):
            return True
        return short in _CITED and _SERIES.match(word) is not None
    if short.isdigit():
        return len(short) < 3 and _ORDINAL.search(before) is not None  # die 2. Etage
    return bool(_ACRONYM.fullmatch(short + ".") and _NOUNS.match(word))


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
