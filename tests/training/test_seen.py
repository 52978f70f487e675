"""A run can be looked at: its curve, and the trackers that it was asked to speak to, over stops and kills as well."""

import os
import signal

import pytest
from accelerate import tracking as accelerate_tracking
from processes import genome, settings
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from longseq.config import from_mapping
from longseq.errors import ConfigError, StoppedError
from longseq.log import NullProgress
from longseq.training import TrainConfig, drawing, train
from longseq.training.journal import read_lines


class Interrupting(NullProgress):
    """Does something once `step` steps of the training are over."""

    def __init__(self, step, act):
        self.left, self.act, self.what = step, act, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        self.left -= self.what == "train"
        if self.left == 0 and self.what == "train":
            self.act()


class KilledError(Exception):
    pass


def kill():
    raise KilledError


def term():
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    file = genome(tmp_path_factory.mktemp("data") / "genome.fa")

    def make(**changes):
        small = {"steps": 8, "evaluation__every": 3, "checkpoint__every": 4}
        return from_mapping(TrainConfig, settings(file, **small | changes))

    return make


def shown(run):
    """Step and value of each figure in the event files."""
    events = EventAccumulator(str(run / "trackers" / "longseq"))
    events.Reload()
    tags = events.Tags()["scalars"]
    return {tag: [(event.step, pytest.approx(event.value, rel=1e-6)) for event in events.Scalars(tag)] for tag in tags}


def journal(run):
    found = {}
    for line in read_lines(run / "metrics.jsonl"):
        for name, value in line.items():
            if name != "step":
                found.setdefault(name, []).append((line["step"], value))
    return found


@pytest.mark.parametrize(("act", "error"), [(term, StoppedError), (kill, KilledError)])
def test_tensorboard_shows_what_the_journal_says(config, tmp_path, act, error):
    """Stopped, or killed two steps after its checkpoint, and resumed: one log, each step in it once."""
    run, tracked = tmp_path / "run", config(trackers=["tensorboard"])
    with pytest.raises(error):
        train(tracked, run, progress=Interrupting(6, act))
    train(tracked, run, resume=True)
    assert journal(run) == shown(run)
    train(tracked, run, force=True)
    assert journal(run) == shown(run)


class Tracker(accelerate_tracking.GeneralTracker):
    """Keeps what it is told."""

    name, requires_logging_directory = "mlflow", False
    begun: list  # set by the fixture

    def __init__(self, project, **given):
        super().__init__()
        self.given, self.told, self.over = given, [], False
        self.begun.append(self)

    @property
    def tracker(self):
        class Run:
            class info:  # noqa: N801
                run_id = "r1"

        return Run

    def log(self, values, step=None):
        self.told.append((step, values))

    def finish(self):
        self.over = True


@pytest.fixture
def tracker(monkeypatch):
    from accelerate.utils import LoggerType

    monkeypatch.setitem(accelerate_tracking.LOGGER_TYPE_TO_CLASS, "mlflow", Tracker)
    monkeypatch.setattr(accelerate_tracking, "_available_trackers", [LoggerType.MLFLOW])
    Tracker.begun = []
    return Tracker


def test_a_tracker_goes_on_with_its_run(config, tmp_path, tracker):
    run, tracked = tmp_path / "run", config(trackers=["mlflow"])
    with pytest.raises(StoppedError):
        train(tracked, run, progress=Interrupting(6, term))
    train(tracked, run, resume=True)
    first, second = tracker.begun
    assert (first.given, second.given) == ({"run_name": "run"}, {"run_name": "run", "run_id": "r1"})
    assert first.over and second.over
    told = [(step, sorted(values)) for step, values in first.told + second.told]
    assert told == [(line.pop("step"), sorted(line)) for line in read_lines(run / "metrics.jsonl")]


def test_a_tracker_that_fails_is_a_warning(config, tmp_path, tracker, monkeypatch, caplog):
    monkeypatch.setattr(tracker, "log", lambda self, values, step: (_ for _ in ()).throw(OSError("the line is dead")))
    assert train(config(trackers=["mlflow"]), tmp_path / "run").step == 8
    assert caplog.messages == ["trackers: nothing more is shown: the line is dead"]


def test_a_tracker_that_cannot_begin_is_an_error(config, tmp_path, tracker, monkeypatch):
    monkeypatch.setattr(tracker, "start", lambda self: (_ for _ in ()).throw(OSError("who are you?")))
    with pytest.raises(ConfigError, match=r"trackers: expected mlflow to begin, found who are you\?"):
        train(config(trackers=["mlflow"]), tmp_path / "run")


@pytest.mark.parametrize(("name", "message"), [
    ("notebook", "trackers: expected some of aim, .*tensorboard.*, found 'notebook'"),
    ("tensorboard", r"trackers: expected the package of tensorboard, found none; pip install 'longseq\[tracking\]'"),
    ("wandb", "trackers: expected the package of wandb, found none; pip install wandb"),
])  # fmt: skip
def test_trackers_that_are_not_there(config, tmp_path, monkeypatch, name, message):
    monkeypatch.setattr(accelerate_tracking, "_available_trackers", [])
    with pytest.raises(ConfigError, match=message):
        train(config(trackers=[name]), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_curve_at_the_end_and_after_a_stop(config, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(StoppedError):
        train(config(), run, progress=Interrupting(6, term))
    stopped = (run / "curve.png").read_bytes()
    train(config(), run, resume=True)
    ended = (run / "curve.png").read_bytes()
    assert stopped.startswith(b"\x89PNG") and ended.startswith(b"\x89PNG") and stopped != ended


def test_a_curve_that_cannot_be_drawn_is_a_warning(config, tmp_path, monkeypatch, caplog):
    def no_ink(*_, **__):
        raise ValueError("no ink")

    monkeypatch.setattr("longseq.report.plots.curve.figure", no_ink)
    assert train(config(), tmp_path / "run").step == 8
    assert (tmp_path / "run" / "model").exists() and not (tmp_path / "run" / "curve.png").exists()
    assert caplog.messages == [f"{tmp_path / 'run' / 'curve.png'}: no learning curve is drawn: no ink"]


def test_a_title_names_some_inputs(config):
    class Task:
        described = "3,000 bases"

    many = from_mapping(TrainConfig, settings("") | {"inputs": [f"/a/{n}.fa" for n in range(5)]})
    assert drawing.title(many, Task) == "next: 0.fa, 1.fa, 2.fa and 2 more\n3,000 bases"
    assert drawing.title(from_mapping(TrainConfig, settings("") | {"inputs": []}), Task) == "3,000 bases"
    long = from_mapping(TrainConfig, settings("x" * 200))
    assert drawing.title(long, Task).splitlines()[0] == "next: " + "x" * 82 + " …"
