"""Lanes: a record's readings are its own, to the bit, whatever runs beside it and wherever."""

import random
import threading

import numpy as np
import pytest
import torch

from longseq.errors import AlphabetError, ConfigError, InputError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.streaming import Surprisal
from longseq.streaming.lanes import Job, Pool
from longseq.tokens import DnaTokenizer


def surprisal(folder, chunk=512, precision="fp32", **options):
    config = {"width": 24, "heads": 2, "layers": 2} | options
    save(folder, LanguageModel(ModelConfig(**config)), DnaTokenizer())
    return Surprisal(load(folder), chunk=chunk, precision=precision)


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    return surprisal(tmp_path_factory.mktemp("gated") / "m")


def letters(length, seed=0, alphabet="ACGTACGTACGTNRacgt"):
    return "".join(random.Random(seed).choices(alphabet, k=length)).encode()


def single(model, record):
    reader = model()
    return np.concatenate([*[reader.push(record[i : i + 1000]) for i in range(0, len(record), 1000)], reader.finish()])


def joined(track):
    parts = [part.bits for part in track]
    return np.concatenate([np.zeros(0, np.float32), *parts])


def many(model, records):
    return [(key, joined(track)) for key, track in model.many(records)]


@pytest.mark.parametrize(
    ("chunk", "short", "middle"),
    [(32, (1, 32), (1, 32)), (100, (1, 64), (1, 100)), (2048, (32, 64), (8, 256)), (1 << 20, (32, 64), (8, 256))],
)
def test_lanes_do_not_grow_beyond_what_a_call_is_made_for(tmp_path, chunk, short, middle):
    model = surprisal(tmp_path / "m", chunk=chunk)
    assert (model.lanes(64), model.lanes(65), model.lanes(8192)) == (short, middle, middle)


@pytest.mark.parametrize("chunk", [0, (1 << 20) + 1])
def test_a_chunk_has_an_end(gated, chunk):
    with pytest.raises(ConfigError, match="chunk: expected 1 to 1,048,576 tokens"):
        Surprisal(gated.checkpoint, chunk=chunk)


LENGTHS = [5, 300, 0, 64, 65, 1, 9000, 256, 257, 8192, 8193, 30, 700] + [200] * 10 + [50] * 20


def test_lanes_equal_one_by_one_in_input_order(gated):
    records = [(i, letters(length, i)) for i, length in enumerate(LENGTHS)]
    found = many(gated, ((i, [record[:100], record[100:]]) for i, record in records))
    assert [key for key, _ in found] == list(range(len(LENGTHS)))
    for (i, record), (_, bits) in zip(records, found, strict=True):
        assert bits.tobytes() == single(gated, record).tobytes(), LENGTHS[i]


