"""Laws of a run: resumed equals undisturbed, bit for bit; a stop, a fault or a wrong request is said in one line."""

import itertools
import json
import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from longseq.config import from_mapping, load
from longseq.errors import CheckpointError, ConfigError, InputError, LongseqError, OutputExistsError, StoppedError
from longseq.log import NullProgress
from longseq.model import LanguageModel
from longseq.model import load as load_model
from longseq.training import TrainConfig, defaults, limit, train
from longseq.training.objective import NextTokenLoss

STEPS = 8
CLOCKED = ("tokens_per_s", "memory_mib", "seconds")


class Interrupting(NullProgress):
    """Does something once `step` steps are over."""

    def __init__(self, step, act):
        self.left, self.act, self.what = step, act, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        self.left -= self.what == "train"
        if self.left == 0:
            self.act()


@pytest.fixture(scope="module")
def genome(tmp_path_factory):
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).choice(4, 3000, p=[0.4, 0.1, 0.1, 0.4])]
    path = tmp_path_factory.mktemp("data") / "genome.fa"
    path.write_bytes(b">chr1 one\n" + letters[:2000].tobytes() + b"\n>chr2\n" + letters[2000:].tobytes() + b"\n")
    return str(path)


@pytest.fixture(scope="module")
def settings(genome):
    def make(**changes):
        tree = {
            "inputs": [genome],
            "steps": STEPS,
            "batch": 128,
            "device": "cpu",
            "threads": 1,
            "model": {"width": 16, "layers": 2, "heads": 2, "pattern": ["gated", "gru"], "dropout": 0.1},
            "data": {"window": 32, "carry": 3},
            "optimiser": {},
            "evaluation": {"every": 3, "tokens": 100},
            "checkpoint": {"every": 2, "keep": 2},
        }
        for key, value in changes.items():
            table, _, name = key.rpartition("__")
            (tree[table] if table else tree)[name] = value
        return from_mapping(TrainConfig, tree)

    return make


def lines(run):
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in CLOCKED} for line in found]


