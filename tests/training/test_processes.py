"""Laws of many processes: however they share the windows of a run, it is the run of one process, to rounding."""

import json

import numpy as np
import pytest
from processes import finish, genome, lines, settings, start
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from longseq.config import from_mapping
from longseq.errors import ConfigError
from longseq.training import TrainConfig, train

LIMIT = 1e-5
SHARED = {
    "data": {},
    "time": {"processes__sequence": 2},
    "time, in parts": {"processes__sequence": 2, "accumulate": 2, "recompute": True, "data__window": 63},
}
"""Three windows a step: two for the one process and one for the other; or two slices of each, of 32 and 31 tokens."""


def apart(run, other):
    """Largest relative error of a loss, a gradient's norm or an evaluation, and that of all weights together."""
    ours, theirs = lines(run), lines(other)
    assert [line["step"] for line in ours] == [line["step"] for line in theirs] and len(ours) > 5
    pairs = [(a[k], b[k]) for a, b in zip(ours, theirs, strict=True) for k in b if b[k]]
    figures = max(abs(a - b) / abs(b) for a, b in pairs)
    found, wanted = (load_file(r / "model" / "model.safetensors") for r in (run, other))
    a, b = (np.concatenate([parts[name].ravel() for name in sorted(wanted)]) for parts in (found, wanted))
    return figures, float(np.linalg.norm(a - b) / np.linalg.norm(b))


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    return genome(tmp_path_factory.mktemp("data") / "genome.fa")


@pytest.fixture(scope="module")
def shared(letters, tmp_path_factory):
    """Runs of two processes, all in one start, and what was said of each."""
    folder = tmp_path_factory.mktemp("runs")
    jobs = {name: {"settings": settings(letters, **changes)} for name, changes in SHARED.items()}
    jobs["stopped"] = {"settings": settings(letters, processes__sequence=2), "stop_after": 4}
    jobs["parted"] = {"settings": settings(letters), "stop_after": 4}
    jobs["whole"] = {"settings": settings(letters), "stop_after": 3}
    jobs["wide"] = {"settings": settings(letters, batch=64, data__carry=1), "stop_after": 2}
    jobs["ruined"] = {"settings": settings(letters, optimiser__rate=1e30, optimiser__warmup=0.0)}
    jobs["tracked"] = {"settings": settings(letters, steps=3, trackers=["tensorboard"])}
    jobs["full"] = {"settings": settings(letters, checkpoint__every=3), "full_at": 6}
    jobs["unwritten"] = {"settings": settings(letters, checkpoint__every=3), "unwritten_at": 5}
    jobs["three"] = {"settings": settings(letters, processes__sequence=3)}
    jobs["missing"] = {"settings": settings(letters + "x")}
    listed = [job | {"out": str(folder / name)} for name, job in jobs.items()]
    return folder, dict(zip(jobs, zip(*finish(*start(2, listed, folder)), strict=True), strict=True))


@pytest.mark.parametrize("name", SHARED)
def test_two_processes_are_as_one(shared, letters, tmp_path, name):
    folder, said = shared
    assert said[name] == ("", "")
    alone = {key: value for key, value in SHARED[name].items() if key == "data__window"}
    train(from_mapping(TrainConfig, settings(letters, **alone)), tmp_path / "one")
    assert max(apart(folder / name, tmp_path / "one")) <= LIMIT


def test_a_state_shared_along_time_goes_on_in_one_process(shared, letters, tmp_path):
    """Stopped after step 4, inside a passage of three windows."""
    folder, said = shared
    assert "stopped by SIGTERM after step 4" in said["stopped"][0]
    assert "stopped by a signal to another process after step 4" in said["stopped"][1]
    train(from_mapping(TrainConfig, settings(letters)), folder / "stopped", resume=True)
    train(from_mapping(TrainConfig, settings(letters)), tmp_path / "one")
    assert max(apart(folder / "stopped", tmp_path / "one")) <= LIMIT


