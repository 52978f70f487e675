"""Tables and trees of bigWig files, little-endian (Kent et al., Bioinformatics 26:2204, 2010, supplement)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

HEADER = struct.Struct("<IHHQQQHHQQIQ")
"""Magic, version, levels of summary, places of names, values and their index, fields, defined fields, places of a
schema and of the totals, bytes of the largest block unpacked (0: blocks are not packed), place of an extension."""
MAGIC, VERSION = 0x888FFC26, 4
LEVEL = struct.Struct("<IIQQ")
"""Of a level of summary: bases, reserved, place, place of its index."""
TOTALS = struct.Struct("<Qdddd")
"""Bases with a value, least, greatest, sum, sum of squares."""
HEAD_WORDS = 6
"""Of 32 bits, in front of a block of values: record, first base, end, step, span; kind of items, 8 bits that are
reserved, and the number of items in 16."""
BED_GRAPH = 1
"""Kind of items that have a start and an end each."""
ITEM = np.dtype([("start", "<u4"), ("end", "<u4"), ("value", "<f4")])
SUMMARY = np.dtype(
    [
        *((name, "<u4") for name in ("record", "start", "end", "bases")),
        *((name, "<f4") for name in ("least", "greatest", "sum", "squares")),
    ]
)
"""Of a stretch of a record: its bases with a value, and what they are."""

_PLACE = [(name, "<u4") for name in ("record", "start", "last", "end")]
BLOCK = np.dtype([*_PLACE, ("offset", "<u8"), ("size", "<u8")])
"""A block of values or summaries from (`record`, `start`) to (`last`, `end`): where it lies, and its bytes."""
_BLOCKS = np.dtype([*_PLACE, ("offset", "<u8")])
_ENDS = ("last", "end")
"""What a node takes from the last of those below it; the rest is the first one's."""

NODE = 256
"""Children of a node at most."""


def names_tree(names: list[str], lengths: list[int], at: int) -> Iterator[bytes]:
    """The B+ tree of records, that of place i having number i, to be written at `at`."""
    keys = np.array([name.encode("utf-8", "backslashreplace") for name in names])
    size, width = min(NODE, len(names)), keys.dtype.itemsize
    leaves = np.zeros(len(names), [("key", keys.dtype), ("number", "<u4"), ("length", "<u4")])
    leaves["key"], leaves["number"], leaves["length"] = keys, np.arange(len(names)), lengths
    leaves = leaves[np.argsort(keys, kind="stable")]
    head = struct.pack("<IIIIQQ", 0x78CA8C91, size, width, 8, len(names), 0)
    yield head
    yield from _tree(leaves, np.dtype([("key", keys.dtype), ("offset", "<u8")]), at + len(head), size)


def blocks_tree(blocks: np.ndarray, at: int) -> Iterator[bytes]:
    """The R tree of blocks in order, to be written at `at`, right behind the last one."""
    size, first, last = min(NODE, len(blocks)), blocks[0], blocks[-1]
    place = (first["record"], first["start"], last["last"], last["end"])
    head = struct.pack("<IIQIIIIQII", 0x2468ACE0, size, len(blocks), *map(int, place), at, 1, 0)
    yield head
    yield from _tree(blocks, _BLOCKS, at + len(head), size)


def _tree(leaves: np.ndarray, inner: np.dtype, at: int, size: int) -> Iterator[bytes]:
    """Nodes of `size` children, the root first and the leaves last; `inner` is a child of a node that is no leaf."""
    levels = [leaves]
    while len(levels[-1]) > size:
        below = levels[-1]
        first, last = below[::size], below[np.minimum(np.arange(size - 1, len(below) + size - 1, size), len(below) - 1)]
        above = np.zeros(len(first), inner)
        for name in (inner.names or ())[:-1]:
            above[name] = (last if name in _ENDS else first)[name]
        levels.append(above)
    for depth in range(len(levels) - 1, -1, -1):
        items = levels[depth]
        node = np.dtype([("leaf", "u1"), ("reserved", "u1"), ("count", "<u2"), ("items", items.dtype, (size,))])
        nodes = np.zeros(-(-len(items) // size), node)
        at += nodes.nbytes
        if depth:
            bytes_below = 4 + size * levels[depth - 1].dtype.itemsize
            items["offset"] = at + bytes_below * np.arange(len(items))
        padded = np.zeros(len(nodes) * size, items.dtype)
        padded[: len(items)] = items
        nodes["items"], nodes["leaf"], nodes["count"] = padded.reshape(-1, size), depth == 0, size
        nodes["count"][-1] = len(items) - (len(nodes) - 1) * size
        yield nodes.tobytes()
