"""Multi-query associative recall (Arora et al. 2023, "Zoology"): 64 pairs of key and value, then 64 questions.

    python pipelines/proofs/recall.py [--models delta linear …]

Models have memories of one size, 64 x 64 numbers a layer, but for softmax attention, whose state holds all it read.
Rows begin with 4 pairs in 32 symbols and double up to 64 pairs in 512.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from puzzles import Proof, Puzzle

KEYS, VALUES = 128, 64


def make(random: np.random.Generator, length: int) -> tuple[np.ndarray, np.ndarray]:
    """`length` / 8 pairs, then each key once more with its value, at random places among blanks."""
    pairs = length // 8
    ids, weight = np.full(length, KEYS + VALUES), np.zeros(length)
    keys, values = random.permutation(KEYS)[:pairs], KEYS + random.integers(0, VALUES, pairs)
    ids[0 : 2 * pairs : 2], ids[1 : 2 * pairs : 2] = keys, values
    places = 2 * pairs + 2 * np.sort(random.permutation((length - 2 * pairs) // 2)[:pairs])
    order = random.permutation(pairs)
    ids[places], ids[places + 1] = keys[order], values[order]
    weight[places + 1] = 1
    return ids, weight


WORDS = [*(f"k{i}" for i in range(KEYS)), *(f"v{i}" for i in range(VALUES)), "-"]

PROOF = Proof(
    title="Associative recall: 64 pairs in 512 symbols",
    text="64 keys of 128, each with one of 64 values, are read once; then each key comes again, among blanks, and its "
    "value is asked for (multi-query associative recall). Retention, linear and softmax have no short convolution, by "
    "which a layer sees a key and its value at once.",
    puzzle=Puzzle("associative recall", WORDS, make, 1 / VALUES),
    settings={
        "steps": 900,
        "batch": 4096,
        "threads": 1,
        "device": "cpu",
        "model.width": 64,
        "model.heads": 1,
        "model.layers": 2,
        "model.longest": 512,
        "data.window": 512,
        "data.shortest": 32,
        "data.grow": 400,
        "evaluation.every": 100,
        "evaluation.tokens": 65536,
    },
    variants={
        "delta": {"model.pattern": ["delta"]},
        "gated_delta": {"model.pattern": ["gated_delta"]},
        "gated": {"model.pattern": ["gated"]},
        "gated, no decay": {"model.pattern": ["gated"], "model.decay": "none"},
        "retention": {"model.pattern": ["retention"]},
        "linear (elu + 1)": {"model.pattern": ["linear"], "model.feature_map": "elu+1"},
        "gru": {"model.pattern": ["gru"]},
        "softmax": {"model.pattern": ["softmax"]},
    },
)

if __name__ == "__main__":
    PROOF.main(Path(__file__))
