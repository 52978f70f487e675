"""Nested list operations (Nangia and Bowman 2018, "ListOps"), small: [MAX 3 [MIN 7 2 ] 5 ] = 5.

    python pipelines/proofs/lists.py [--models gru delta …]

Expressions of up to three levels of MIN, MAX, MED (lower median) and SUM (modulo 10) over two to four digits or
expressions, one after the other in rows of 256 symbols; each value is asked for. Rows begin with 64 symbols.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from puzzles import Proof, Puzzle

OPERATIONS = {
    "[MIN": min,
    "[MAX": max,
    "[MED": lambda x: sorted(x)[(len(x) - 1) // 2],
    "[SUM": lambda x: sum(x) % 10,
}
WORDS = [*map(str, range(10)), *OPERATIONS, "]", "=", "-"]
IDS = {word: i for i, word in enumerate(WORDS)}
DEPTH = 3


def expression(random: np.random.Generator, depth: int) -> tuple[list[str], int]:
    """The words of an expression and its value; some part of it is `depth` levels deep."""
    name = list(OPERATIONS)[random.integers(len(OPERATIONS))]
    parts, values, count = [name], [], int(random.integers(2, 5))
    deepest = int(random.integers(count))
    for place in range(count):
        if depth > 1 and (place == deepest or random.random() < 0.3):
            words, value = expression(random, depth - 1)
        else:
            value = int(random.integers(10))
            words = [str(value)]
        parts += words
        values.append(value)
    return [*parts, "]"], OPERATIONS[name](values)


def make(random: np.random.Generator, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Expressions with their values, as many as fit, and blanks."""
    words: list[str] = []
    asked: list[int] = []
    while True:
        more, value = expression(random, int(random.integers(1, DEPTH + 1)))
        if len(words) + len(more) + 2 > length:
            break
        words += [*more, "=", str(value)]
        asked.append(len(words) - 1)
    words += ["-"] * (length - len(words))
    weight = np.zeros(length)
    weight[asked] = 1
    return np.array([IDS[word] for word in words]), weight


def likeliest(rows: int = 2000) -> float:
    """Share of the most frequent value."""
    values = [expression(np.random.default_rng(i), 1 + i % DEPTH)[1] for i in range(rows)]
    return max(values.count(digit) for digit in range(10)) / rows


PROOF = Proof(
    title="Nested list operations",
    text="Values of nested MIN, MAX, MED and SUM (modulo 10) of digits, up to three levels deep. `state` grows with "
    "what is read for softmax; it is that of a whole row.",
    puzzle=Puzzle("nested list operations", WORDS, make, likeliest()),
    settings={
        "steps": 700,
        "batch": 8192,
        "threads": 1,
        "device": "cpu",
        "model.width": 96,
        "model.heads": 3,
        "model.layers": 3,
        "model.longest": 1024,
        "data.window": 256,
        "data.shortest": 64,
        "data.grow": 100,
        "evaluation.every": 100,
        "evaluation.tokens": 65536,
    },
    variants={
        "rnn": {"model.pattern": ["rnn"]},
        "gru": {"model.pattern": ["gru"]},
        "lstm": {"model.pattern": ["lstm"]},
        "softmax": {"model.pattern": ["softmax"]},
        "linear (elu + 1)": {"model.pattern": ["linear"], "model.feature_map": "elu+1"},
        "gated": {"model.pattern": ["gated"]},
        "delta": {"model.pattern": ["delta"]},
        "gated_delta": {"model.pattern": ["gated_delta"]},
    },
)

if __name__ == "__main__":
    PROOF.main(Path(__file__))
