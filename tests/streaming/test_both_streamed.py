"""Both directions in a stream equal those in memory, mirror each other, and need no memory for the record."""

import os
import tempfile

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from longseq.errors import ConfigError, LongseqError
from longseq.model import Encoder, ModelConfig
from longseq.model.both import read_both
from longseq.streaming.both import stream_both
from longseq.streaming.rows import RowSpool

COMPLEMENT = np.array([3, 2, 1, 0, *range(4, 15)])


def encoder(pattern=("gated", "linear"), **options):
    config = {"width": 16, "heads": 2, "layers": 2, "pattern": pattern, "visibility": "both"}
    return Encoder(ModelConfig(**config | options)).eval()


def record(length, seed=0):
    return np.random.default_rng(seed).integers(0, 4, length).astype(np.uint8)


def error(found, wanted):
    return float((found - wanted).norm() / wanted.norm())


def whole(*arguments, **options):
    return torch.cat(list(stream_both(*arguments, **options)))


@pytest.mark.parametrize("complement", [None, COMPLEMENT], ids=["reverse", "complement"])
@pytest.mark.parametrize("chunk", [1, 7, 64, 119, 120, 4096])
def test_streamed_equals_in_memory(chunk, complement):
    model, ids = encoder(), record(120)
    pieces = list(stream_both(model, iter(np.split(ids, [0, 11, 80])), chunk=chunk, complement=complement))
    assert [len(p) for p in pieces[:-1]] == [chunk] * (len(pieces) - 1)
    with torch.no_grad():
        swap = None if complement is None else torch.from_numpy(complement)
        wanted = read_both(model, torch.from_numpy(ids.astype(np.int64))[None], None, swap)[0]
    assert error(torch.cat(pieces), wanted) <= 1e-5
    half = whole(model, [ids], chunk=chunk, complement=complement, precision="float16")
    assert half.dtype == torch.float16 and error(half.float(), wanted) <= 1e-3


def test_strands_mirror_to_the_bit():
    model, ids = encoder(), record(500)
    for precision in ("float32", "float16"):
        one = whole(model, [ids], chunk=64, complement=COMPLEMENT, precision=precision)
        other = whole(model, [COMPLEMENT[ids[::-1]]], chunk=64, complement=COMPLEMENT, precision=precision)
        assert torch.equal(other.flip(0), torch.cat([one[:, 16:], one[:, :16]], -1))


def test_segments_in_both_directions():
    """A segment's own two ways are cut from the end of the record in the pass over its reverse."""
    model, ids = encoder(("linear",), visibility="segment", segment=16), record(100)
    with torch.no_grad():
        wanted = read_both(model, torch.from_numpy(ids.astype(np.int64))[None])[0]
    assert error(whole(model, [ids], chunk=32), wanted) <= 1e-5


def test_a_chunk_beside_the_segments_is_refused_before_anything_is_read():
    model = encoder(("linear",), visibility="segment", segment=16)
    with pytest.raises(ConfigError, match=r"chunk: expected a multiple of model\.segment \(16\), found 20"):
        stream_both(model, iter([]), chunk=20)


class Largest(TorchDispatchMode):
    """Numbers in the largest tensor that any operation gives."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for x in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(x, torch.Tensor):
                self.numbers = max(self.numbers, x.numel())
        return result


def test_memory_does_not_grow_with_the_record():
    model, sizes = encoder(("gated",), layers=1), []
    for length in (200, 2000):
        with Largest() as largest:
            for piece in stream_both(model, (record(50) for _ in range(length // 50)), chunk=64):
                assert len(piece) <= 64
        sizes.append(largest.numbers)
    assert sizes[0] == sizes[1] > 0


def test_an_empty_record_has_no_readings():
    assert list(stream_both(encoder(), [])) == []
    assert list(stream_both(encoder(), [record(0)])) == []


def test_readings_can_train_a_head():
    head = torch.nn.Linear(32, 2)
    for piece in stream_both(encoder(), [record(20)], chunk=8):
        head(piece).sum().backward()
    assert head.weight.grad.abs().sum() > 0


@pytest.mark.parametrize(("option", "key"), [({"chunk": 0}, "chunk"), ({"precision": "int8"}, "precision")])
def test_wrong_options_are_refused_at_once(option, key):
    with pytest.raises(ConfigError) as caught:
        stream_both(encoder(), [], **option)
    assert caught.value.where == key


def test_the_spool_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stream = stream_both(encoder(), [record(100)], chunk=10)
    next(stream)
    assert all((os.stat(tmp_path / name).st_mode & 0o077) == 0 for name in os.listdir(tmp_path))
    stream.close()
    assert os.listdir(tmp_path) == []


def test_a_folder_without_room_is_named(tmp_path):
    with pytest.raises(LongseqError, match=r"gone: the spool cannot be written.*TMPDIR"):
        next(stream_both(encoder(), [record(10)], folder=tmp_path / "gone"))
    if os.path.exists("/dev/full"):
        spool = RowSpool(4, np.float32)
        spool._file.close()
        spool._file = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115
        with pytest.raises(LongseqError, match="the spool cannot be written"):
            spool.write(0, np.zeros((3, 4)))


def test_rows_come_back_from_any_order():
    rows = np.random.default_rng(0).random((9, 3)).astype(np.float32)
    with RowSpool(3, np.float32) as spool:
        for start, stop in ((6, 9), (2, 6), (0, 2)):
            spool.write(start, rows[start:stop])
        assert np.array_equal(spool.read(1, 8), rows[1:8])
