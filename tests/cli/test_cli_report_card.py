"""`longseq convert … --report`: the report card of a conversion that stands, and the one at a conversion's end."""

import json

import pytest
from teachers import write_bert

from longseq.cli import main
from longseq.tasks.convert.card import CardConfig

TEXT = "abc de f\n\na b c d e\n\n" + "abcdefghij " * 20


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """Nothing is timed."""
    monkeypatch.setattr(CardConfig.__init__, "__kwdefaults__", CardConfig.__init__.__kwdefaults__ | {"budget": 0.0})


@pytest.fixture
def folder(tmp_path, capsys):
    write_bert(tmp_path / "bert")
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "held.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXT.split("\n\n")))
    return tmp_path


def convert(folder, capsys, *options):
    code = main(["convert", str(folder / "bert"), *map(str, options)])
    said = capsys.readouterr()
    return code, said.out, said.err


SWAP = ("--set", "transfer.steps=0", "--set", "distil.steps=0")


def test_a_report_of_what_stands(folder, capsys):
    assert convert(folder, capsys, "--out", folder / "out", *SWAP)[0] == 0
    assert not (folder / "out" / "report.json").exists()
    code, out, err = convert(folder, capsys, "--report", folder / "out", "--texts", folder / "text.txt")
    assert code == 0, err
    assert "cosine to the teacher's vector" in out and "speed, memory and latency" in out
    found = json.loads((folder / "out" / "report.json").read_text())
    assert found["teacher"]["name"] == str(folder / "bert") and found["retrieval"]["texts"] == 2
    assert f"--report {folder / 'out'}" in found["run"]["command"] and (folder / "out" / "report.html").exists()
    code, _, err = convert(folder, capsys, "--report", folder / "out", "--texts", folder / "text.txt")
    assert code == 2 and "exists already" in err
    again = ("--report", folder / "out", "--texts", folder / "text.txt", "--force")
    assert convert(folder, capsys, *again)[0] == 0


def test_the_texts_that_were_left_out_are_reported(folder, capsys):
    held = ("--exclude", folder / "held.jsonl")
    assert convert(folder, capsys, "--out", folder / "one", *held, *SWAP)[0] == 0
    assert json.loads((folder / "one" / "report.json").read_text())["texts"] == 3
    assert convert(folder, capsys, "--out", folder / "two", *held, "--no-report", *SWAP)[0] == 0
    assert not (folder / "two" / "report.json").exists()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "--out DIR to convert, or --report DIR"),
        (("--out", "a", "--report", "b"), "--out DIR to convert, or --report DIR"),
        (("--report", "b"), "--report needs texts; --texts PATH names some"),
        (("--report", "b", "--texts", "t", "--window", "4"), "--window cannot be combined with --report"),
        (("--report", "b", "--texts", "t", "--keep-softmax"), "--texts cannot be combined with --keep-softmax"),
        (("--out", "b", "--keep-softmax", "--labelled", "t"), "--labelled cannot be combined with --keep-softmax"),
    ],
)
def test_requests_that_cannot_be(folder, capsys, options, line):
    code, _, err = convert(folder, capsys, *options)
    assert code == 2 and line in err
