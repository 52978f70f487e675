"""`longseq convert … --report`: the report card of a conversion that stands, and the one at a conversion's end."""

import json

import pytest
from teachers import write_bert
from transfer import write_texts

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
    (folder / "held.txt").write_text("abc de f\n\na b c d e\nj i h g\n")  # a text a line
    code, out, _ = convert(folder, capsys, "--out", folder / "lines", "--exclude", folder / "held.txt", *SWAP)
    assert code == 0 and "2 texts: cosine" in out  # of four words or more
    assert json.loads((folder / "lines" / "report.json").read_text())["texts"] == 3
    (folder / "ids.csv").write_text("id\nd1\n")
    code, _, err = convert(folder, capsys, "--out", folder / "ids", "--exclude", folder / "ids.csv", *SWAP)
    assert code == 0 and "no report card: --exclude names ids of documents" in err
    assert not (folder / "ids" / "report.json").exists()
    assert convert(folder, capsys, "--out", folder / "two", *held, "--no-report", *SWAP)[0] == 0
    assert not (folder / "two" / "report.json").exists()


def test_classes_are_read_before_anything_is_made(folder, capsys):
    rows = [("abc de", "x"), ("fgh ij", "y")] * 4
    (folder / "classes.tsv").write_text("text\tlabel\n" + "".join(f"{text}\t{name}\n" for text, name in rows))
    asked = ("--out", folder / "out", "--exclude", folder / "held.jsonl", *SWAP)
    code, out, err = convert(folder, capsys, *asked, "--labelled", folder / "classes.tsv")
    assert code == 0, err
    assert "classes.tsv: accuracy " in out
    assert json.loads((folder / "out" / "report.json").read_text())["tasks"][0]["texts"] == 8
    (folder / "none.tsv").write_text("text\tkind\nabc\tx\n")
    for name in ("none.tsv", "nowhere.tsv"):
        asked = ("--out", folder / "new", "--exclude", folder / "held.jsonl", *SWAP)
        code, _, err = convert(folder, capsys, *asked, "--labelled", folder / name)
        assert code == 1 and name in err and not (folder / "new").exists()


def test_a_report_is_of_the_weights_beside_it(folder, capsys):
    """What replaces a model leaves neither its report card nor what it learned by."""
    write_texts(folder / "texts.jsonl")
    held = ("--exclude", folder / "held.jsonl", "--texts", folder / "texts.jsonl", "--set", "texts.held_out=0.5")
    few = ("--threads", "1", "--set", "transfer.steps=1", "--set", "distil.steps=0")
    for other in (SWAP, ("--keep-softmax",)):
        code, _, err = convert(folder, capsys, "--out", folder / "out", *held, *few, "--force")
        assert code == 0, err
        assert {"report.json", "report.html", "training"} <= {path.name for path in (folder / "out").iterdir()}
        (folder / "out" / "notes.txt").write_text("the user's")
        assert convert(folder, capsys, "--out", folder / "out", *other, "--force")[0] == 0
        left = {path.name for path in (folder / "out").iterdir()}
        assert "notes.txt" in left and not {"report.json", "report.html", "training"} & left


@pytest.mark.parametrize("options", [SWAP, ("--keep-softmax",)])
def test_a_model_is_not_written_over_itself(folder, capsys, options):
    before = (folder / "bert" / "model.safetensors").read_bytes()
    code, _, err = convert(folder, capsys, "--out", folder / "bert", "--force", *options)
    assert code == 2 and "holds the model that is read; give --out another directory" in err
    assert (folder / "bert" / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "--out DIR to convert, or --report DIR"),
        (("--out", "a", "--report", "b"), "--out DIR to convert, or --report DIR"),
        (("--report", "b"), "--report needs texts; --texts PATH names some"),
        (("--report", "b", "--texts", "t", "--window", "4"), "--window cannot be combined with --report"),
        (("--report", "b", "--texts", "t"), "b: no conversion stands there; --out DIR makes one"),
        (("--report", "b", "--texts", "t", "--segment", "8"), "--segment cannot be combined with --report"),
        (("--out", "b", "--labelled", "t"), "--labelled is of a report card; --exclude FILE names the texts"),
        (("--out", "b", "--keep-softmax", "--set", "window=4"), "--keep-softmax leaves nothing to --set but teacher.*"),
        (("--out", "b", "--no-report"), "--no-report is of a report card; --exclude FILE names the texts"),
        (("--out", "b", "--exclude", "t", "--no-report", "--labelled", "t"), "--labelled cannot be combined with --no"),
        (("--report", "b", "--texts", "t", "--keep-softmax"), "--texts cannot be combined with --keep-softmax"),
        (("--out", "b", "--keep-softmax", "--labelled", "t"), "--labelled cannot be combined with --keep-softmax"),
    ],
)
def test_requests_that_cannot_be(folder, capsys, options, line):
    code, _, err = convert(folder, capsys, *options)
    assert code == 2 and line in err