def weights(run):
    return (run / "model" / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def reference(settings, tmp_path_factory):
    """The undisturbed run that others must equal."""
    run = tmp_path_factory.mktemp("runs") / "undisturbed"
    return {"outcome": train(settings(), run), "run": run}


def test_a_run_leaves_what_it_says(reference, settings):
    run, outcome = reference["run"], reference["outcome"]
    assert outcome.step == STEPS and outcome.model == run / "model"
    assert {p.name for p in run.iterdir()} == {
        *("run.toml", "metrics.jsonl", "curve.png", "data", "checkpoints", "model")
    }
    assert load(TrainConfig, run / "run.toml") == defaults.settled(settings(), 1, 1)
    assert {p.name for p in (run / "checkpoints").iterdir()} == {"latest", "best", "step-00000006", "step-00000008"}
    assert (run / "checkpoints" / "latest").read_text() == "step-00000008\n"
    steps = [line for line in lines(run) if "bits_per_base" in line]
    held_out = [line for line in lines(run) if "held_out_bits_per_base" in line]
    assert [line["step"] for line in steps] == list(range(1, STEPS + 1))
    assert [line["step"] for line in held_out] == [3, 6, 8]
    assert held_out[-1]["held_out_bits_per_base"] == outcome.held_out_bits
    assert outcome.tokens == steps[-1]["tokens"] <= STEPS * 128
    model = load_model(run / "model")
    assert model.config == settings().model and model.tokenizer.alphabet == settings().data.alphabet
    card = (run / "model" / "README.md").read_text()
    assert "genome.fa" in card and "the last 2.00% of each of the 2 records" in card


def test_a_second_run_is_the_same_run(reference, settings, tmp_path):
    train(settings(), tmp_path / "run")
    assert weights(tmp_path / "run") == weights(reference["run"])
    assert lines(tmp_path / "run") == lines(reference["run"])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGINT"])
def test_stopped_by_a_signal_and_resumed(reference, settings, tmp_path, name):
    """Stopped after step 5, in the middle of a carried passage, and once more after step 7."""
    run, number = tmp_path / "run", getattr(signal, name)
    handler = signal.getsignal(number)
    expected = KeyboardInterrupt if name == "SIGINT" else StoppedError
    for after in (5, 2):
        with pytest.raises(expected):
            train(settings(), run, resume=True, progress=Interrupting(after, lambda: os.kill(os.getpid(), number)))
        assert signal.getsignal(number) == handler
        assert not (run / "model").exists()
    assert (run / "checkpoints" / "latest").read_text() == "step-00000007\n"
    train(settings(), run, resume=True)
    assert weights(run) == weights(reference["run"])
    assert lines(run) == lines(reference["run"])


def test_killed_and_resumed(reference, settings, tmp_path):
    """What was done after the last checkpoint is done again, a half-written line forgotten."""
    run = tmp_path / "run"

    def die():
        raise RuntimeError("kill -9")

    with pytest.raises(RuntimeError):
        train(settings(), run, progress=Interrupting(5, die))
    assert lines(run)[-1]["step"] == 5 and (run / "checkpoints" / "latest").read_text() == "step-00000004\n"
    with open(run / "metrics.jsonl", "a") as file:
        file.write('{"step": 6, "bits_p')
    train(settings(), run, resume=True)
    assert weights(run) == weights(reference["run"])
    assert lines(run) == lines(reference["run"])


def test_a_finished_run_goes_on(reference, settings, tmp_path):
    """Resuming what is over changes nothing; more steps are done after those that were."""
    run = tmp_path / "run"
    train(settings(steps=4), run)
    before = weights(run), lines(run)
    assert train(settings(steps=4), run, resume=True).step == 4
    assert (weights(run), lines(run)) == before
    assert train(settings(steps=6), run, resume=True).step == 6
    assert lines(run)[: len(before[1])] == before[1]


def test_resume_where_nothing_is_begins(reference, settings, tmp_path):
    train(settings(), tmp_path / "new", resume=True)
    assert weights(tmp_path / "new") == weights(reference["run"])


@pytest.mark.parametrize(("changes", "key"), [
    ({"data__window": 16}, "data.window"),
    ({"data__seed": 1}, "data.seed"),
    ({"model__width": 32}, "model.width"),
    ({"batch": 256}, "batch"),
])  # fmt: skip
def test_resume_of_another_run_is_refused(reference, settings, changes, key):
    with pytest.raises(ConfigError, match=rf"{key}: expected .*a resumed run keeps it"):
        train(settings(**changes), reference["run"], resume=True)


def test_resume_with_other_data_is_refused(reference, settings, tmp_path):
    (tmp_path / "other.fa").write_text(">x\n" + "ACGT" * 500 + "\n")
    before = weights(reference["run"])
    with pytest.raises(ConfigError, match="the data the run began with"):
        train(settings(inputs=[str(tmp_path / "other.fa")]), reference["run"], resume=True)
    assert weights(reference["run"]) == before


def test_damaged_checkpoints(settings, tmp_path):
    run = tmp_path / "run"
    train(settings(steps=2), run)
    state = run / "checkpoints" / "step-00000002" / "training" / "state.pt"
    whole = state.read_bytes()
    state.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match=r"state\.pt: expected the state of a training run"):
        train(settings(steps=2), run, resume=True)
    torch.save({"schema": "other"}, state)
    with pytest.raises(CheckpointError, match=r"expected schema longseq\.training/3, found 'other'"):
        train(settings(steps=2), run, resume=True)
    for spoil, message in (
        (lambda content: content.pop("states"), r"expected the state of a training run, found 'states'"),
        (lambda content: content["position"].update(more=1), "unexpected keyword argument 'more'"),
        (
            lambda content: next(iter(content["optimiser"]["moments"]["state"].values()))["exp_avg"].fill_(torch.nan),
            r"state\.pt \(optimiser\.moments\.state\.0\.exp_avg\): expected finite numbers",
        ),
    ):
        state.write_bytes(whole)
        content = torch.load(state, weights_only=True)
        spoil(content)
        torch.save(content, state)
        with pytest.raises(CheckpointError, match=message):
            train(settings(steps=2), run, resume=True)
    state.write_bytes(whole)
    for file in (state, state.parents[1] / "model.safetensors"):
        before = file.read_bytes()
        at = before.rindex(b"\x3f", 0, len(before) * 9 // 10)  # of a number, which stays one
        file.write_bytes(before[:at] + b"\x3e" + before[at + 1 :])
        with pytest.raises(CheckpointError, match=r"expected what was written \(sha256 .*an earlier checkpoint"):
            train(settings(steps=2), run, resume=True)
        file.write_bytes(before)
    (state.parent / "state.sha256").unlink()
    with pytest.raises(CheckpointError, match=r"state\.sha256: expected the digest of state\.pt, found none"):
        train(settings(steps=2), run, resume=True)
    for name in ("../step-00000002", "/", "\0"):
        (run / "checkpoints" / "latest").write_text(name)
        with pytest.raises(CheckpointError, match="expected a checkpoint beside it"):
            train(settings(steps=2), run, resume=True)
    (run / "checkpoints" / "latest").write_text("step-00000009\n")
    with pytest.raises(CheckpointError, match="expected step-00000009 beside it"):
        train(settings(steps=2), run, resume=True)


def test_an_existing_run_is_kept_unless_forced(reference, settings, tmp_path):
    with pytest.raises(OutputExistsError, match="--resume goes on with it, --force starts it anew"):
        train(settings(), reference["run"])
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("all my work")
    for options in ({}, {"force": True}, {"resume": True}):
        with pytest.raises(OutputExistsError, match="something else than a training run"):
            train(settings(), tmp_path / "thesis", **options)
    assert (tmp_path / "thesis" / "chapter1.txt").read_text() == "all my work"
    with pytest.raises(OutputExistsError, match="is a file"):
        train(settings(), tmp_path / "thesis" / "chapter1.txt", force=True)
    train(settings(steps=3), tmp_path / "run")
    train(settings(), tmp_path / "run", force=True)
    assert lines(tmp_path / "run") == lines(reference["run"])


def test_a_loss_that_is_no_number_stops_the_run(settings, tmp_path, monkeypatch):
    run, forward, calls = tmp_path / "run", NextTokenLoss.forward, []

    def poisoned(self, ids, weight, state=None):
        nats, scored, after = forward(self, ids, weight, state)
        calls.append(1)
        return (nats * float("nan") if self.training and len(calls) > 5 else nats), scored, after

    monkeypatch.setattr(NextTokenLoss, "forward", poisoned)
    with pytest.raises(
        LongseqError, match=r"the loss is nan at step 4, in a batch of 4 windows, first chr\d:"
    ) as caught:
        train(settings(evaluation__every=0), run)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert (run / "checkpoints" / "latest").read_text() == "step-00000003\n"
    assert torch.isfinite(next(load_model(run / "checkpoints" / "step-00000003").model.parameters())).all()
    report = json.loads((run / "nonfinite.json").read_text())
    assert report["step"] == 4 and len(report["windows"]) == 4
    assert sum(p["end"] - p["start"] for window in report["windows"] for p in window) <= 128
    assert train(settings(evaluation__every=0), run, resume=True).step == STEPS


def test_a_ruined_checkpoint_is_not_resumed_for_ever(settings, tmp_path):
    """The first update overflows every later step: what is saved is finite, but no rate helps it any more."""
    run, once = tmp_path / "run", {"evaluation__every": 0, "optimiser__warmup": 0.0}
    with pytest.raises(
        LongseqError, match=r"at step 2, .* is from before it; .*; lower optimiser\.rate, then --resume"
    ):
        train(settings(optimiser__rate=1e30, **once), run)
    remedy = r"at step 2, .* may be ruined already; .*; lower optimiser\.rate, then start anew with --force"
    with pytest.raises(LongseqError, match=remedy):
        train(settings(**once), run, resume=True)
    assert train(settings(**once), run, force=True).step == STEPS


def test_a_loss_that_is_no_number_where_nothing_was_saved(settings, tmp_path):
    """Parameters that are no numbers themselves are not saved."""
    run = tmp_path / "run"
    nowhere = settings(optimiser__rate=1e39, optimiser__warmup=0.0, evaluation__every=0, checkpoint__every=0)
    with pytest.raises(LongseqError, match=r"no checkpoint is from before it; .*, then start anew with --force"):
        train(nowhere, run)
    assert not (run / "checkpoints").exists()


def test_nothing_to_learn_from(settings, tmp_path):
    (tmp_path / "n.fa").write_text(">n\nNNNN\n")
    with pytest.raises(InputError, match="expected bases A, C, G or T to learn from, found none"):
        train(settings(inputs=[str(tmp_path / "n.fa")]), tmp_path / "run")
    with pytest.raises(InputError, match=r"missing\.fa"):
        train(settings(inputs=["missing.fa"]), tmp_path / "run")
    with pytest.raises(ConfigError, match="expected sequence files"):
        train(settings(inputs=[]), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_that_ends_early_is_noted(settings, tmp_path):
    import gzip

    packed = gzip.compress(b">cut\n" + np.random.default_rng(0).choice(list(b"ACGT"), 4000).astype(np.uint8).tobytes())
    (tmp_path / "cut.fa.gz").write_bytes(packed[:-300])
    plans = []
    train(settings(inputs=[str(tmp_path / "cut.fa.gz")], steps=1), tmp_path / "run", announce=plans.append)
    assert any(note.endswith("cut.fa.gz (cut) ends early") for note in plans[0].notes)


@pytest.mark.parametrize(("letters", "changes", "warnings"), [
    ("A", {}, ["1 base is less than one window of 32", "nothing is held out"]),
    ("ACGTACGTAACC", {"data__held_out": 0.2}, ["10 bases are less than one window of 32"]),
    ("ACGTACGTAACC" * 4, {"data__held_out": 0.0}, ["nothing is held out"]),
    ("ACGTACGTAACC" * 4, {"data__held_out": 0.2}, []),
])  # fmt: skip
def test_too_little_to_learn_from_is_noted(settings, tmp_path, letters, changes, warnings):
    (tmp_path / "few.fa").write_text(f">few\n{letters}\n")
    plans = []
    few = settings(inputs=[str(tmp_path / "few.fa")], steps=1, **changes)
    train(few, tmp_path / "run", dry_run=True, announce=plans.append)
    assert len(plans[0].notes) == len(warnings)
    assert all(note.startswith(f"warning: {said}") for note, said in zip(plans[0].notes, warnings, strict=True))


def test_a_dry_run_says_what_would_be_and_leaves_nothing(settings, tmp_path):
    plans = []
    outcome = train(settings(steps=None, epochs=2.0), tmp_path / "run", dry_run=True, announce=plans.append)
    assert outcome.model is None and not (tmp_path / "run").exists()
    (plan,) = plans
    assert plan.parameters == sum(p.numel() for p in LanguageModel(settings().model).parameters())
    assert plan.bases == 2940 and plan.batch == 128
    # 2,940 bases and an N after each of 2 records, in passages of 96, of which a step reads a third of 4
    assert plan.steps == int(np.ceil(2 * np.ceil(2942 / 96) * 3 / 4))
    assert plan.per_epoch == np.ceil(2942 / 96) * 3 / 4 and plan.evaluated_every == settings().evaluation.every
    between = (plan.steps - 1) // plan.evaluated_every
    assert plan.seconds == pytest.approx(plan.steps * plan.step_seconds + (between + 1) * plan.evaluation_seconds)
    assert "parameters" in plan.lines()[0] and "2,940 bases" in plan.lines()[1]


def test_the_plan_of_a_limited_run_counts_what_is_over(settings, tmp_path):
    plans = []
    limited = settings(steps=None, minutes=1.0)
    stop = Interrupting(3, lambda: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(StoppedError):
        train(limited, tmp_path / "run", progress=stop, announce=plans.append)
    train(limited, tmp_path / "run", resume=True, dry_run=True, announce=plans.append)
    assert plans[0].spent < plans[1].spent < 60
    assert [plan.seconds + plan.spent for plan in plans] == pytest.approx([60, 60])
    assert [plan.first_step for plan in plans] == [0, 3]


def test_a_limit_of_time_ends_the_run(settings, tmp_path, monkeypatch):
    """By a clock that advances by 50 ms each time it is read; 2 s of the 12 are kept for the end."""
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) * 0.05)
    monkeypatch.setattr("longseq.training.run.time", clock)
    monkeypatch.setattr("longseq.training.loop.time", clock)
    monkeypatch.setattr("longseq.training.trial.time", clock)
    plans = []
    outcome = train(settings(steps=None, minutes=0.2, evaluation__every=0), tmp_path / "run", announce=plans.append)
    assert plans[0].steps is None and plans[0].minutes == 0.2
    assert outcome.step > 10 and 10 < outcome.seconds < 12
    rates = [line["learning_rate"] for line in lines(tmp_path / "run") if "learning_rate" in line]
    top = 3e-3
    assert max(rates) == pytest.approx(top, rel=0.01) and rates[-1] < 0.06 * top


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_limit_of_time_too_short_for_a_step_is_refused(settings, tmp_path, monkeypatch, dry_run):
    """By the same clock: a step takes 50 ms, 2 s are kept for the end, and 100 ms and the trial are over."""
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) * 0.05)
    monkeypatch.setattr("longseq.training.run.time", clock)
    monkeypatch.setattr("longseq.training.loop.time", clock)
    monkeypatch.setattr("longseq.training.trial.time", clock)
    short = settings(steps=None, minutes=0.035, evaluation__every=0)
    with pytest.raises(
        ConfigError, match=r"minutes: expected time for a step of 0\.05 s beside 2\.\d+ s .*, found 0\.035;"
    ):
        train(short, tmp_path / "deep" / "run", dry_run=dry_run)
    assert not (tmp_path / "deep").exists()


