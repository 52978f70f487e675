"""What is reached without a model is what plain counting reaches, on the very bases that are scored."""

import math
from collections import Counter

import numpy as np
import pytest
from processes import genome, settings

from longseq.config import from_mapping
from longseq.log import NullProgress
from longseq.records import Record
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig, train
from longseq.training import null as module
from longseq.training.config import DataConfig
from longseq.training.null import joined, null, sample
from longseq.training.store import Store, prepare, write
from longseq.training.tasks import make


def counted(learned, held_out, order):
    """Bits per base by counts of both strands, one added to each; bases without so many known ones before: 2 bits."""
    counts = Counter()
    for text in (learned, [c if c > 3 else 3 - c for c in learned[::-1]]):
        words = (tuple(text[i : i + order + 1]) for i in range(len(text) - order))
        counts.update(word for word in words if max(word) < 4)
    bits = []
    for i, base in enumerate(held_out):
        context = tuple(held_out[max(i - order, 0) : i])
        if base > 3:
            continue
        known = len(context) == order and max(context, default=0) < 4
        seen = [counts[(*context, b)] + 1 for b in range(4)]
        bits.append(-math.log2(seen[base] / sum(seen)) if known else 2.0)
    return float(np.mean(bits))


def chain(bases, seed):
    """Each base is the one after the base before last, most of the time: two before tell what one does not."""
    draw, found = np.random.default_rng(seed), [0, 1]
    while len(found) < bases:
        found.append((found[-2] + 1) % 4 if draw.random() < 0.7 else int(draw.integers(4)))
    return np.array(found, np.uint8)


def test_the_best_order_is_the_one_that_counts_best():
    learned, held_out = chain(3000, 0), chain(600, 1)
    learned[[5, 700]] = held_out[[0, 90]] = 4
    found = null(learned, held_out)
    each = [counted(learned.tolist(), held_out.tolist(), order) for order in range(5)]
    assert found.composition == pytest.approx(each[0], rel=1e-6)
    assert found.order == int(np.argmin(each)) == 2
    assert found.bits == pytest.approx(min(each), rel=1e-6)


def test_nothing_is_known_across_pieces():
    learned = np.array([0, 1, 2, 3] * 50, np.uint8)
    whole, cut = null(learned, learned), null(learned, joined(np.split(learned, 100)))
    assert whole.bits < 0.2 and cut.bits > 1 and cut.composition == whole.composition
    assert math.isnan(null(learned, np.full(3, 4, np.uint8)).bits)


@pytest.fixture
def store(tmp_path):
    letters = np.random.default_rng(0).choice(list(b"ACGT"), 500).astype(np.uint8).tobytes()
    pieces = letters[:90], letters[:40] + b"N" * 200 + letters[40:], letters[:1]
    records = [
        Record(id=f"r{i}", kind="dna", source="x.fa", index=i, pieces=iter([piece])) for i, piece in enumerate(pieces)
    ]
    write(records, tmp_path, DnaTokenizer(), NullProgress())
    return Store(tmp_path)


def test_a_sample_holds_whole_pieces_of_what_there_is(store, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 64)
    everything = sample(store, store.stretches, seed=0)
    known = store.read(0, int(store.stretches.offset[-1] + store.stretches.length[-1]))
    assert sorted(everything[everything < 4]) == sorted(known[known < 4])
    part = sample(store, store.stretches, seed=0, most=200)
    assert 136 < (part < 4).sum() <= 200
    text, whole = bytes(part + 65).split(b"E"), bytes(known + 65)
    assert all(piece in whole for piece in text)
    assert (sample(store, store.stretches, seed=1, most=1) < 4).sum() >= 1


def test_an_evaluation_says_both(tmp_path):
    """Figures of an evaluation stand beside those of the null, which a resumed run finds again."""
    letters = genome(tmp_path / "genome.fa", 6000)
    config = from_mapping(TrainConfig, settings(letters, steps=1, data__held_out=0.3, evaluation__tokens=600))
    outcome = train(config, tmp_path / "run")
    figures = outcome.figures
    assert figures["null_bits_per_base"] <= figures["composition_bits_per_base"] == pytest.approx(1.72, abs=0.05)
    assert "(by composition 1.7" in outcome.held_out
    task = make(config, prepare(config.inputs, tmp_path / "data", DnaTokenizer(DataConfig().alphabet)))
    assert {name: figures[name] for name in task.null} == task.null
