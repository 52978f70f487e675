"""Laws of a plan: what it says before the first step is true and readable, whatever is left to do."""

from dataclasses import replace

import pytest

from longseq.training.plan import Plan, epochs

PLAN = Plan(
    parameters=4239,
    frozen=0,
    bases=2940,
    data="2,940 bases",
    held_out="the last 2.00% of the record, 60 bases",
    batch=64,
    steps=5,
    per_epoch=2940 / 64,
    first_step=0,
    minutes=None,
    spent=1.0,
    step_seconds=0.5,
    evaluation_seconds=0.0,
    evaluated_every=200,
    memory_mib=417.2,
    device="cpu",
    precision="fp32",
    threads=1,
    processes=1,
)


def test_the_lines_of_a_plan():
    assert PLAN.lines() == [
        "model: 4,239 parameters; cpu, fp32, 1 thread",
        "data: 2,940 bases to learn from; held out: the last 2.00% of the record, 60 bases",
        "run: 5 steps of 64 tokens, 320 tokens to go (0.109 epochs)",
        "estimate: 2 s at 128 tokens/s, 417 MiB",
    ]
    text = "\n".join(replace(PLAN, steps=1, data="1 base", threads=2, memory_mib=1434.0).lines())
    some = replace(PLAN, frozen=761).lines()[0]
    assert some == "model: 4,239 of 5,000 parameters trained; cpu, fp32, 1 thread"
    assert "2 threads" in text and "data: 1 base to learn" in text and "run: 1 step of" in text and "1.4 GiB" in text


@pytest.mark.parametrize("over", [{"first_step": 5}, {"first_step": 7}, {"first_step": 7, "minutes": 9.0}])
def test_nothing_is_left_to_do(over):
    plan = replace(PLAN, **over)
    assert plan.tokens == plan.seconds == 0
    assert plan.lines()[-1] == f"run: 5 steps of 64 tokens, {plan.first_step} done, nothing left to do"


def test_no_time_is_left():
    plan = replace(PLAN, steps=None, first_step=7, minutes=0.5, spent=40.0)
    assert plan.lines()[-1] == "run: as many steps as time allows of 64 tokens, 7 done, nothing left to do"


@pytest.mark.parametrize("every", [0, 1, 3, 10, 12, 40])
@pytest.mark.parametrize("first", [0, 5, 9, 30])
def test_evaluations_take_time(every, first):
    """After each so many steps, and after the last one."""
    plan = replace(PLAN, steps=30, first_step=first, evaluation_seconds=2.0, evaluated_every=every)
    found = [s for s in range(first + 1, 31) if s == 30 or (every and s % every == 0)]
    assert plan.seconds == (30 - first) * 0.5 + 2.0 * len(found)
    assert plan.tokens == (30 - first) * 64
    limited = replace(plan, minutes=0.1, spent=1.0)
    assert limited.seconds == min(plan.seconds, 5.0)
    if limited.seconds < plan.seconds and every in (1, 3):
        assert limited.tokens / 64 == int(3.0 / (0.5 + 2.0 / every))  # the last evaluation has its time


def test_the_clock_betters_the_estimate_of_a_limited_run():
    """Of 100 s, 10 are over at the start: after as many steps again as are to come, half of the 90 are over."""
    plan = replace(PLAN, steps=None, minutes=100 / 60, spent=10.0)
    assert plan.total(3, over=0.11) == plan.tokens  # too early to say
    assert plan.total(30, over=0.55) == 60 * 64
    assert replace(plan, steps=50).total(30, over=0.55) == 50 * 64
    assert PLAN.total(3, over=0.0) == PLAN.tokens


@pytest.mark.parametrize(("tokens", "bases", "text"), [
    (0, 7, "0 epochs"),
    (1, 10**6, "under 0.001 epochs"),
    (110, 1000, "0.11 epochs"),
    (7, 7, "1 epoch"),
    (120, 1, "120 epochs"),
    (10**9, 10**3, "1 M epochs"),
])  # fmt: skip
def test_epochs_have_no_exponent(tokens, bases, text):
    assert epochs(tokens, bases) == text
