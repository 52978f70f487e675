"""`longseq summarize` of documents: parts, questions, what must be in, many together, pipes; every way of printing."""

import io
import json
import sys
from pathlib import Path

import pytest

from longseq.cli import main

LIGHTHOUSE = Path(__file__).parents[2] / "data" / "lighthouse.md"
TEXT = LIGHTHOUSE.read_text(encoding="utf-8")


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main(["summarize", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


def test_chapters(run):
    code, out, _ = run(LIGHTHOUSE, "--by", "chapter", "--sentences", "1")
    lines = out.splitlines()
    assert code == 0 and lines[0].endswith("allowed 1 sentence for each chapter")
    assert lines[3] == "  The Light on Carrow Ness > Part One: History"
    assert (
        "## The Light on Carrow Ness › Part One: History\n" in run(LIGHTHOUSE, "--by", "chapter", "--format", "md")[1]
    )
    (record,) = json.loads(run(LIGHTHOUSE, "--by", "chapter", "--json")[1])["records"]
    assert record["by"] == "chapter" and len(record["parts"]) == 3
    assert [at for part in record["parts"] for at in part["sentences"]] == [*range(len(record["sentences"]))]


def test_pages_of_what_has_none(run):
    code, out, err = run(LIGHTHOUSE, "--by", "page")
    assert (code, out) == (1, "") and "expected a document with pages, found markdown without" in err


def test_questions_and_wishes(run):
    wishes = ("--must-include", "siren", "--exclude", "keeper", "--exclude", "wind")
    code, out, _ = run(
        LIGHTHOUSE, "--query", "How is the mercury cleaned up?", *wishes, "--json", "--characters", "900"
    )
    (record,) = json.loads(out)["records"]
    texts = [row["text"] for row in record["sentences"]]
    assert code == 0 and record["queries"] == ["How is the mercury cleaned up?"]
    assert any("siren" in text for text in texts) and any(
        "bead of silver" in text or "mercury" in text for text in texts
    )
    assert not any("keeper" in text.lower() or "wind" in text.lower() for text in texts)
    assert sum(map(len, texts)) <= 900 and record["budget"] == "900 characters"


def test_together(run, tmp_path):
    other = tmp_path / "rope.txt"
    other.write_text(
        "The rope of the tower is older than anybody who works with it today. It must be renewed in spring.\n"
    )
    code, out, _ = run(LIGHTHOUSE, other, "--together", "--json", "--sentences", "40")
    answer = json.loads(out)
    (record,) = answer["records"]
    assert code == 0 and [row["records"] for row in answer["files"]] == [1, 1]
    assert [facts["file"] for facts in record["documents"]] == [str(LIGHTHOUSE), str(other)]
    assert {row["file"] for row in record["sentences"]} == {str(LIGHTHOUSE), str(other)}
    out = run(LIGHTHOUSE, other, "--together", "--sentences", "40")[1]
    assert out.startswith("2 documents together: ") and f"[{other}, 0-68] The rope" in out
    assert f"## {other}" in run(LIGHTHOUSE, other, "--together", "--sentences", "40", "--format", "md")[1].replace(
        "\\", ""
    )


def test_a_pipe_in_one_pass(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    code, out, _ = run("-", "--kind", "document", "--one-pass", "--sentences", "4", "--json")
    (record,) = json.loads(out)["records"]
    assert code == 0 and record["method"] == "one pass" and len(record["sentences"]) == 4
    assert all(TEXT[row["start"] : row["end"]] == row["text"] for row in record["sentences"])
    assert "read in one pass" in record["remarks"][0]


def test_lines_of_json(run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": TEXT[:3000]}) + "\n" for name in "ab"))
    code, out, _ = run(path, "--format", "jsonl", "--sentences", "2")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [(row["schema"], row["id"]) for row in rows] == [("longseq.summary/1", name) for name in "ab"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--words", "5", "--characters", "9"], "--words and --characters exclude each other"),
        (["--characters", "0"], "budget.amount"),
        (["--must-include", "("], "expected a regular expression"),
        (["--by", "line"], "'--by'"),
        (["--one-pass", "--query", "a"], "document.one_pass"),
        (["--one-pass", "--save-text", "t"], "--one-pass keeps no text"),
        (["--together", "--by", "page"], "document.by"),
    ],
)
def test_what_makes_no_sense(run, options, said):
    code, out, err = run(LIGHTHOUSE, *options)
    assert code == 2 and out == "" and said in err
