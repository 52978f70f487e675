"""`longseq oracle`, `longseq train --task extract`, `longseq summarize --extractor`, one after the other."""

import json

import pytest

from longseq.cli import main

LINES = [
    "The keeper of the northern lighthouse trims the lamps before every single dusk.",
    "In conclusion, ships that pass the cape count the flashes and know where they are.",
    "A storm in the last week of autumn broke two windows and drowned the log book.",
    "The harbour master paid for new glass and for a better lock on the iron door.",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extract")
    orders = [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 2, 1), (0, 2, 1, 3), (2, 1, 0, 3)]
    rows = [
        {"id": f"d{n}", "text": " ".join(LINES[i] for i in order), "abstract": LINES[1]}
        for n, order in enumerate(orders)
    ]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data, labels = str(folder / "data.jsonl"), str(folder / "labels.jsonl")
    assert main(["oracle", data, "--out", labels, "-q"]) == 0
    argv = ["train", data, "--task", "extract", "--labels", labels, "--set", "layers=0", "--set", "held_out=0.3"]
    assert main([*argv, "--out", str(folder / "run"), "-q"]) == 0
    return folder


def test_a_summary_asks_the_extractor(trained, capsys):
    argv = ["summarize", str(trained / "data.jsonl"), "--sentences", "1", "--json", "-q"]
    assert main([*argv, "--extractor", str(trained / "run" / "model")]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    assert [[row["text"] for row in record["sentences"]] for record in records] == [[LINES[1]]] * 6
    assert str(trained / "run" / "model") in records[0]["remarks"][0]


def test_settings_come_from_a_file_too_and_json_is_one_document(trained, tmp_path, capsys):
    argv = ["train", "--config", str(trained / "run" / "run.toml"), "--set", "penalty=2.0", "--json"]
    assert main([*argv, "--out", str(tmp_path / "again"), "-q"]) == 0
    outcome = json.loads(capsys.readouterr().out)["outcome"]
    assert (outcome["documents"], outcome["held_out"], outcome["auroc"]) == (4, 2, 1.0)
    assert "penalty = 2.0" in (tmp_path / "again" / "run.toml").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--minutes", "1", "--resume"], "--task extract has no --minutes, --resume"),
        (["--set", "layers=-1"], "extractor.layers"),
        (["--set", "optimiser.rate=1"], "optimiser"),
        (["--set", "penalty=0"], "penalty"),
    ],
)
def test_what_an_extractor_has_not_is_refused(options, said, trained, tmp_path, capsys):
    argv = ["train", str(trained / "data.jsonl"), "--task", "extract", "--labels", str(trained / "labels.jsonl")]
    assert main([*argv, *options, "--out", str(tmp_path / "run"), "-q"]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and not (tmp_path / "run").exists()


def test_no_labels_and_no_extractor_are_said(trained, tmp_path, capsys):
    assert main(["train", str(trained / "data.jsonl"), "--task", "extract", "--out", str(tmp_path / "run"), "-q"]) == 2
    assert "`longseq oracle` makes labels" in capsys.readouterr().err
    assert main(["summarize", str(trained / "data.jsonl"), "--extractor", str(trained), "-q"]) == 1
    assert "--task extract" in capsys.readouterr().err
    argv = ["summarize", str(trained / "data.jsonl"), "--extractor", str(trained / "run" / "model"), "--one-pass"]
    assert main([*argv, "-q"]) == 2
    assert "one_pass" in capsys.readouterr().err
