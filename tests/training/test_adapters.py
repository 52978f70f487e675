"""Laws of a run that trains adapters: the encoder stays, the model it leaves is a plain one, a resume is exact."""

import pytest
import torch
from processes import finish, genome, lines, settings, start, weights

from longseq.config import from_mapping
from longseq.errors import ConfigError, StoppedError
from longseq.log import NullProgress
from longseq.model import load
from longseq.training import TrainConfig, checkpoint, train


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Letters, and a model that was trained on them for a while."""
    folder = tmp_path_factory.mktemp("data")
    letters = genome(folder / "genome.fa", 3000)
    train(from_mapping(TrainConfig, settings(letters, steps=3)), folder / "first")
    return letters, str(folder / "first" / "model")


def config(data, **changes):
    changes = {"model": {}, "start": data[1], "adapter": {"rank": 2, "alpha": 8.0}, "steps": 8, **changes}
    changes = {"evaluation__every": 4, "checkpoint__every": 3, "optimiser__rate": 0.01, **changes}
    return settings(data[0], **changes)


def run(data, folder, **changes):
    plans = []
    return train(from_mapping(TrainConfig, config(data, **changes)), folder, announce=plans.append), plans[0]


class Stopping(NullProgress):
    def __init__(self, step):
        self.left, self.what = step, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        import signal

        self.left -= self.what == "train"
        if self.left == 0:
            signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("freeze", ["nothing", "encoder"])
def test_the_encoder_stays_and_the_sums_are_saved(data, tmp_path, freeze):
    """Norms, embeddings and biases are those of the start; maps differ by a matrix of low rank; the head is trained."""
    _, plan = run(data, tmp_path / "run", freeze=freeze)
    first, last = load(data[1]), load(str(tmp_path / "run" / "model"))
    for name, before in first.model.encoder.state_dict().items():
        change = last.model.encoder.state_dict()[name] - before
        assert torch.linalg.matrix_rank(change, rtol=1e-3) == 2 if _adapted(name, before) else not change.any()
    assert not torch.equal(last.model.head.score.weight, first.model.head.score.weight)
    learned = sum(2 * sum(p.shape) for n, p in first.model.encoder.named_parameters() if _adapted(n, p))
    learned += sum(p.numel() for p in first.model.head.parameters())
    assert plan.parameters == learned and f"of {plan.frozen + learned:,} parameters trained" in plan.lines()[0]
    assert "rank 2" in last.card


def _adapted(name, parameter):
    return parameter.ndim == 2 and name.endswith(".weight") and "embedding" not in name and "convolution" not in name


@pytest.mark.parametrize("changes", [{}, {"recompute": True, "accumulate": 2}])
def test_stopped_and_resumed_it_is_the_same_run(data, tmp_path, changes):
    """The weights beneath are kept beside their sums: those cannot be taken apart to the last bit."""
    run(data, tmp_path / "whole")
    with pytest.raises(StoppedError):
        train(from_mapping(TrainConfig, config(data, **changes)), tmp_path / "run", progress=Stopping(5))
    saved = checkpoint.load_step(checkpoint.pointed(tmp_path / "run" / "checkpoints", "latest"))[2]["adapters"]
    beneath = saved["encoder.layers.0.feedforward.expand.parametrizations.weight.original"]
    assert torch.equal(beneath, load(data[1]).model.encoder.layers[0].feedforward.expand.weight)
    train(from_mapping(TrainConfig, config(data, **changes)), tmp_path / "run", resume=True)
    if not changes:
        assert lines(tmp_path / "run") == lines(tmp_path / "whole")
        assert weights(tmp_path / "run") == weights(tmp_path / "whole")
    found = [line["bits_per_base"] for line in lines(tmp_path / "run") if "bits_per_base" in line]
    wanted = [line["bits_per_base"] for line in lines(tmp_path / "whole") if "bits_per_base" in line]
    assert found == pytest.approx(wanted, rel=1e-5)


@pytest.mark.slow
def test_two_processes_are_as_one(data, tmp_path):
    run(data, tmp_path / "one", batch=384)
    jobs = [{"settings": config(data, batch=384), "out": str(tmp_path / "two")}]
    assert finish(*start(2, jobs, tmp_path)) == [[""], [""]]
    one, two = ([line["bits_per_base"] for line in lines(tmp_path / name) if "bits_per_base" in line]
                for name in ("one", "two"))  # fmt: skip
    assert len(two) == 8 and two == pytest.approx(one, rel=1e-5)


def test_what_does_not_fit_is_refused(data, tmp_path):
    with pytest.raises(ConfigError, match=r"adapter\.rank: expected 0 without a model to start from, found 2"):
        run(data, tmp_path / "run", start=None)
    with pytest.raises(ConfigError, match=r"adapter\.maps: expected parts of .*found 'nowhere'"):
        run(data, tmp_path / "run", adapter={"rank": 2, "maps": ["nowhere"]})
    with pytest.raises(ConfigError, match=r"adapter\.maps: expected none without adapter\.rank"):
        run(data, tmp_path / "run", adapter={"maps": ["output"]})
    assert not (tmp_path / "run").exists()
    run(data, tmp_path / "run", steps=1)
    with pytest.raises(ConfigError, match=r"adapter\.rank: expected 2, found 3; a resumed run keeps it"):
        train(from_mapping(TrainConfig, config(data, adapter={"rank": 3, "alpha": 8.0})), tmp_path / "run", resume=True)
