"""A dry run makes the step that a run would make, says what it came to, and leaves nothing behind."""

import pytest
import torch
from processes import finish, genome, settings, start

from longseq.config import from_mapping
from longseq.errors import LongseqError
from longseq.model import load
from longseq.training import TrainConfig, train
from longseq.training.journal import read_lines
from longseq.training.objective import NextTokenLoss


@pytest.fixture
def config(tmp_path):
    file = genome(tmp_path / "genome.fa")

    def make(**changes):
        return from_mapping(TrainConfig, settings(file, **{"steps": 6, "checkpoint__every": 1} | changes))

    return make


def tried(config, run, **ways):
    plans = []
    train(config, run, dry_run=True, announce=plans.append, **ways)
    return plans[0]


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_the_step_of_a_dry_run_is_that_of_a_run(config, tmp_path):
    """Before the update it is the run's own figure; after it the figure of the same batch with the model of step 1."""
    plan = tried(config(), tmp_path / "dry")
    assert not (tmp_path / "dry").exists()
    train(config(checkpoint__keep=9), tmp_path / "run")
    first, second = read_lines(tmp_path / "run" / "metrics.jsonl")[:2]
    assert plan.tried.figure == "bits_per_base" and plan.tried.before == first["bits_per_base"]
    assert 0 < plan.tried.before - plan.tried.after < 1
    assert plan.lines()[-1].startswith(f"tried: one step; bits per base of its batch {plan.tried.before:.4f} before")
    # In the middle of a passage, with the state that was carried there.
    run, seen = tmp_path / "run", contents(tmp_path / "run")
    (run / "checkpoints" / "latest").write_text("step-00000001\n")
    seen[run / "checkpoints" / "latest"] = b"step-00000001\n"
    assert tried(config(), run, resume=True).tried.before == second["bits_per_base"]
    assert contents(run) == seen


def test_what_it_says_after_the_update(config, tmp_path):
    """By the model of a run that was saved after its first step, on the batch of that step."""
    seen = []

    class Keeping(NextTokenLoss):
        def forward(self, ids, weight, *args, **more):
            seen.append((ids, weight))
            return super().forward(ids, weight, *args, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("longseq.training.tasks.next_token.NextTokenLoss", Keeping)
        plan = tried(config(), tmp_path / "dry")
    train(config(steps=6, checkpoint__keep=9), tmp_path / "run")
    model = load(tmp_path / "run" / "checkpoints" / "step-00000001").model
    ids, weight = seen[-1]
    with torch.no_grad():
        nats, counted, _ = NextTokenLoss(model)(ids, weight)
    assert plan.tried.after == pytest.approx(float(nats / counted / torch.log(torch.tensor(2.0))), rel=1e-5)


def test_a_step_that_is_no_number_is_an_error(config, tmp_path):
    wrong = config(optimiser__rate=1e30)
    with pytest.raises(LongseqError, match=r"dry: the loss is nan at step 1, .* first chr\d:.*; lower optimiser\.rate"):
        train(wrong, tmp_path / "dry", dry_run=True)
    assert not (tmp_path / "dry").exists()


@pytest.mark.slow
def test_nothing_is_left_by_two_processes(config, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    inside = settings(str(tmp_path / "genome.fa"))
    jobs = [
        {"settings": inside | more, "out": str(tmp_path / "dry"), "dry_run": True} for more in ({}, {"inputs": ["x"]})
    ]
    config()
    said = finish(*start(2, jobs, tmp_path))
    assert [text[0] for text in said] == ["", ""] and all("x: No such file" in text[1] for text in said)
    assert not (tmp_path / "dry").exists() and not list(scratch.iterdir())
