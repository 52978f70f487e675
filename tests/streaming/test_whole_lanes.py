"""Records of up to a segment, read whole side by side where attention looks both ways: each is what it is alone, to the
bit, and what a lane holds behind it is not seen."""

import numpy as np
import pytest
import torch

from longseq.errors import InputError
from longseq.model import ModelConfig, load, save
from longseq.model.headed import VectorModel
from longseq.streaming import hidden
from longseq.streaming.hidden import HiddenReader, Job
from longseq.tokens import DnaTokenizer

SEGMENT = 40
KEPT = {"pattern": ("softmax",), "across": False, "positions": "learned", "post_norm": True}
MODELS = {
    "kept softmax": KEPT,
    "linear": {"pattern": ("linear",), "feature_map": "elu+1", "positions": "learned"},
    "exponents": {"pattern": ("linear",), "feature_map": "exp"},
    "windows and gate": {"pattern": ("linear",), "softmax_window": 16, "memory_gate": True},
    "softmax that sees what was before": {"pattern": ("softmax",)},
}


def checkpoint(folder, **options):
    config = {"width": 24, "heads": 2, "layers": 2, "visibility": "segment", "segment": SEGMENT} | options
    save(folder, VectorModel(ModelConfig(**config)), DnaTokenizer())
    return load(folder)


def ids(length, seed=0):
    return np.random.default_rng([seed, length]).integers(0, 15, length)


def passed(reader, records):
    """The vectors of each record; they come in order."""
    found = {number: [] for number in range(len(records))}
    jobs = [Job([record[:7], record[7:]], lambda _, x, n=n: found[n].append(x)) for n, record in enumerate(records)]
    assert list(reader.passed(jobs)) == jobs and all(job.done and job.error is None for job in jobs)
    return [torch.cat(parts) if parts else torch.zeros(0, 24) for parts in found.values()]


@pytest.fixture(params=MODELS, scope="module")
def reader(request, tmp_path_factory):
    return HiddenReader(checkpoint(tmp_path_factory.mktemp("lanes") / "m", **MODELS[request.param]))


LENGTHS = [3, 40, 0, 41, 9, 8, 1, 33, 100, 17, 80] + [16] * 150


def test_each_record_is_what_the_encoder_says_of_it_alone(reader):
    records = [ids(length, i) for i, length in enumerate(LENGTHS)]
    for record, found in zip(records, passed(reader, records), strict=True):
        if len(record):
            with torch.inference_mode():
                wanted = reader.encoder(torch.from_numpy(record)[None])[0][0]
            assert (found - wanted).abs().max() < 1e-5


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("length", [13, 40])
def test_neither_lane_nor_lane_mates_move_a_bit(reader, length, threads):
    mine, (width, lanes) = ids(length), reader.shape(length)
    least = next(n for n in range(1, length + 1) if reader.shape(n)[0] == width)
    torch.set_num_threads(threads)
    try:
        (alone,) = passed(reader, [mine])
        for place in (0, lanes.number // 2, lanes.number - 1):
            mates = [ids(least + n % (width - least + 1), n + 1) for n in range(lanes.number)]
            found = passed(reader, [*mates[:place], mine, *mates[place + 1 :]])[place]
            assert found.numpy().tobytes() == alone.numpy().tobytes()
    finally:
        torch.set_num_threads(1)


def test_a_call_has_the_shape_of_the_lengths_in_it(reader, monkeypatch):
    shapes, step = [], HiddenReader.step
    monkeypatch.setattr(
        HiddenReader, "step", lambda self, x, *rest: shapes.append((x.shape, rest[-1] is None)) or step(self, x, *rest)
    )
    passed(reader, [ids(length) for length in (7, 40, 5, 39, 41, 12)])
    # What comes before the long record is read before it.
    assert shapes == [((128, 8), False), ((24, 40), False), ((1, 41), True), ((64, 16), False)]


@pytest.mark.parametrize(
    ("segment", "length", "width", "number"),
    [
        (512, 1, 8, 128),
        (512, 64, 64, 16),
        (512, 65, 80, 12),
        (512, 129, 160, 6),
        (512, 257, 320, 2),
        (512, 512, 512, 2),
        (100, 99, 100, 10),
        (5, 4, 5, 204),
    ],
)
def test_shapes(tmp_path, segment, length, width, number):
    reader = HiddenReader(checkpoint(tmp_path / "m", **KEPT | {"segment": segment}))
    assert reader.shape(length) == (width, (number, width)) and reader.side_by_side == segment


def test_a_long_segment_has_no_mates(tmp_path):
    reader = HiddenReader(checkpoint(tmp_path / "m", pattern=("linear",), segment=2000))
    assert reader.side_by_side == 512
    (found,) = passed(reader, [ids(600)])
    with torch.inference_mode():
        assert torch.equal(found, reader.encoder(torch.from_numpy(ids(600))[None])[0][0])


def test_results_come_a_bounded_number_of_tokens_late(reader, monkeypatch):
    """One record waits for mates that never come, and those that pass behind it wait for it: they are bounded too."""
    monkeypatch.setattr(hidden, "WAITING", 24 * 5000)
    asked = 0

    def jobs():
        nonlocal asked
        yield Job([ids(40)], lambda *_: None)
        for asked in range(2000):  # noqa: B007 - read outside
            yield Job([ids(16)], lambda *_: None)

    found = reader.passed(jobs())
    next(found)
    assert asked == (5000 - 40) // 16


def test_an_error_is_told_in_its_place(reader):
    def fails():
        yield ids(3)
        raise InputError("a fault in the record")

    jobs = [Job(pieces, lambda *_: None) for pieces in ([ids(5)], fails(), [ids(20)])]
    assert [job.error is None for job in reader.passed(jobs)] == [True, False, True]
