"""A stream takes no more memory the longer it gets."""

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
from pathlib import Path
import numpy as np
import torch
from longseq.model import Checkpoint, LanguageModel, ModelConfig
from longseq.ops.machine import prepare
from longseq.streaming import Surprisal
from longseq.tokens import DnaTokenizer

prepare(1)
pattern = ("linear", "gated", "retention", "mlstm", "delta", "gated_delta", "window", "gru", "lstm")
model = LanguageModel(ModelConfig(width=16, heads=2, layers=len(pattern), pattern=pattern, attention_window=64)).eval()
made = {"name": "first weights", "path": Path(), "labels": None, "sha256": ""}
checkpoint = Checkpoint(model=model, tokenizer=DnaTokenizer(), **made)
short, long = int(sys.argv[1]), int(sys.argv[2])

def letters():
    random = np.random.default_rng(0)
    for _ in range(long // 10_000):
        yield np.frombuffer(b"ACGT", np.uint8)[random.integers(4, size=10_000)].tobytes()

peak, seen = {}, 0
for _, track in Surprisal(checkpoint).many([("record", letters())]):
    for scored in track:
        seen += len(scored.bits)
        if seen >= short and short not in peak:
            peak[short] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak[long] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert seen == long
print((peak[long] - peak[short]) / (1 << 20 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (50_000, 200_000),
        pytest.param(1_000_000, 20_000_000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)]),
    ],
)
def test_peak_memory_does_not_grow_with_the_record(short, long):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(short), str(long)], capture_output=True, text=True, check=True
    )
    grown = float(done.stdout)
    print(f"{long:,} tokens against {short:,}: {grown:.1f} MiB more")
    assert grown <= 16