@pytest.mark.parametrize(("name", "changes", "step"), [
    ("parted", {}, 4),  # in the middle of a passage, whose states are carried
    ("wide", {"batch": 64, "data__carry": 1}, 2),  # a window for each of two processes, where one reads but one
])  # fmt: skip
def test_another_number_of_processes_is_refused(shared, letters, name, changes, step):
    folder, _ = shared
    refused = rf"step {step}: expected 2 processes .*, who share its windows and states, found 1; resume with 2"
    with pytest.raises(ConfigError, match=refused):
        train(from_mapping(TrainConfig, settings(letters, **changes)), folder / name, resume=True)


def test_another_number_of_processes_goes_on_between_passages(shared, letters, tmp_path):
    folder, _ = shared
    train(from_mapping(TrainConfig, settings(letters)), folder / "whole", resume=True)
    train(from_mapping(TrainConfig, settings(letters)), tmp_path / "one")
    assert max(apart(folder / "whole", tmp_path / "one")) <= LIMIT


def test_a_loss_that_is_no_number_ends_all_processes(shared):
    folder, said = shared
    assert all("at step 2, in a batch of 3 windows, first chr" in text for text in said["ruined"])
    assert (folder / "ruined" / "checkpoints" / "latest").read_text() == "step-00000001\n"
    assert len(json.loads((folder / "ruined" / "nonfinite.json").read_text())["windows"]) == 3
    assert (folder / "ruined" / "curve.png").exists()


def test_the_first_process_alone_speaks_to_trackers(shared):
    """One log, with each step in it once."""
    folder, said = shared
    logs = folder / "tracked" / "trackers" / "longseq"
    assert said["tracked"] == ("", "") and len(list(logs.glob("events.*"))) == 1
    events = EventAccumulator(str(logs)).Reload()
    losses = {event.step: event.value for event in events.Scalars("bits_per_base")}
    wanted = {line["step"]: line["bits_per_base"] for line in lines(folder / "tracked") if "bits_per_base" in line}
    assert losses == pytest.approx(wanted, rel=1e-6) and len(losses) == 3


def test_a_checkpoint_that_cannot_be_written_ends_all_processes(shared):
    folder, said = shared
    assert all("step-00000006: cannot be written: No space left on device; make room" in text for text in said["full"])
    assert (folder / "full" / "checkpoints" / "latest").read_text() == "step-00000003\n"


def test_a_journal_that_cannot_be_written_ends_all_processes(shared):
    _, said = shared
    assert all("metrics.jsonl: cannot be written: No space left on device; make room" in t for t in said["unwritten"])


def test_errors_are_said_by_all_processes(shared):
    _, said = shared
    refused = "processes.sequence: expected a divisor of the number of processes, 2, found 3; start a multiple of it"
    assert all(refused in text for text in said["three"])
    assert all("genome.fax: No such file" in text for text in said["missing"])


@pytest.mark.parametrize(("changes", "rule"), [
    ({"processes__sequence": 0}, ">= 1 process"),
    ({"processes__sequence": 2, "model__pattern": ["gated", "gru"]}, "1 with gru mixers"),
    ({"processes__sequence": 65}, r"at most data\.window \(64\)"),
    ({"accumulate": 0}, "accumulate: expected >= 1 part"),
])  # fmt: skip
def test_settings_that_cannot_be(changes, rule):
    with pytest.raises(ConfigError, match=rule):
        from_mapping(TrainConfig, settings("x.fa", **changes))


@pytest.mark.slow
def test_two_processes_are_as_one_for_long(letters, tmp_path):
    """Two hundred steps, over the ends of several epochs."""
    long = settings(letters, steps=200)
    assert finish(*start(2, [{"settings": long, "out": str(tmp_path / "two")}], tmp_path)) == [[""], [""]]
    train(from_mapping(TrainConfig, long), tmp_path / "one")
    assert max(apart(tmp_path / "two", tmp_path / "one")) <= LIMIT


@pytest.mark.slow
def test_data_and_time_are_shared_at_once(letters, tmp_path):
    """Four processes: two lanes of two slices."""
    both = settings(letters, processes__sequence=2)
    assert finish(*start(4, [{"settings": both, "out": str(tmp_path / "four")}], tmp_path)) == [[""]] * 4
    train(from_mapping(TrainConfig, settings(letters)), tmp_path / "one")
    assert max(apart(tmp_path / "four", tmp_path / "one")) <= LIMIT
