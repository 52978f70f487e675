"""Killed at a random step of the second epoch, and again: the run that goes on is the undisturbed one, bit for bit.

Nothing of a killed process is tidied up: what it left on the disk is all that the next one has.
"""

import json
import random
import signal
import time

import pytest
from processes import finish, genome, lines, settings, start, weights

from longseq.config import from_mapping
from longseq.errors import StoppedError
from longseq.log import NullProgress
from longseq.training import TrainConfig, train

PER_EPOCH = 16
PACE = 0.03


def steps_done(run):
    """The last whole line of the journal says how many."""
    try:
        text = (run / "metrics.jsonl").read_text()
    except FileNotFoundError:
        return 0
    whole = text[: text.rfind("\n") + 1].splitlines()
    return json.loads(whole[-1])["step"] if whole else 0


def kill(world, job, folder, step):
    """Start a run, and kill one of its processes, drawn at random, once `step` steps are done; the others must end."""
    _, started = start(world, [job | {"resume": True, "pace": PACE}], folder)
    run = folder / "killed"
    try:
        deadline = time.monotonic() + 120
        while steps_done(run) < step:
            assert all(process.poll() is None for process in started), "over before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.002)
        random.choice(started).send_signal(signal.SIGKILL)
        codes = [process.wait(60) for process in started]
        assert -signal.SIGKILL in codes and 0 not in codes
    finally:
        for process in started:
            process.kill()


def run(world, job, folder):
    """To the end; the process of the tests will do for one."""
    if world == 1:
        train(from_mapping(TrainConfig, job["settings"]), job["out"], resume=True)
    else:
        assert finish(*start(world, [job | {"resume": True}], folder)) == [[""]] * world


def killed_is_undisturbed(folder, world, times):
    """Dropout, a carried state, evaluations and checkpoints that fall out of step with one another."""
    changes = {"steps": 3 * PER_EPOCH, "model__dropout": 0.1, "checkpoint__every": 5, "evaluation__every": 7}
    tree = settings(genome(folder / "genome.fa"), **changes)
    run(world, {"settings": tree, "out": str(folder / "undisturbed")}, folder)
    killed, first = {"settings": tree, "out": str(folder / "killed")}, PER_EPOCH + 1
    for left in reversed(range(times)):
        step = random.SystemRandom().randrange(first, 2 * PER_EPOCH - left)
        kill(world, killed, folder, step)
        first = step + 1
    run(world, killed, folder)
    assert lines(folder / "killed") == lines(folder / "undisturbed")
    assert weights(folder / "killed") == weights(folder / "undisturbed")


class Stops(NullProgress):
    """Asks for a stop once so many steps are done: before what is due after the last of them."""

    def __init__(self, steps):
        self.left = steps

    def advance(self, amount, **facts):
        self.left -= "memory" in facts
        if self.left == 0:
            signal.raise_signal(signal.SIGTERM)


def test_an_evaluation_that_was_due_as_the_stop_came_is_made_by_the_run_that_goes_on(tmp_path):
    tree = settings(genome(tmp_path / "genome.fa"), steps=9, evaluation__every=4, checkpoint__every=0)
    config = from_mapping(TrainConfig, tree)
    train(config, tmp_path / "undisturbed")
    with pytest.raises(StoppedError):
        train(config, tmp_path / "stopped", progress=Stops(4))
    train(config, tmp_path / "stopped", resume=True)
    assert lines(tmp_path / "stopped") == lines(tmp_path / "undisturbed")
    best = [(tmp_path / name / "checkpoints" / "best").read_text() for name in ("stopped", "undisturbed")]
    assert best[0] == best[1]


def test_killed(tmp_path):
    killed_is_undisturbed(tmp_path, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("world", [1, 2, 3])
def test_killed_twice_in_a_row(tmp_path, world):
    killed_is_undisturbed(tmp_path, world, 2)
