"""Tab in real shells. What stands on the line after it is what `longseq` is then called with."""

import os
import pty
import select
import shutil
import sys
import time
from pathlib import Path

import pytest

from longseq.cli.completion.scripts import SCRIPTS

pytestmark = [pytest.mark.shells, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]


class Terminal:
    """A shell with its completion sourced, in a folder with two files and two folders."""

    def __init__(self, name: str, home: Path):
        program = home / "bin" / "longseq"
        program.parent.mkdir()
        program.write_text(
            "#!/bin/sh\n"
            f'if [ -z "$LONGSEQ_COMPLETE" ]; then printf "called"; printf " <%s>" "$@"; echo " end"; exit; fi\n'
            f"PYTHONPATH='{ROOT}' exec '{sys.executable}' -c "
            "'import sys; from longseq.cli import main; sys.exit(main())' \"$@\"\n"
        )
        program.chmod(0o755)
        for file in ("two words.fa", "plain.fa"):
            (home / file).write_text(">chr1 a\nACGT\n>chr2\nACGT\n>gi|1|$(ls)`ls`;ls\nACGT\n")
        (home / "diary").mkdir()
        (home / "results").mkdir()
        (home / "script").write_text(SCRIPTS[name])
        start = {
            "bash": ["bash", "--noprofile", "--norc", "-i"],
            "zsh": ["zsh", "-f", "-i"],
            "fish": ["fish", "--no-config", "-i"],
        }[name]
        environment = {
            "PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm", "LANG": "C.UTF-8",
            "COLUMNS": "200", "fish_greeting": "", "PS1": "$ ",
        }  # fmt: skip
        self.child, self.handle = pty.fork()
        if self.child == 0:
            os.chdir(home)
            os.execvpe(start[0], start, environment)
        self.seen = ""
        self.line("stty -echo 2>/dev/null; . ./script; echo rea''dy\n", "ready")

    def line(self, keys: str, *until: str) -> str:
        """What is written from these keys on, up to all of `until`."""
        before = len(self.seen)
        os.write(self.handle, keys.encode())  # what is typed while Tab works waits for it
        deadline = time.monotonic() + 30
        while not all(one in self.seen[before:] for one in until) and time.monotonic() < deadline:
            if select.select([self.handle], [], [], 0.2)[0]:
                self.seen += os.read(self.handle, 1 << 16).decode(errors="replace")
        assert all(one in self.seen[before:] for one in until), self.seen[before:]
        return self.seen[before:]

    def called(self, keys: str) -> list[str]:
        """The words that longseq gets of the line."""
        shown = self.line(f"{keys}\n", "> end")
        words = shown[shown.rindex("called <") + len("called <") : shown.rindex("> end")]
        return [word.removesuffix("/") for word in words.split("> <")]  # zsh takes the slash of a folder back

    def close(self) -> None:
        os.close(self.handle)
        os.waitpid(self.child, 0)


@pytest.fixture(params=["bash", "zsh", "fish"])
def terminal(request, tmp_path):
    if shutil.which(request.param) is None:
        pytest.fail(f"{request.param} is not installed: .ci/run does it")
    made = Terminal(request.param, tmp_path)
    yield made
    made.close()


def test_tab_completes_and_lists(terminal):
    for keys, words in (
        ("longseq summ\t--no-m\t", ["summarize", "--no-model"]),
        ("longseq tok\ttr\t--uni\tch\t", ["tokenizer", "train", "--unit", "characters"]),
        ("longseq embed --model te\t", ["embed", "--model", "text"]),
        ("longseq embed --model di\t", ["embed", "--model", "diary"]),
        ("longseq summarize pl\t--out res\t", ["summarize", "plain.fa", "--out", "results"]),
        ("longseq summarize tw\t", ["summarize", "two words.fa"]),
        ("longseq summarize --out=res\t", ["summarize", "--out=results"]),
        ("longseq summarize plain.fa --region chr\t2\t", ["summarize", "plain.fa", "--region", "chr2"]),
        ("longseq summarize plain.fa --region gi\t", ["summarize", "plain.fa", "--region", "gi|1|$(ls)`ls`;ls"]),
        ("longseq train --set mod\tvis\tca\t", ["train", "--set", "model.visibility=causal"]),
        ("longseq train --set=mod\tvis\tca\t", ["train", "--set=model.visibility=causal"]),
    ):
        assert terminal.called(keys) == words, keys

    terminal.line("longseq co\t\t", "convert", "completion")
