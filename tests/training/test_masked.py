"""Laws of hidden bases: how many, which, always the same ones; told from both sides they are learned."""

import os
import signal

import numpy as np
import pytest
import torch

from longseq.config import from_mapping, load
from longseq.errors import ConfigError, StoppedError
from longseq.log import NullProgress
from longseq.model import TokenModel
from longseq.model import load as load_model
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig, train
from longseq.training.store import prepare
from longseq.training.tasks import make


@pytest.fixture(scope="module")
def genome(tmp_path_factory):
    """Words of nine bases, again and again in one order: what is hidden follows from either side."""
    path = tmp_path_factory.mktemp("data") / "g.fa"
    path.write_text(">g\n" + "ACCGTTAGN" * 10 + "ACCGTTAGC" * 200 + "\n")
    return str(path)


def settings(genome, visibility="both", **changes):
    tree = {
        "inputs": [genome],
        "task": "masked",
        "steps": 6,
        "batch": 256,
        "device": "cpu",
        "threads": 1,
        "model": {"width": 16, "layers": 2, "heads": 2, "visibility": visibility, "segment": 32},
        "data": {"window": 64, "held_out": 0.2, "both_strands": False},
        "mask": {"span": 3},
        "optimiser": {"rate": 1e-2},
        "evaluation": {"every": 0},
        "checkpoint": {"every": 3},
    }
    if visibility == "segment":
        tree["model"]["pattern"] = ["softmax"]
        tree["data"]["carry"] = 2
    return from_mapping(TrainConfig, {**tree, **changes})


@pytest.mark.parametrize(("share", "span"), [(0.15, 1), (0.15, 6), (0.5, 3)])
def test_what_is_hidden(genome, tmp_path, share, span):
    config = settings(genome, mask={"share": share, "span": span})
    task = make(config, prepare(config.inputs, tmp_path, DnaTokenizer()))
    numbers = range(4 * task.train.passages)
    batch, again = task.train.batch(numbers, 0), task.train.batch(numbers, 0)
    whole = task.train._source.batch(numbers, 0)
    for a, b in zip(batch, again, strict=True):
        np.testing.assert_array_equal(a, b)
    hidden = batch.ids == 15
    assert hidden.mean() == pytest.approx(share, rel=0.1)
    np.testing.assert_array_equal(batch.ids[~hidden], whole.ids[~hidden])
    np.testing.assert_array_equal(batch.targets, whole.ids)
    np.testing.assert_array_equal(batch.weight > 0, hidden & (whole.ids < 4) & (whole.weight > 0))
    for row in hidden:
        runs = np.flatnonzero(np.diff(row, prepend=False, append=False)).reshape(-1, 2)
        inner = [b - a for a, b in runs.tolist() if a > 0 and b < len(row)]
        assert all(length >= span for length in inner)


def test_it_sees_both_sides_and_not_what_is_hidden(genome, tmp_path):
    config = settings(genome)
    train(settings(genome, steps=1), tmp_path / "run")
    found = load_model(tmp_path / "run" / "model")
    assert isinstance(found.model, TokenModel) and found.config.vocabulary == 16 and found.tokenizer.vocabulary == 15
    assert found.model.head_config.mask_id == 15 and config.model.vocabulary == 15
    ids = torch.randint(0, 4, (1, 40))
    ids[0, 20] = 15
    before = found.model(ids)[0][0, 20]
    for side in (5, 35):
        other = ids.clone()
        other[0, side] = (ids[0, side] + 1) % 4
        assert (found.model(other)[0][0, 20] - before).abs().max() > 1e-6


@pytest.mark.parametrize(("visibility", "steps", "most"), [("both", 80, 1.0), ("segment", 150, 1.5)])
def test_what_follows_from_its_sides_is_learned(genome, tmp_path, visibility, steps, most):
    outcome = train(settings(genome, visibility, steps=steps, checkpoint={"every": 0}), tmp_path / "run")
    assert 1.9 < outcome.figures["null_bits_per_base"] < 2
    assert outcome.figures["bits_per_base"] < most
    assert "bits per hidden base held out (by composition" in outcome.held_out


class Stopped(NullProgress):
    """Asks for a stop at the third step."""

    steps = 0

    def advance(self, amount, **facts):
        self.steps += "rate" in facts
        if self.steps == 3:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_resumed_run_is_the_same_run(genome, tmp_path):
    train(settings(genome), tmp_path / "whole")
    with pytest.raises(StoppedError):
        train(settings(genome), tmp_path / "run", progress=Stopped())
    train(settings(genome), tmp_path / "run", resume=True)
    one, two = ((tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("whole", "run"))
    assert one == two


@pytest.mark.parametrize(("assignments", "message"), [
    (["task=masked"], "model.visibility: expected 'both' or 'segment' with task 'masked', found 'causal'"),
    (["mask.share=1"], "mask.share: expected a share"),
    (["mask.span=0"], "mask.span: expected >= 1 base"),
    (["task=annotate", "labels.file=x", "data.tokenizer=x"], "data.tokenizer: expected none to annotate"),
    (["mask.random=0.6", "mask.keep=0.5"], "mask.keep: expected a share, 0 to 0.4 beside mask.random, found 0.5"),
    (["mask.random=1.5"], "mask.random: expected a share"),
])  # fmt: skip
def test_wrong_settings(assignments, message):
    with pytest.raises(ConfigError, match=message):
        load(TrainConfig, None, assignments)


def test_starts_from_and_for_other_tasks(genome, tmp_path):
    """A causal encoder learns an id more; what hidden bases taught is where a causal model starts."""
    causal = settings(genome, "causal", task="next", steps=2)
    train(causal, tmp_path / "causal")
    start = str(tmp_path / "causal" / "model")
    train(settings(genome, steps=2, start=start, model={"visibility": "both"}), tmp_path / "masked")
    masked = load_model(tmp_path / "masked" / "model")
    assert (masked.config.visibility, masked.config.vocabulary) == ("both", 16)
    back = settings(genome, "causal", task="next", steps=1, start=str(tmp_path / "masked" / "model"), model={})
    train(back, tmp_path / "back")
    assert load_model(tmp_path / "back" / "model").config.visibility == "causal"
