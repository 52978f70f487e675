"""A needle in 65,536 symbols: a key is stated with its value once, and asked for at the end, among distractors.

    python pipelines/proofs/needle.py [--models delta linear …]

Eight keys of sixteen are stated, each once, at any place in a row of noise; at its end all eight are asked for in
another order. So seven statements distract from each. Rows begin with 64 symbols and double up to 65,536.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from puzzles import Proof, Puzzle

KEYS, VALUES, NOISE, STATED = 16, 16, 32, 8
ASK = KEYS + VALUES + NOISE


def make(random: np.random.Generator, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise with `STATED` statements in it, a sign, then each key and its value."""
    body = length - 1 - 2 * STATED
    ids, weight = random.integers(KEYS + VALUES, ASK, length), np.zeros(length)
    keys, values = random.permutation(KEYS)[:STATED], KEYS + random.integers(0, VALUES, STATED)
    places = 2 * np.sort(random.permutation(body // 2)[:STATED])
    ids[places], ids[places + 1] = keys, values
    order = random.permutation(STATED)
    ids[body], ids[body + 1 :: 2], ids[body + 2 :: 2] = ASK, keys[order], values[order]
    weight[body + 2 :: 2] = 1
    return ids, weight


WORDS = [*(f"k{i}" for i in range(KEYS)), *(f"v{i}" for i in range(VALUES)), *(f"n{i}" for i in range(NOISE)), "?"]

PROOF = Proof(
    title="A needle in 65,536 symbols",
    text="Eight keys, each stated with one of sixteen values once, somewhere in noise; all eight are asked for at the "
    "end. The columns are rows of so many symbols; the last is twice as long as any row that was trained on.",
    puzzle=Puzzle("needles in noise", WORDS, make, 1 / VALUES),
    settings={
        "steps": 260,
        "batch": 65536,
        "threads": 1,
        "device": "cpu",
        "model.width": 64,
        "model.heads": 1,
        "model.layers": 2,
        "model.longest": 262144,
        "data.window": 65536,
        "data.shortest": 64,
        "data.grow": 200,
        "evaluation.every": 20,
        "evaluation.tokens": 524288,
    },
    variants={
        "delta": {"model.pattern": ["delta"]},
        "gated_delta": {"model.pattern": ["gated_delta"]},
        "gated": {"model.pattern": ["gated"]},
        "linear (elu + 1)": {"model.pattern": ["linear"], "model.feature_map": "elu+1"},
    },
    lengths=(1024, 16384, 65536, 131072),
    rows=16,
)

if __name__ == "__main__":
    PROOF.main(Path(__file__))
