"""Laws of a step: in parts, with layers worked out again or in half precision, it is the step that it stands for."""

import json
import signal

import pytest
import torch
from processes import genome, lines, settings, weights

from longseq.config import from_mapping
from longseq.errors import StoppedError
from longseq.log import NullProgress
from longseq.model import LanguageModel, ModelConfig
from longseq.training import TrainConfig, checkpoint, train
from longseq.training import precision as half


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    return genome(tmp_path_factory.mktemp("data") / "genome.fa", 1500)


def run(letters, folder, **changes):
    config = from_mapping(TrainConfig, settings(letters, **changes))
    return config, train(config, folder)


def losses(folder):
    return [line["bits_per_base"] for line in lines(folder) if "bits_per_base" in line]


@pytest.mark.parametrize("parts", [2, 3, 50])
def test_parts_of_a_step_are_the_step(letters, tmp_path, parts):
    """Five windows a step, and a state carried over three steps."""
    for name, count in (("whole", 1), ("parts", parts)):
        run(letters, tmp_path / name, batch=320, steps=9, accumulate=count)
    assert losses(tmp_path / "parts") == pytest.approx(losses(tmp_path / "whole"), rel=1e-5)


@pytest.mark.parametrize("mixer", ["gated", "mlstm", "gated_delta", "gru"])
def test_layers_worked_out_again_change_nothing(mixer):
    """Not one bit of loss and gradients, dropout included, behind a state; and little is kept for the way back."""
    options = {"width": 16, "heads": 2, "layers": 3, "pattern": (mixer,), "dropout": 0.2}
    model = LanguageModel(ModelConfig(**options))
    ids = torch.randint(0, 4, (2, 230), generator=torch.Generator().manual_seed(0))
    state = model.loss(ids[:, :30])[2]
    found = []
    for again in (False, True):
        model.encoder.recompute, kept = again, []
        model.zero_grad()
        torch.manual_seed(3)
        with torch.autograd.graph.saved_tensors_hooks(lambda x, kept=kept: kept.append(x.nbytes) or x, lambda x: x):
            loss, _, after = model.loss(ids[:, 30:], None, state)
        (loss + after.last.sum()).backward(retain_graph=True)
        found.append((loss.item(), [p.grad.clone() for p in model.parameters() if p.grad is not None], sum(kept)))
    (loss, gradients, whole), (again, repeated, little) = found
    assert loss == again and all(torch.equal(a, b) for a, b in zip(gradients, repeated, strict=True))
    assert little < whole / 3


def test_a_run_with_layers_worked_out_again_is_the_same_run(letters, tmp_path):
    for name, again in (("kept", False), ("again", True)):
        run(letters, tmp_path / name, steps=4, recompute=again, model__dropout=0.1)
    assert weights(tmp_path / "again") == weights(tmp_path / "kept")


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_is_near(letters, tmp_path, precision):
    run(letters, tmp_path / "whole", steps=10)
    _, outcome = run(letters, tmp_path / "half", steps=10, precision=precision)
    assert losses(tmp_path / "half") == pytest.approx(losses(tmp_path / "whole"), rel=0.02)
    assert losses(tmp_path / "half") != losses(tmp_path / "whole")
    assert outcome.figures["bits_per_base"] > 0


class Stopping(NullProgress):
    def __init__(self, step):
        self.left, self.what = step, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        self.left -= self.what == "train"
        if self.left == 0:
            signal.raise_signal(signal.SIGTERM)


def test_a_scale_too_high_is_lowered_and_kept_over_a_stop(letters, tmp_path, monkeypatch):
    """Gradients that overflow change no parameter; the run that was stopped knows the scale that was found."""
    scaler = torch.amp.GradScaler
    monkeypatch.setattr(half.torch.amp, "GradScaler", lambda *a, **k: scaler(*a, init_scale=2.0**30, **k))
    changes = {"steps": 24, "precision": "fp16", "evaluation__every": 0, "checkpoint__every": 1, "data__carry": 1}
    config, _ = run(letters, tmp_path / "straight", **changes)
    with pytest.raises(StoppedError):
        train(config, tmp_path / "stopped", progress=Stopping(5))
    stood = checkpoint.pointed(tmp_path / "stopped" / "checkpoints", "latest")
    scale = checkpoint.load_step(stood)[2]["optimiser"]["scale"]["scale"]
    norms = [json.loads(line)["gradient_norm"] for line in (tmp_path / "stopped" / "metrics.jsonl").open()]
    assert norms.count(None) >= 2 and scale == 2.0 ** (30 - norms[:5].count(None))
    train(config, tmp_path / "stopped", resume=True)
    assert lines(tmp_path / "stopped") == lines(tmp_path / "straight")
    assert weights(tmp_path / "stopped") == weights(tmp_path / "straight")


def test_the_best_checkpoint_is_kept_beside_the_latest(letters, tmp_path):
    """A rate so high that what was learned is soon lost again."""
    _, outcome = run(
        letters,
        tmp_path / "run",
        steps=30,
        data__held_out=0.2,
        evaluation__every=3,
        optimiser__rate=0.5,
        optimiser__warmup=0.5,
        checkpoint__every=4,
    )
    found = [line for line in lines(tmp_path / "run") if "held_out_bits_per_base" in line]
    best = min(found, key=lambda line: line["held_out_bits_per_base"])
    assert best["held_out_bits_per_base"] < outcome.figures["bits_per_base"]
    folder = tmp_path / "run" / "checkpoints"
    assert (folder / "best").read_text() == f"step-{best['step']:08d}\n"
    names = {"best", "latest", f"step-{best['step']:08d}", "step-00000028", "step-00000030"}
    assert {path.name for path in folder.iterdir()} == names
    position = checkpoint.load_step(folder / f"step-{best['step']:08d}")[1]
    assert position.best == position.figures["bits_per_base"] == best["held_out_bits_per_base"]
    run(letters, tmp_path / "last", steps=4, evaluation__every=2, checkpoint__best=False)
    assert not (tmp_path / "last" / "checkpoints" / "best").exists()
