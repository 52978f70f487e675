"""`longseq info` of files, checkpoints and states."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from longseq.cli import main
from longseq.config import from_mapping
from longseq.log import NullProgress
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.streaming import Surprisal, save_snapshot
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig, train

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def info(capsys):
    def call(path) -> dict:
        assert main(["info", str(path), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def checkpoint(tmp_path):
    torch.manual_seed(0)
    save(tmp_path / "m", LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return tmp_path / "m"


def test_a_file_of_dna(info):
    facts = info(DATA / "chloroplast.gb.gz")
    assert (facts["what"], facts["format"], facts["container"]) == ("dna", "genbank", "gzip")
    assert (facts["records"], facts["letters"], facts["whole"]) == (1, 154_478, True)
    assert facts["first"][0]["topology"] == "circular"


def test_a_large_file_is_described_by_its_beginning(info, monkeypatch):
    monkeypatch.setattr("longseq.tasks.info.sequences.LOOKED_AT", 50)
    facts = info(DATA / "awkward.fa")
    assert facts["whole"] is False and 1 < facts["records"] < 16
    assert facts["first"][0]["length"] == 23 and facts["first"][-1]["length"] is None


def test_a_document(info):
    assert info(DATA / "lighthouse.md")["what"] == "document"


def test_a_checkpoint(info, checkpoint):
    facts = info(checkpoint)
    assert facts["what"] == "checkpoint" and facts["config"]["width"] == 16
    assert facts["parameters"] == sum(p.numel() for p in load(checkpoint).model.parameters())
    assert facts["card"].startswith("# ")


def test_a_shipped_name_beside_a_folder_of_that_name(info, checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr("longseq.model.checkpoint.PRETRAINED", checkpoint.parent)
    (tmp_path / "here" / checkpoint.name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert info(checkpoint.name)["path"] == str(checkpoint)


def test_where_a_training_run_stands(info, tmp_path):
    """Asked while it goes, after its end, and when all that is left of it is the model."""
    run, seen = tmp_path / "run", []

    class Asking(NullProgress):
        def advance(self, amount, **facts):
            if "memory" in facts:
                seen.append(info(run))

    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).integers(0, 4, 900)]
    (tmp_path / "g.fa").write_bytes(b">a\n" + letters.tobytes() + b"\n")
    tree = {
        "inputs": [str(tmp_path / "g.fa")], "steps": 4, "batch": 64, "device": "cpu", "data": {"window": 32},
        "model": {"width": 16, "layers": 1, "heads": 2}, "evaluation": {"every": 2}, "checkpoint": {"every": 3},
    }  # fmt: skip
    train(from_mapping(TrainConfig, tree), run, progress=Asking())
    assert [(s["steps"], s["latest"], s["resumable"], s["model"]) for s in seen] == [
        (1, None, False, None),
        (2, None, False, None),
        (3, "step-00000002", True, None),  # the first evaluation is the best so far
        (4, "step-00000003", True, None),
    ]
    facts = info(run)
    assert (facts["what"], facts["task"], facts["steps"], facts["asked_for"]["steps"]) == ("run", "next", 4, 4)
    assert facts["last_step"]["step"] == facts["last_evaluation"]["step"] == 4
    assert facts["model"] == str(run / "model") and info(run / "model")["what"] == "checkpoint"


def test_a_training_run_of_which_the_model_is_left(info, checkpoint, tmp_path):
    (tmp_path / "run").mkdir()
    checkpoint.rename(tmp_path / "run" / "model")
    facts = info(tmp_path / "run")
    assert facts["what"] == "checkpoint" and facts["path"] == str(tmp_path / "run" / "model")


def test_a_saved_state(info, checkpoint, tmp_path):
    loaded = load(checkpoint)
    reader = Surprisal(loaded, chunk=1000)()
    reader.push(b"ACGTACGTACG" * 1000)
    save_snapshot(tmp_path / "s.state", reader.snapshot())
    facts = info(tmp_path / "s.state")
    assert (facts["what"], facts["position"], facts["carry"], facts["given"]) == ("state", 11_000, 0, 11_000)
    assert facts["model_sha256"] == loaded.sha256


def test_a_state_of_another_model(capsys, checkpoint, tmp_path):
    reader = Surprisal(load(checkpoint), chunk=1000)()
    reader.push(b"ACGTACGTACG" * 1000)
    state = tmp_path / "s.state"
    save_snapshot(state, reader.snapshot())
    assert main(["info", str(state), "--model", str(checkpoint)]) == 0
    other = tmp_path / "other"
    save(other, LanguageModel(ModelConfig(width=16, heads=2, layers=1, seed=7)), DnaTokenizer())
    capsys.readouterr()
    assert main(["info", str(state), "--model", str(other)]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert f"{state}: expected a state of model {other}" in said.err and "load the model that made it" in said.err


def test_tensors_that_are_no_state(info, capsys, checkpoint):
    weights = str(checkpoint / "model.safetensors")
    facts = info(weights)
    assert facts["what"] == "tensors"
    assert facts["numbers"] == sum(tensor.numel() for tensor in load(checkpoint).model.state_dict().values())
    assert main(["info", weights, "--model", str(checkpoint)]) == 1
    assert "expected a saved state, found tensors of another kind" in capsys.readouterr().err


def test_a_model_is_for_states_only(capsys, checkpoint):
    assert main(["info", str(DATA / "awkward.fa"), "--model", str(checkpoint)]) == 1
    assert "awkward.fa: expected a saved state" in capsys.readouterr().err


def test_plain_text(capsys):
    assert main(["info", str(DATA / "chloroplast.gb.gz")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("chloroplast.gb.gz: sequences of DNA (GenBank), packed by gzip")
    assert any(line.split() == ["letters", "154,478"] for line in lines)
    assert lines[-1] == f"next: longseq summarize {DATA / 'chloroplast.gb.gz'}"


def test_nothing_there(capsys, tmp_path):
    assert main(["info", str(tmp_path)]) == 1
    assert "expected a folder of files, found none" in capsys.readouterr().err
    (tmp_path / "genome.fa").write_text(">a\nACGT\n")
    for name, said in (
        ("missing", "no such file; check the path"),
        ("genom.fa", "no such file; did you mean genome.fa?"),
        ("https://example.org/genome.fa", "is an address, and nothing is read over the network; download it first"),
    ):
        path = name if "://" in name else str(tmp_path / name)
        assert main(["info", path]) == 1
        assert capsys.readouterr().err == f"longseq: {path}: {said}\n"
