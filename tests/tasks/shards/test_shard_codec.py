"""What is kept comes back as it was: to the bit, to the type, in order."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import InputError
from longseq.tasks.shards.codec import packed, unpacked
from longseq.tasks.shards.spool import Bulk, SpoolReader, SpoolWriter


class Inner(NamedTuple):
    number: int
    array: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Outer:
    text: str
    value: float | None
    kind: Literal["a", "b"] = "a"
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    pair: tuple[int, str] = (0, "")
    named: Mapping[str, Inner] = field(default_factory=dict)
    later: Callable[[], int] | None = None
    array: np.ndarray = field(default_factory=lambda: np.zeros(0))


def same(a, b):
    """Equal, and of equal types; floats and arrays to the bit."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    elif isinstance(a, Outer):
        for name in vars(a):
            same(getattr(a, name), getattr(b, name))
    elif isinstance(a, tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, float):
        assert a.hex() == b.hex()
    else:
        assert a == b


shapes = st.tuples(st.integers(0, 3), st.integers(0, 3))
arrays = st.builds(
    lambda shape, kind, seed: np.random.default_rng(seed).integers(0, 99, shape).astype(kind),
    shapes,
    st.sampled_from(["<i4", "<f4", "<i8", "u1", "<f8", ">i2"]),
    st.integers(0, 99),
)
inners = st.builds(Inner, st.integers(-(2**70), 2**70), arrays)
outers = st.builds(
    Outer,
    text=st.text(),
    value=st.none() | st.floats(),
    inner=st.none() | inners,
    many=st.lists(inners, max_size=3).map(tuple),
    pair=st.tuples(st.integers(), st.text()),
    named=st.dictionaries(st.text(), inners, max_size=2),
    array=arrays,
)


@settings(deadline=None)
@given(outers)
def test_a_value_comes_back(value):
    if isinstance(value.value, float) and math.isnan(value.value):
        assert math.isnan(unpacked(Outer, *packed(value)).value)
    else:
        same(unpacked(Outer, *packed(value)), value)


def test_names_that_are_no_unicode_come_back():
    same(unpacked(Outer, *packed(Outer(text="\udcff", value=None))), Outer(text="\udcff", value=None))


@pytest.mark.parametrize(
    "value",
    [
        Outer(text="", value=None, later=lambda: 1),
        Outer(text=object(), value=None),
        Outer(text="", value=np.float32(0.1)),
        Outer(text="", value=None, inner=(1, np.zeros(1))),
        Outer(text="", value=None, array=np.array([None])),
    ],
    ids=["function", "object", "another float", "another tuple", "objects"],
)
def test_what_would_not_come_back_is_refused(value):
    with pytest.raises(TypeError):
        packed(value)


def test_a_spool_gives_frames_in_order_and_bulk_by_place(tmp_path):
    values = [Outer(text=str(i), value=i / 7, array=np.arange(i)) for i in range(5)]
    with SpoolWriter(tmp_path, (Outer, Bulk)) as writer:
        for value in values:
            writer.put(value)
            writer.put(writer.keep([np.arange(4) + 10 * int(value.text), np.arange(2)], np.float32))
        letters = writer.keep([b"ACG", b"", b"T"])
    with SpoolReader(tmp_path, (Outer, Bulk), writer.facts()) as reader:
        found = list(reader)
        for value, again, bulk in zip(values, found[::2], found[1::2], strict=True):
            same(again, value)
            first = 10 * int(value.text)
            expected = [first, first + 1, first + 2, first + 3, 0, 1]
            assert np.concatenate([*reader.pieces(bulk, size=4)]).tolist() == expected
            assert np.concatenate([*reader.pieces(bulk, 1, 3)]).tolist() == expected[1:3]
        assert b"".join(piece.tobytes() for piece in reader.pieces(letters)) == b"ACGT"


def test_frames_of_other_classes_are_refused(tmp_path):
    with SpoolWriter(tmp_path, (Outer,)) as writer:
        writer.put(Outer(text="", value=None))
    with pytest.raises(InputError, match="as this version writes them"):
        SpoolReader(tmp_path, (Inner,), writer.facts())
