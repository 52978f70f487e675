"""Sums to be told, digit by digit.

Both summands have all their digits, `07+35`, and the sum is told from the units on, `240`, as one adds on paper: what
is carried is known before the digit that needs it. Whether a model has learned to add is then seen after hundreds of
steps instead of thousands.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from longseq.formats.atomic import write_aside
from longseq.tasks.compare.config import CompareConfig

ALPHABET = "0123456789+"
"""What sums are made of."""


def settings(config: CompareConfig, folder: Path, steps: int) -> dict[str, Any]:
    """Of a training run that learns sums, which are written to `folder`."""
    asked = config.addition
    window = 3 * asked.digits + 4  # two summands, plus, separator, a sum of one digit more, end
    file = folder / "sums.tsv"
    with write_aside(file, force=True) as aside:
        aside.write_text(sums(asked.digits, asked.pairs, config.seed), encoding="utf-8")
    return {
        "inputs": [str(file)],
        "task": "seq2seq",
        "batch": asked.batch * window,
        "data.window": window,
        "pairs.held_out": asked.held_out,
        "evaluation.tokens": asked.scored * window,
    }


def sums(digits: int, pairs: int, seed: int) -> str:
    """A table of source and target: all ordered pairs, or `pairs` different ones drawn at random."""
    every = 10 ** (2 * digits)
    chosen = np.arange(every) if every <= pairs else _drawn(every, pairs, seed)
    a, b = np.divmod(chosen, 10**digits)
    lines = (
        f"{x:0{digits}}+{y:0{digits}}\t{f'{x + y:0{digits + 1}}'[::-1]}\n"
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    )
    return "source\ttarget\n" + "".join(lines)


def _drawn(every: int, pairs: int, seed: int) -> np.ndarray:
    """(pairs,) different numbers below `every`, in order."""
    if 2 * pairs > every:  # the last ones would hardly ever be drawn
        return np.delete(np.arange(every), _drawn(every, every - pairs, seed))
    made = np.random.default_rng([seed, 9])
    found = np.unique(made.integers(every, size=pairs))
    while len(found) < pairs:
        found = np.unique(np.concatenate([found, made.integers(every, size=pairs - len(found))]))
    return found
