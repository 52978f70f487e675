"""`longseq train --labels` as a person calls it."""

import json

import numpy as np
import pytest

from longseq.cli import main
from longseq.config import load
from longseq.training import TrainConfig

SMALL = ["model.width=16", "model.layers=1", "model.heads=2", "data.window=32", "batch=64", "checkpoint.every=0"]
OPTIONS = [word for setting in [*SMALL, "steps=2"] for word in ("--set", setting)] + ["--device", "cpu", "-q"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    letters = [rng.choice(list(b"ACGT"), 40).astype(np.uint8).tobytes().decode() for _ in range(12)]
    (tmp_path / "r.fa").write_text("".join(f">r{i}\n{s}\n" for i, s in enumerate(letters)))
    rows = [f"r{i}\t{'xy'[i % 2]}\t{i}" for i in range(12)]
    (tmp_path / "l.tsv").write_text("\n".join(["id\tkind\tn", *rows]) + "\n")
    (tmp_path / "l.bed").write_text("".join(f"r{i}\t3\t9\tsite\n" for i in range(12)))
    return tmp_path


@pytest.mark.parametrize(("words", "task", "said"), [
    (["--labels", "l.tsv", "--set", "labels.column=kind"], "classify", "macro F1"),
    (["--labels", "l.tsv", "--task", "regress", "--set", "labels.column=n"], "regress", "R2"),
    (["--labels", "l.tsv", "--set", "task=multilabel", "--set", "labels.column=kind"], "multilabel", "AUPRC"),
    (["--labels", "l.bed"], "annotate", "macro F1"),
    (["--task", "masked", "--set", "model.visibility=both", "--set", "data.held_out=0.2"], "masked", "per hidden base"),
])  # fmt: skip
def test_what_the_labels_are_for(folder, capsys, monkeypatch, words, task, said):
    monkeypatch.chdir(folder)
    assert main(["train", "r.fa", "--out", "run", *OPTIONS, *words]) == 0
    out = capsys.readouterr().out
    assert out.startswith("run/model: 2 steps") and said in out and "held out" in out
    assert load(TrainConfig, folder / "run" / "run.toml").task == task
    assert main(["train", "--out", "run", "--resume", "--set", "steps=3", "--json", "-q"]) == 0
    outcome = json.loads(capsys.readouterr().out)["outcome"]
    assert outcome["step"] == 3 and outcome["figures"]


def test_from_the_shipped_model(folder, capsys, monkeypatch):
    """The README's words: a class of records from the encoder that ships, its head alone trained."""
    monkeypatch.chdir(folder)
    small = ["--set", "data.window=32", "--set", "batch=32", "--set", "steps=1", "--device", "cpu", "-q"]
    labels = ["--labels", "l.tsv", "--set", "labels.column=kind", "--from", "dna", "--freeze", "encoder"]
    assert main(["train", "r.fa", "--out", "run", *labels, *small]) == 0
    config = load(TrainConfig, folder / "run" / "run.toml")
    assert (config.start, config.freeze, config.model.width) == ("dna", "encoder", 128)


@pytest.mark.parametrize(("words", "code", "message"), [
    (["--labels", "none.tsv"], 1, "found no file 'none.tsv'"),
    (["--labels", "l.tsv"], 2, "labels.column: expected the column of l.tsv to learn from, found kind, n; name it"),
    (["--labels", "l.tsv", "--set", "labels.column=n"], 1, "found another one of each record; task=regress"),
    (["--task", "classify"], 2, "labels.file: expected a file of labels to classify by, found None"),
    (["--from", "nowhere"], 1, "nowhere: expected a checkpoint directory or a shipped name, found nothing there"),
    (["--freeze", "encoder"], 2, "freeze: expected 'nothing' without a model to start from"),
])  # fmt: skip
def test_wrong_requests(folder, capsys, monkeypatch, words, code, message):
    monkeypatch.chdir(folder)
    assert main(["train", "r.fa", "--out", "run", *OPTIONS, *words]) == code
    said = capsys.readouterr()
    assert message in said.err.splitlines()[-1] and said.out == ""
    assert not (folder / "run").exists()
