"""A model knows how much of what it learned from was soft-masked, and a run says when its input is not alike."""

import random

import pytest

from longseq.cli import main
from longseq.config import from_mapping
from longseq.model import load
from longseq.training import TrainConfig, train


def genome(path, seed: int, masked: int):
    """3,000 bases, of which the first `masked` are in lower case."""
    letters = "".join(random.Random(seed).choices("ACGT", k=3_000))
    path.write_text(f">chr1\n{letters[:masked].lower()}{letters[masked:]}\n")
    return str(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    tree = {
        "inputs": [genome(folder / "learned.fa", 0, 1_200)],
        "steps": 1,
        "batch": 64,
        "device": "cpu",
        "threads": 1,
        "model": {"width": 16, "layers": 1, "heads": 1},
        "data": {"window": 32},
    }
    train(from_mapping(TrainConfig, tree), folder / "run")
    return folder / "run"


def test_the_share_is_kept_with_every_checkpoint(run):
    assert load(run / "model").soft_masked == pytest.approx(0.4)
    (step,) = (run / "checkpoints").glob("step-*")
    assert load(step).soft_masked == pytest.approx(0.4)
    assert "| soft-masked | 40.00% of all letters |" in (run / "model" / "README.md").read_text()


@pytest.mark.parametrize(("masked", "warned"), [(0, True), (900, False), (1_200, False), (2_400, True)])
def test_an_input_that_is_masked_otherwise_is_told(run, tmp_path, capsys, masked, warned):
    path = genome(tmp_path / "x.fa", 1, masked)
    arguments = ["summarize", path, "--model", str(run / "model"), "--strands", "forward", "--window", "0"]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    assert said.count("warning") == warned
    if warned:
        assert f"{masked / 30:.1f} % of the letters are soft-masked" in said and "learned from 40.0%" in said
