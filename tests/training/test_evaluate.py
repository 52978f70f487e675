"""Held-out bits per base equal the plain definition: every base once, the state carried over a passage."""

import math

import numpy as np
import pytest
import torch

from longseq.log import NullProgress
from longseq.model import LanguageModel, ModelConfig
from longseq.records import Record
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig
from longseq.training.config import DataConfig
from longseq.training.device import accelerator
from longseq.training.evaluate import evaluate
from longseq.training.objective import NextTokenLoss
from longseq.training.store import Store, write
from longseq.training.windows import Windows


@pytest.fixture
def held_out(tmp_path):
    letters = np.random.default_rng(0).choice(list(b"ACGTN"), 700, p=[0.4, 0.2, 0.2, 0.19, 0.01]).astype(np.uint8)
    letters[[0, -1]] = ord("A")
    record = Record(id="x", kind="dna", source="x.fa", index=0, pieces=iter([letters.tobytes()]))
    write([record], tmp_path, DnaTokenizer(), NullProgress())
    return Store(tmp_path), DnaTokenizer().encode(letters.tobytes())[0].astype(np.int64)


@pytest.mark.parametrize("lanes", [1, 3, 50])
def test_every_base_once(held_out, lanes):
    store, ids = held_out
    config = DataConfig(window=32, carry=4, both_strands=False)
    model = NextTokenLoss(LanguageModel(ModelConfig(width=16, layers=1, heads=2)))
    processes = accelerator(TrainConfig(device="cpu"))
    found = evaluate(
        model, Windows(store, store.stretches, config, shuffle=False), processes, tokens=10**6, lanes=lanes
    )
    nats = 0.0
    for start in range(0, 700, 128):  # a passage is read whole here
        passage = torch.from_numpy(ids[start : start + 128])[None]
        with torch.no_grad():
            logits, _ = model.model(passage)
        costs = torch.nn.functional.cross_entropy(logits[0], passage[0], reduction="none")
        nats += costs[passage[0] < 4].sum().item()
    assert found.tokens == (ids < 4).sum()
    assert found.bits_per_base == pytest.approx(nats / math.log(2) / found.tokens, rel=1e-5)
    assert model.training


def test_a_part_spread_evenly_and_a_stop(held_out):
    store, ids = held_out
    windows = Windows(store, store.stretches, DataConfig(window=32), shuffle=False)
    model = NextTokenLoss(LanguageModel(ModelConfig(width=16, layers=1, heads=2)))
    processes = accelerator(TrainConfig(device="cpu"))
    part = evaluate(model, windows, processes, tokens=100, lanes=2)
    chosen = [0, 7, 14]  # of 22 windows
    assert part.tokens == sum(int((ids[32 * i : 32 * i + 32] < 4).sum()) for i in chosen)
    assert evaluate(model, windows, processes, tokens=100, lanes=2, stop=lambda: True) is None