MODELS = {
    "linear": {"pattern": ("linear",), "feature_map": "elu+1"},
    "gated": {},
    "gru": {"pattern": ("gru",)},
    "head": {"decay": "head", "mixer_norm": "head", "feedforward": "gelu", "norm": "layer"},
    "bf16": {"precision": "bf16"},
    "odd": {"width": 40, "heads": 4},
}


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("threads", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("length", [50, 700])
def test_neither_lane_nor_lane_mates_move_a_bit(options, threads, length, tmp_path):
    model = surprisal(tmp_path / "m", chunk=2048, **options)
    shape = model.lanes(length)
    ids = model.tokenizer.encode(letters(length))[0]
    torch.set_num_threads(threads)
    try:
        found = set()
        for lane in (0, 1, shape.number // 2, shape.number - 1):
            pool, mine = Pool(model, shape), Job(ids)
            for other in range(shape.number):  # some mates are shorter, some longer, and lanes are filled again
                size = 1 + (37 * (other + lane + 1)) % (1500 if length > 64 else 64)
                pool.add(mine if other == lane else Job(model.tokenizer.encode(letters(size, other + lane))[0]))
            while not mine.done:
                pool.step()
            found.add(mine.bits.tobytes())
        assert len(found) == 1 and np.isfinite(np.frombuffer(found.pop(), np.float32)).any()
    finally:
        torch.set_num_threads(1)


def test_lanes_are_right(gated):
    """The same figures as one plain call over the whole record."""
    for length in (60, 700):
        ids, _ = gated.tokenizer.encode(letters(length))
        tokens = torch.from_numpy(ids.astype(np.int64))[None]
        with torch.inference_mode():
            logits, _ = gated.checkpoint.model(tokens)
        wanted = -logits[0].double().log_softmax(-1).gather(1, tokens[0, :, None])[:, 0].numpy() / np.log(2)
        wanted[ids > 3] = np.nan
        np.testing.assert_allclose(single(gated, letters(length)), wanted, rtol=1e-5)


def test_every_call_has_one_of_three_shapes(gated, monkeypatch):
    shapes, step = set(), gated.step
    monkeypatch.setattr(gated, "step", lambda ids, state: shapes.add(ids.shape) or step(ids, state))
    many(gated, [(i, [letters(length, i)]) for i, length in enumerate([10, 64, 65, 8192, 300, 512 * 20])])
    assert shapes == {(8, 64), (2, 256), (1, 512)}


def test_a_full_pool_does_not_wait_for_the_end(gated, monkeypatch):
    """Twice as many records are one step more, not one each."""
    calls, step = [], gated.step
    monkeypatch.setattr(gated, "step", lambda ids, state: calls.append(1) or step(ids, state))
    assert len(many(gated, [(i, [letters(60, i)]) for i in range(80)])) == 80
    assert len(calls) == 10


def test_results_come_a_bounded_number_of_records_late(gated):
    asked = 0

    def records():
        nonlocal asked
        yield "short", [b"ACGT"]  # waits for mates that never come
        for i in range(2000):
            asked = i
            yield i, [letters(70, i)]

    found = gated.many(records())
    assert next(found)[0] == "short"
    assert asked < 600
    found.close()


def test_a_long_record_streams(gated):
    taken = 0

    def pieces():
        nonlocal taken
        for i in range(1000):
            taken = i
            yield letters(4096, i)

    tracks = gated.many([("long", pieces())])
    _, track = next(tracks)
    assert len(next(track).bits) == 512
    assert taken < 50
    tracks.close()
    with pytest.raises(RuntimeError, match="in the middle of this one"):
        joined(track)


def fails(after):
    yield letters(after)
    raise InputError("a fault in the record")


@pytest.mark.parametrize("length", [10, 9000])
def test_a_record_that_fails_does_so_in_its_place(gated, length):
    records = [("a", [b"ACGT"]), ("b", fails(length)), ("c", [b"AC!T"]), ("d", [b"GATTACA"])]
    tracks = gated.many(records)
    key, track = next(tracks)
    assert key == "a" and joined(track).tobytes() == single(gated, b"ACGT").tobytes()
    key, track = next(tracks)
    with pytest.raises(InputError, match="a fault in the record"):
        joined(track)
    key, track = next(tracks)
    with pytest.raises(AlphabetError, match="'!' at base 3"):
        joined(track)
    key, track = next(tracks)
    assert key == "d" and joined(track).tobytes() == single(gated, b"GATTACA").tobytes()
    assert next(tracks, None) is None


def test_a_source_that_fails_gives_what_came_before(gated):
    def records():
        yield "a", [b"ACGT"]
        raise InputError("the file is damaged")

    tracks = gated.many(records())
    assert next(tracks)[0] == "a"
    with pytest.raises(InputError, match="the file is damaged"):
        next(tracks)
    assert not [thread for thread in threading.enumerate() if thread.name == "ahead"]


@pytest.mark.parametrize(
    ("pattern", "together"), [(("softmax",), False), (("gated", "softmax"), False), (("gru",), True)]
)
def test_models_whose_state_grows_read_one_at_a_time(pattern, together, tmp_path):
    model = surprisal(tmp_path / "m", pattern=pattern)
    assert (model.lanes(100) is not None) == together
    records = [letters(length, length) for length in (3, 100, 700)]
    for record, (_, bits) in zip(records, many(model, ((i, [r]) for i, r in enumerate(records))), strict=True):
        assert bits.tobytes() == single(model, record).tobytes()


@pytest.mark.parametrize(("first", "second"), [(30, 20), (60, 3000), (8000, 5000), (9000, 100), (9216, 1000)])
def test_a_finished_track_goes_on_with_an_appended_record(gated, first, second):
    record = letters(first + second)
    for _, track in gated.many([("first", [record[:first]])]):
        joined(track)
    for _, more in gated.many([("second", [record[first:]])], start=track.snapshot()):
        assert joined(more).tobytes() == single(gated, record)[first:].tobytes()
    assert more.snapshot().given == len(record)
