"""`longseq train` on tables: one file with texts and labels, or with names of files and labels."""

import csv
import json

import datasets
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from longseq.cli import main
from longseq.config import load
from longseq.training import TrainConfig

SMALL = ["model.width=16", "model.layers=1", "model.heads=2", "data.window=32", "batch=64", "checkpoint.every=0"]
OPTIONS = [word for setting in [*SMALL, "steps=2"] for word in ("--set", setting)] + ["--device", "cpu", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    letters = [rng.choice(list(b"ACGT"), 40).astype(np.uint8).tobytes().decode() for _ in range(12)]
    columns = {
        "sequence": letters,
        "review": [f"The lamp was {'lit' if i % 2 else 'out'}, night {i}." for i in range(12)],
        "label": ["no" if i % 2 else "yes" for i in range(12)],
        "stars": list(range(12)),
    }
    table = pyarrow.table(columns)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=5)
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    (tmp_path / "deep").mkdir()
    for i, sequence in enumerate(letters):
        (tmp_path / "deep" / f"{i}.fa").write_text(f">a\n{sequence}\n>b\n{sequence[::-1]}\n")
    rows = (f"deep/{i}.fa\t{label}\n" for i, label in enumerate(columns["label"]))
    (tmp_path / "files.tsv").write_text("path\tlabel\n" + "".join(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trained(capsys, *words):
    """Settings and plan of a run by these words."""
    assert main(["train", *words, "--out", "run", "--force", "--json", *OPTIONS]) == 0
    return load(TrainConfig, "run/run.toml"), json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "words",
    [["t.csv"], ["t.parquet"], ["./t.csv", "--labels", "t.csv"], ["t.parquet", "--labels", "t.parquet"]],
)
def test_one_table_is_inputs_and_labels(folder, capsys, words):
    config, told = trained(capsys, *words)
    assert (config.task, config.labels.file) == ("classify", words[-1])
    assert "10 records of 2 classes (no 5, yes 5)" in told["plan"]["data"]
    assert told["plan"]["held_out"] == "2 of 12 records, of each class alike"


def test_other_columns_and_tasks(folder, capsys):
    config, told = trained(capsys, "t.csv", "--task", "regress", "--set", "labels.column=stars")
    assert config.labels.file == "t.csv" and "10 records with stars" in told["plan"]["data"]
    config, told = trained(capsys, "t.csv", "--task", "next", "--set", "data.held_out=0.2")
    assert config.labels.file is None and "bits_per_base" in told["outcome"]["figures"]


def test_reviews_by_a_tokenizer(folder, capsys):
    (folder / "reviews.txt").write_text("The lamp was lit, the lamp was out, night after night. " * 9)
    assert main(["tokenizer", "train", "reviews.txt", "--out", "t.json", "--vocabulary", "270", "-q"]) == 0
    capsys.readouterr()
    config, told = trained(capsys, "t.parquet", "--tokenizer", "t.json", "--set", "data.text=review")
    assert config.task == "classify" and "10 documents of 2 classes" in told["plan"]["data"]
    first = told["plan"]["bases"]
    _, told = trained(capsys, "t.csv", "--tokenizer", "t.json", "--set", "data.text='review'")
    assert told["plan"]["bases"] == first


def test_files_by_name_and_their_labels(folder, capsys):
    config, told = trained(capsys, "files.tsv")
    assert config.labels.by == "file" and len(config.inputs) == 12
    assert "classes (no 10, yes 10)" in told["plan"]["data"]
    assert told["plan"]["held_out"].startswith("4 of 24 records, in 2 of 12 groups")
    assert main(["train", "--out", "run", "--resume", "--set", "steps=3", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"]["step"] == 3


@pytest.mark.parametrize(("text", "code", "message"), [
    ("accession\tlabel\na\tx\nb\ty\n", 1, "t.tsv: expected a column 'text', found the columns accession, label; name"),
    ("path\tlabel\nnone.fa\tx\nb\ty\n", 1, "none.fa: No such file"),
    ("path\tlabel\n\tx\n", 1, "t.tsv:2: expected a file in column path, found none"),
    ("sequence\tlabel\nACGTACGTAC\tx\nACGTTTTTTT\tx\n", 1, "expected two classes or more in label, found 'x' of every"),
    ("text\tlabel\nIt was cold.\tx\n", 1, "t.tsv:2 (t:1): expected DNA, found document; documents are learned from"),
])  # fmt: skip
def test_tables_that_cannot_be_learned_from(folder, capsys, text, code, message):
    (folder / "t.tsv").write_text(text)
    assert main(["train", "t.tsv", "--out", "run", *OPTIONS]) == code
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (folder / "run").exists()


def test_other_commands_read_a_column(folder, capsys):
    for words in (["t.csv", "--column", "review"], ["t.parquet", "--column", "review"]):
        assert main(["tokenizer", "train", *words, "--out", "t.json", "--vocabulary", "270", "--force", "-q"]) == 0
        assert main(["tokenizer", "show", "t.json", "--input", *words, "--json", "-q"]) == 0
        facts = json.loads(capsys.readouterr().out.split("\n", 1)[1])
        assert facts["letters"] == sum(len(f"The lamp was {'lit' if i % 2 else 'out'}, night {i}.") for i in range(12))
        assert main(["summarize", *words, "--json", "-q"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [(r["id"], r["kind"]) for r in found["records"]] == [(f"t:{i + 1}", "document") for i in range(12)]
    assert main(["summarize", "t.csv", "--json", "--no-model", "-q"]) == 0
    assert {(r["kind"], r["length"]) for r in json.loads(capsys.readouterr().out)["records"]} == {("dna", 40)}


def test_saved_data_sets(folder, capsys):
    datasets.disable_progress_bars()
    kinds = datasets.ClassLabel(names=["yes", "no"])
    features = datasets.Features({"sequence": datasets.Value("string"), "label": kinds})
    columns = pyarrow.parquet.read_table("t.parquet").to_pydict()
    labels = kinds.str2int(columns["label"])
    whole = datasets.Dataset.from_dict({"sequence": columns["sequence"], "label": labels}, features=features)
    whole.save_to_disk("whole", num_shards=2)
    datasets.DatasetDict({"a": whole, "b": whole}).save_to_disk("both")
    _, told = trained(capsys, "whole")
    assert "10 records of 2 classes (no 5, yes 5)" in told["plan"]["data"]
    config, told = trained(capsys, "both", "--labels", "both")
    assert config.inputs == ("both",) and told["plan"]["held_out"].startswith("4 of 24 records")
    assert main(["train", "--out", "run", "--resume", "--set", "steps=3", "-q"]) == 0


def test_settings_that_name_no_task_leave_it_to_the_labels(folder, capsys):
    (folder / "some.toml").write_text("[optimiser]\nrate = 1e-3\n")
    for words in (["t.csv"], ["t.csv", "--labels", "t.csv"]):
        config, _ = trained(capsys, *words, "--config", "some.toml")
        assert (config.task, config.labels.file, config.optimiser.rate) == ("classify", "t.csv", 1e-3)
