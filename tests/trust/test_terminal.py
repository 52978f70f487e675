"""What a terminal is given shows what input holds, and does nothing of it: no escape, no title, no turned letters.

Commands talk to a pseudo-terminal, where they would colour and move if they did.
"""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import tty

import pytest

from longseq.cli import main
from longseq.errors import printable
from longseq.formats.jsonfile import to_json
from longseq.report.lines import screen

BAD = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\x08\x7f[bold]a[/bold][link=http://a]"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
RUN = "import sys; from longseq.cli import main; sys.exit(main())"


def at_a_terminal(monkeypatch, *words):
    """What a terminal gets of a command."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # no line ends of its own
    got = bytearray()

    def listen():
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            got.extend(piece)

    ear = threading.Thread(target=listen)
    ear.start()
    with open(theirs, "w", encoding="utf-8", errors="surrogateescape") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        patch.setattr(sys, "stderr", terminal)
        patch.setenv("TERM", "xterm")
        code = main(list(words))
    ear.join(10)
    os.close(ours)
    return code, got.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "a.fa").write_text(f">{BAD.replace(' ', '')}\nACGTACGT\n>b{BAD}\nAC!T\n")
    (folder / f"{BAD.replace('/', '')}.txt").write_text(f"# {BAD}\n\nThe keeper {BAD} lit the lamp. It burned {BAD}.\n")
    (folder / "v.vcf").write_text(
        f"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n{BAD}\t2\t{BAD}\tC\tG\t.\t.\tA={BAD}\n"
    )
    (folder / "labels.tsv").write_text(f"id\tlabel\n{BAD}\t{BAD}\n")
    return folder


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("summarize", "a.fa", "--no-model"), 3),
        (("summarize", "*.txt", "--format", "md"), 0),
        (("summarize", "*.txt", "--json"), 0),
        (("summarize", "*.txt", "a.fa", "--no-model", "--format", "html"), 3),
        (("score", "v.vcf", "--reference", "a.fa"), None),
        (("info", "a.fa", "v.vcf"), 2),
        (("train", "a.fa", "--labels", "labels.tsv", "--out", f"run{BAD.replace('/', '')}", "--dry-run"), None),
        ((BAD, "a"), 2),
        (("summarize", "none" + BAD, "--debug"), 1),
        (("summarize", "a.fa", "--model", BAD), 1),
    ],
    ids=["table", "markdown", "json", "page", "variants", "usage", "labels", "command", "debug", "model"],
)
def test_nothing_is_obeyed(words, code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    found, shown = at_a_terminal(monkeypatch, *words)
    assert code in (None, found), shown
    # The bar hides the cursor and clears its line by itself; nothing of input has the beginning of such a sequence.
    shown = re.sub(r"\x1b\[(\?25[lh]|\d*[AKG]|1A|2K)|\r", "", shown)
    assert OBEYED.findall(shown) == [], shown[:2000]
    assert "owned" not in shown or "\\x1b]0;owned\\x07" in shown or "\\u001b]0;owned\\u0007" in shown or "�" in shown


def test_in_a_pipe_a_document_stands_word_for_word(folder):
    command = [sys.executable, "-c", RUN, "summarize", "*.txt", "--format", "md", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    assert "\x1b\\]0;owned\x07\x1b" in done.stdout.decode()
    command[5:7] = ["--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert OBEYED.findall(done.stdout) == []
    assert BAD in json.loads(done.stdout)["records"][0]["sentences"][0]["text"]


def test_talk_in_a_log_is_spelled_too(folder):
    command = [sys.executable, "-c", RUN, "summarize", f"none{BAD}", "--debug"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and OBEYED.findall(done.stderr) == [] and "Traceback" in done.stderr


def test_letters_and_what_is_no_letter():
    assert printable("a\tb\néא文") == "a\tb\néא文"
    assert printable(BAD).startswith("\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202egnp.exe\\u2066\\x08\\x7f[bold]")
    assert screen(["a\nb\r\x1b"]) == "a\\nb\\x0d\\x1b\n"
    assert json.loads(to_json({"a": BAD, BAD: [BAD]})) == {"a": BAD, BAD: [BAD]}
    assert not OBEYED.search(to_json(BAD))
