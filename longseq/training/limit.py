"""The limit of wall time: how much of it is for steps, and whether one fits in."""

from __future__ import annotations

import math

from longseq.errors import ConfigError
from longseq.log import duration, short

RESERVE = 2.0
"""Seconds of a limited run kept for writing its model and its curve, beside what an evaluation takes."""
SENSIBLE = 10
"""Steps from which a limit is worth naming."""


def for_steps(minutes: float | None, evaluation_seconds: float) -> float:
    """Seconds from the start, over all resumes, in which a step may begin; a last evaluation comes after them."""
    return math.inf if minutes is None else 60 * minutes - RESERVE - 1.2 * evaluation_seconds


def share(minutes: float | None, evaluation_seconds: float, spent: float) -> float:
    """How much of that time is over, 1 or more if all of it is; 0 without a limit."""
    limit = for_steps(minutes, evaluation_seconds)
    return spent / limit if limit > 0 else 1.0


def require_a_step(minutes: float | None, evaluation_seconds: float, spent: float, step_seconds: float) -> None:
    """Raise unless a run that has done no step has the time for one.

    Raises:
        ConfigError: it has not; says how long a step takes, and the shortest limit that makes sense.
    """
    left = for_steps(minutes, evaluation_seconds) - spent
    if left >= step_seconds:
        return
    assert minutes is not None
    besides = spent + 60 * minutes - for_steps(minutes, evaluation_seconds)
    needed = (besides + SENSIBLE * step_seconds) / 60
    raise ConfigError(
        where="minutes",
        expected=f"time for a step of {_seconds(step_seconds)} beside {_seconds(besides)} to begin and to end the run",
        found=f"{minutes:g}",
        remedy=f"give {_rounded_up(needed)} or more, for {SENSIBLE} steps",
    )


def _seconds(number: float) -> str:
    return f"{short(number)} s" if number < 10 else duration(number)


def _rounded_up(minutes: float) -> str:
    return f"{math.ceil(100 * minutes) / 100:g}" if minutes < 10 else f"{math.ceil(minutes)}"
