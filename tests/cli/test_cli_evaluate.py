"""`longseq evaluate` and `longseq oracle`: what they print, write and answer."""

import json

import pytest

from longseq.cli import main

LINES = [
    "The keeper of the northern lighthouse trims the lamps before every single dusk.",
    "Ships that pass the cape count the flashes and know at once where they are.",
    "A storm in the last week of autumn broke two windows and drowned the log book.",
    "The harbour master paid for new glass and for a better lock on the iron door.",
]


@pytest.fixture
def data(tmp_path):
    rows = [{"id": f"d{i}", "text": " ".join(LINES), "abstract": LINES[i], "summary": LINES[i]} for i in range(3)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "data.jsonl")


def test_a_summary_printed_as_json_is_evaluated(data, tmp_path, capsys):
    assert main(["summarize", data, "--sentences", "1", "--json", "-q"]) == 0
    (tmp_path / "summary.json").write_text(capsys.readouterr().out)
    assert main(["evaluate", str(tmp_path / "summary.json"), data, "--documents", data, "-q"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 documents; ROUGE F of rouge-score's words, stemmed; intervals of 95 %\n")
    assert [line.split()[0] for line in out.splitlines()[3:8]] == ["summaries", "lead", "random", "lexrank", "oracle"]
    assert "summaries less" in out


def test_json_on_stdout_and_in_a_file_is_one_document(data, tmp_path, capsys):
    out = tmp_path / "figures.json"
    assert main(["evaluate", data, data, "--json", "--out", str(out), "-q"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == json.loads(out.read_text()) and shown.err == ""
    assert json.loads(shown.out)["systems"][0]["rouge"]["rougeLsum"]["f"]["value"] == 1.0
    assert main(["evaluate", data, data, "--out", str(out), "-q"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_what_is_left_out_is_said_and_answers_3(data, tmp_path, capsys):
    (tmp_path / "some.jsonl").write_text(json.dumps({"id": "d1", "abstract": LINES[1]}) + "\n")
    assert main(["evaluate", data, str(tmp_path / "some.jsonl"), "-q"]) == 3
    shown = capsys.readouterr()
    assert shown.err == "longseq: summaries left out, as nothing stands beside them: 2 (d0, d2)\n"
    assert shown.out.startswith("1 document;")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--column", "brief"], "--column NAME"),
        (["--reference-column", "brief"], "--reference-column NAME"),
        (["--documents", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_bad_values_are_one_line(options, said, data, capsys):
    assert main(["evaluate", data, data, *options, "-q"]) == 1
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_columns_can_be_named(data, capsys):
    argv = ["evaluate", data, data, "--column", "text", "--reference-column", "text", "--documents", data]
    assert main([*argv, "--document-column", "text", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"][0]["rouge"]["rouge2"]["f"]["value"] == 1.0


def test_oracle(data, tmp_path, capsys):
    out = tmp_path / "labels.jsonl"
    assert main(["oracle", data, "--out", str(out), "-q"]) == 0
    assert capsys.readouterr().out == (f"{out}: 3 documents, 3 of 12 sentences chosen; ROUGE-1 1.000, ROUGE-2 1.000\n")
    assert [s["label"] for s in json.loads(out.read_text().splitlines()[1])["sentences"]] == [0, 1, 0, 0]
    assert main(["oracle", data, "--out", str(out), "-q"]) == 2
    assert main(["oracle", data, "--out", str(out), "--force", "--words", "0", "-q"]) == 2
    assert main(["oracle", data, "--out", str(out), "--force", "--words", "3", "-q"]) == 0
    assert "0 of 12 sentences chosen" in capsys.readouterr().out


def test_oracle_of_documents_without_a_reference_answers_3(data, tmp_path, capsys):
    (tmp_path / "some.jsonl").write_text(json.dumps({"id": "d1", "abstract": LINES[1]}) + "\n")
    argv = ["oracle", data, "--references", str(tmp_path / "some.jsonl"), "--out", str(tmp_path / "labels.jsonl")]
    assert main([*argv, "-q"]) == 3
    assert capsys.readouterr().err == "longseq: 2 documents without a reference: d0, d2\n"


@pytest.mark.parametrize("name", ["d.txt", "d.jsonl"])
def test_oracle_takes_no_document_for_its_own_reference(name, tmp_path, capsys):
    path = tmp_path / name
    path.write_text(json.dumps({"id": "d1", "text": LINES[1]}) + "\n" if name.endswith("jsonl") else LINES[1])
    assert main(["oracle", str(path), "--out", str(tmp_path / "labels.jsonl"), "-q"]) == 1
    err = capsys.readouterr().err
    assert ("a column 'abstract'" if name.endswith("jsonl") else "give --references FILE") in err
    assert not (tmp_path / "labels.jsonl").exists()
