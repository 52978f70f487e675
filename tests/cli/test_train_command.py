"""`longseq train` as a person calls it: what it prints, what it leaves, how it fails."""

import json
import os
import re
import signal

import numpy as np
import pytest

from longseq.cli import main
from longseq.cli.talk import Talk
from longseq.config import load
from longseq.log import NullProgress
from longseq.training import TrainConfig

SMALL = ["model.width=16", "model.layers=1", "model.heads=2", "data.window=32", "batch=64", "checkpoint.every=0"]
OPTIONS = [word for setting in SMALL for word in ("--set", setting)] + ["--device", "cpu", "--threads", "1"]


@pytest.fixture
def genome(tmp_path):
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).integers(0, 4, 2000)].tobytes()
    (tmp_path / "genome.fa").write_bytes(b">chr1\n" + letters + b"\n")
    return str(tmp_path / "genome.fa")


def test_trains_and_resumes(genome, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["train", genome, "--out", str(run), *OPTIONS, "--set", "steps=3"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"{run / 'model'}: 3 steps, 192 tokens in") and "bits per base held out" in said.out
    assert "parameters; cpu, fp32, 1 thread\n" in said.err and "held out: the last 2.00% of the record" in said.err
    assert load(TrainConfig, run / "run.toml").inputs == (genome,)
    # The settings of the run are in the run.
    assert main(["train", "--out", str(run), "--resume", "--set", "steps=5", "--json", "-q"]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert said.err == ""
    assert document["schema"] == "longseq.train/1"
    assert (document["plan"]["first_step"], document["outcome"]["step"]) == (3, 5)
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 7


def test_dry_run(genome, tmp_path, capsys):
    assert main(["train", genome, "--out", str(tmp_path / "run"), *OPTIONS, "--minutes", "5", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "as many steps as time allows of 64 tokens" in said.out and "estimate: " in said.out
    assert "tried: one step; bits per base of its batch " in said.out
    assert not (tmp_path / "run").exists()


def test_a_file_of_settings(genome, tmp_path, capsys):
    file = tmp_path / "my.toml"
    file.write_text(f'inputs = ["{genome}"]\nsteps = 9\nprecision = "bf16"\n[optimiser]\nrate = 1e-3\n')
    run = tmp_path / "run"
    assert main(["train", "--config", str(file), "--out", str(run), *OPTIONS, "--set", "steps=1"]) == 0
    kept = load(TrainConfig, run / "run.toml")
    assert (kept.steps, kept.precision, kept.optimiser.rate, kept.model.width) == (1, "bf16", 1e-3, 16)


@pytest.mark.parametrize(("words", "code", "message"), [
    (["nowhere.fa"], 1, "nowhere.fa"),
    (["{folder}/empty.fa"], 1, "empty"),
    (["{folder}/n.fa"], 1, "expected bases A, C, G or T to learn from, found none"),
    (["-"], 2, "<stdin>: expected a file"),
    (["{genome}", "b\udcff.fa"], 2, r"b\udcff.fa: expected a path that is valid Unicode"),
    (["{genome}", "--out", "{folder}/r\udcff"], 2, r"r\udcff: expected a path that is valid Unicode"),
    (["b\udcff.fa", "--dry-run"], 2, r"b\udcff.fa: expected a path that is valid Unicode"),
    ([], 2, "inputs: expected sequence files, found none"),
    (["{genome}", "--set", "data.windw=5"], 2, "data.windw: unknown key; did you mean data.window?"),
    (["{genome}", "--set", "steps=many"], 2, "steps: expected a whole number, found 'many'"),
    (["{genome}", "--minutes", "-1"], 2, "minutes: expected above 0"),
    (["{genome}", "--minutes", "0.001"], 2, "minutes: expected time for a step of"),
    (["{genome}", "--minutes", "0.001", "--dry-run"], 2, "or more, for 10 steps"),
    (["{genome}", "--device", "abacus"], 2, "device: expected auto, cpu, cuda or cuda:N, found 'abacus'"),
    (["{genome}", "--precision", "fp8"], 2, "precision"),
    (["{genome}", "--config", "{folder}/none.toml"], 2, "none.toml: No such file"),
    (["{genome}", "--resume", "--force"], 2, "exclude each other"),
    (["{genome}", "--out", "{folder}"], 2, "something else than a training run"),
    (["{genome}", "--out", "{folder}/n.fa/run"], 2, "n.fa/run: cannot be written: Not a directory; give another name"),
    (["{genome}", "--out", "x" * 300], 2, "cannot be written: File name too long; give another name"),
    (["{genome}", "--set", "data.held_out_records=['chr9']"], 2, "data.held_out_records: expected ids of records"),
])  # fmt: skip
def test_wrong_requests(genome, tmp_path, capsys, words, code, message):
    (tmp_path / "empty.fa").write_text("")
    (tmp_path / "n.fa").write_text(">n\nNNNN\n")
    words = [word.format(folder=tmp_path, genome=genome) for word in words]
    out = [] if "--out" in words else ["--out", str(tmp_path / "run")]
    assert main(["train", *OPTIONS, *out, *words]) == code
    said = capsys.readouterr()
    assert message in said.err.splitlines()[-1] and said.out == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("name", "code", "message"), [
    ("SIGUSR1", 85, "stopped by SIGUSR1 after step 1; all of it is saved; --resume goes on"),
    ("SIGTERM", 85, "stopped by SIGTERM after step 1; all of it is saved; --resume goes on"),
    ("SIGINT", 130, "interrupted, saved after step 1; --resume goes on"),
])  # fmt: skip
def test_a_stopped_run_says_that_it_is_saved(genome, tmp_path, capsys, monkeypatch, name, code, message):
    class Queue(NullProgress):
        """Takes the machine away after the first step."""

        def advance(self, amount, **facts):
            if "rate" in facts:
                os.kill(os.getpid(), getattr(signal, name))

    monkeypatch.setattr(Talk, "progress", lambda self: Queue())
    run = tmp_path / "run"
    assert main(["train", genome, "--out", str(run), *OPTIONS, "--set", "steps=9"]) == code
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == f"longseq: {run}: {message}"
    assert said.out == ""
    assert (run / "checkpoints" / "latest").read_text() == "step-00000001\n"


def test_documents_from_a_folder_to_a_continuation(tmp_path, capsys):
    """Tokenizer, training, generation: what a person types, one after another."""
    (tmp_path / "docs").mkdir()
    for i in range(12):
        (tmp_path / "docs" / f"{i}.txt").write_text("The lamp was lit and the tide came in. " * (i + 1))
    docs, tokenizer, run = (str(tmp_path / name) for name in ("docs", "tokenizer.json", "run"))
    assert main(["tokenizer", "train", docs, "--out", tokenizer, "--vocabulary", "270", "-q"]) == 0
    options = [*OPTIONS, "--set", "data.held_out=0.3", "--set", "steps=3"]
    assert main(["train", docs, "--tokenizer", tokenizer, "--out", run, *options]) == 0
    said = capsys.readouterr()
    assert "bits per character held out" in said.out and "by frequencies alone" in said.out
    assert re.search(r"data: [\d,]+ tokens of \d+ documents to learn from; held out: \d of 12 records", said.err)
    assert main(["generate", "--model", f"{run}/model", "--prompt", "The lamp", "--length", "20", "--ignore-end"]) == 0
    assert len(capsys.readouterr().out) > 1
    assert main(["train", docs, "--out", str(tmp_path / "other"), *OPTIONS]) == 1
    assert "expected DNA, found document; documents are learned from with a tokenizer" in capsys.readouterr().err
