"""Runs that are killed, asked to end or interrupted at random: nothing half stands, and the next run ends as if nothing
had been."""

import os
import random

import pytest
from fault_trials import few, tally

SEED = int(os.environ.get("LONGSEQ_FAULTS_SEED", 0))
KILLS = int(os.environ.get("LONGSEQ_FAULTS", 200))


def wrong(trials):
    return [(name, trial) for name, _, trial in trials if trial.wrong]


@pytest.mark.parametrize("name", few(["summarize document"], ["summarize DNA", "annotate", "embed"]))
def test_killed_at_a_random_moment(trials, name):
    assert wrong(trials.killed(2, SEED, [name])) == []


@pytest.mark.parametrize("name", few(["summarize document"], ["embed", "summarize DNA", "annotate", "score"]))
@pytest.mark.parametrize("act", ["SIGKILL", "SIGTERM"])
def test_killed_at_a_random_step_of_its_output(trials, name, act):
    number = random.Random(f"{SEED} {name} {act}").randrange(len(trials.whole(name).steps)) + 1
    trial = trials.at_step(name, number, act)
    assert not trial.wrong, trial


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_hundred_random_kills(learning, fresh):
    """Of a fifth of them each process begins with Python's first line; LONGSEQ_FAULTS says how many, and
    LONGSEQ_FAULTS_SEED which."""
    done = list(learning.killed(KILLS, SEED, other=fresh))
    for (name, act), row in tally(done).items():
        print(f"{name:20} {act:8} " + ", ".join(f"{what} {number}" for what, number in row.items()))
    assert wrong(done) == [] and len(done) == KILLS


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "name", ["summarize DNA", "summarize document", "annotate", "embed", "score", "classify", "variants"]
)
@pytest.mark.parametrize("act", ["SIGKILL", "SIGTERM", "SIGINT", "ENOSPC", "EACCES", "EIO"])
def test_disturbed_at_every_step_of_its_output(trials, name, act):
    done = [(name, act, trials.at_step(name, number, act)) for number in range(1, len(trials.whole(name).steps) + 1)]
    assert wrong(done) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("act", ["SIGKILL", "SIGTERM", "ENOSPC"])
def test_training_disturbed_at_steps_of_its_output(learning, act):
    steps = len(learning.whole("train").steps)
    drawn = random.Random(SEED).sample(range(1, steps + 1), 40)
    assert wrong([("train", act, learning.at_step("train", number, act)) for number in drawn]) == []