def test_the_limit_that_is_named_is_long_enough():
    with pytest.raises(ConfigError, match=r"a step of 3 s beside 13 s .*give 0\.72 or more, for 10 steps"):
        limit.require_a_step(0.25, 0.9, spent=10.0, step_seconds=3.0)  # 10 + 2 + 1.08 s, and 10 times 3 s
    for minutes in (0.72, 0.28, None):
        limit.require_a_step(minutes, 0.9, spent=10.0, step_seconds=3.0)


def test_a_run_whose_time_is_over_still_ends_on_resume(settings, tmp_path):
    run = tmp_path / "run"
    stop = Interrupting(3, lambda: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(StoppedError):
        train(settings(), run, progress=stop)
    assert train(settings(minutes=0.001), run, resume=True).step == 3
    assert (run / "model").exists()


def test_it_learns_composition(settings, tmp_path):
    """Bases drawn with probabilities 0.4, 0.1, 0.1, 0.4 have an entropy of 1.72 bits."""
    config = settings(steps=150, evaluation__every=0, checkpoint__every=0, optimiser__rate=1e-2, data__held_out=0.2)
    outcome = train(config, tmp_path / "run")
    assert 1.7 < outcome.held_out_bits < 1.85


def test_bfloat16(settings, tmp_path):
    outcome = train(settings(precision="bf16", steps=4), tmp_path / "run")
    assert outcome.held_out_bits is not None and np.isfinite(outcome.held_out_bits)
    assert load_model(tmp_path / "run" / "model").model.head.score.weight.dtype == torch.float32


def test_a_missing_device(settings, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(LongseqError, match="expected cuda, found cpu only"):
        train(settings(device="cuda"), tmp_path / "run")
