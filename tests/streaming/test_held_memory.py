"""Of a long text that a converted model reads nothing is held but its state."""

import sys
from pathlib import Path

import numpy as np

from longseq.model import Checkpoint, ModelConfig
from longseq.model.headed import VectorModel
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.bench.memory import in_use_mb
from longseq.tokens import DnaTokenizer

LIKE_A_BERT = {
    "pattern": ("linear",),
    "visibility": "segment",
    "segment": 64,
    "across": True,
    "frame": (1, 2),
    "memory_gate": True,
    "feature_map": "wide-hedgehog",
    "convolution": 0,
    "positions": "learned",
    "norm": "layer",
    "post_norm": True,
    "final_norm": False,
    "feedforward": "gelu",
    "bias": True,
}


def test_what_is_in_use_does_not_grow_with_the_text():
    """Tensors by what the C library has handed out, objects by their number; resident memory depends on how freed
    pieces lie, too."""
    tokenizer = DnaTokenizer()
    config = ModelConfig(vocabulary=tokenizer.vocabulary, width=16, heads=2, layers=1, **LIKE_A_BERT)
    made = {"name": "first weights", "path": Path(), "labels": None, "sha256": ""}
    reader = HiddenReader(Checkpoint(model=VectorModel(config).eval(), tokenizer=tokenizer, **made), chunk=128)
    draw, state = np.random.default_rng(0), None
    before = used = 0.0
    for number in range(400):
        if number == 100:  # what is made once is there
            before, used = sys.getallocatedblocks(), in_use_mb() or 0.0
        hidden, state = reader.step(draw.integers(0, tokenizer.vocabulary, (1, reader.chunk)), state)
    assert hidden.isfinite().all() and int(state.seen) == 400 * 128
    assert sys.getallocatedblocks() - before < 150  # half an object a chunk would be more
    assert (in_use_mb() or 0.0) - used < 0.1  # the ids alone are 0.3 MiB
