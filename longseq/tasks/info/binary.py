"""Files of bytes that are no sequences: arrays, tracks, tables of columns, tensors, indexes."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

from longseq.errors import InputError
from longseq.formats.containers import Container
from longseq.formats.tensors import read_head
from longseq.tasks.info import models

LISTED = 10
"""Columns, records and tensors that are named."""
_BIG = {0x888FFC26: ("track", "a track of numbers (bigWig)"), 0x8789F2EB: ("intervals", "intervals (bigBed)")}
_NAMES = struct.Struct("<IIIIQQ")
"""Head of the tree of names: magic, children of a node, bytes of a key and of a value, records, reserved."""
_INDEXES = {
    ".fai": "of sequences, by samtools faidx",
    ".gzi": "of a file packed by bgzip",
    ".bai": "of a BAM file",
    ".crai": "of a CRAM file",
    ".csi": "of a file packed by bgzip",
    ".tbi": "of a table packed by bgzip, by tabix",
}


def facts(path: str, sample: bytes, container: Container) -> dict[str, Any] | None:
    """Of a file that begins with `sample`; None where it is none of these."""
    place = Path(path)
    base = {"path": path, "bytes": place.stat().st_size}
    if (suffix := place.suffix.lower()) in _INDEXES and place.with_suffix("").exists():
        return {"what": "index", "is": f"an index {_INDEXES[suffix]}", **base, "of": str(place.with_suffix(""))}
    if container != "plain":
        return None
    if sample.startswith(b"\x93NUMPY"):
        return {"what": "array", "is": "an array of NumPy", **base, **_array(path)}
    magic = int.from_bytes(sample[:4], "little")
    if magic in _BIG:
        what, said = _BIG[magic]
        return {"what": what, "is": said, **base, **_big(path)}
    try:
        head = read_head(place)
    except ValueError as error:
        raise InputError(where=path, expected="tensors (safetensors)", found=str(error)) from None
    if head is not None:
        return _tensors(path, base, *head)
    return None


def _array(path: str) -> dict[str, Any]:
    import numpy as np

    try:
        with np.errstate(over="ignore"):  # a shape of more than can be is said below
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # the head is parsed as Python, which fails in any way: tokens, indents, depth, keys
        found = str(error).splitlines()[:1] or [type(error).__name__]
        raise InputError(where=path, expected="an array of NumPy", found=found[0]) from None
    return {"shape": list(array.shape), "type": str(array.dtype)}


def _big(path: str) -> dict[str, Any]:
    """Of bigWig and bigBed (Kent et al., Bioinformatics 26:2204, 2010, supplement): records, and totals."""
    from longseq.formats.bigwig.layout import HEADER, TOTALS

    try:
        with open(path, "rb") as file:
            _, version, levels, names, *_, totals, _, _ = HEADER.unpack(file.read(HEADER.size))
            file.seek(names)
            records = _NAMES.unpack(file.read(_NAMES.size))[4]
            file.seek(totals)
            bases, least, greatest, total, _ = TOTALS.unpack(file.read(TOTALS.size)) if totals else (0, 0, 0, 0, 0)
    except (struct.error, OSError):
        raise InputError("is damaged or ends early", where=path, remedy="copy or download the file again") from None
    known = {"version": version, "records": records, "zoom_levels": levels}
    if bases:
        known |= {"bases": bases, "mean": total / bases, "min": least, "max": greatest}
    return known


def _tensors(path: str, base: dict[str, Any], head: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """A saved state, or tensors by name."""
    if "facts" in metadata:
        return models.state(path)
    sizes = {name: math.prod(one["shape"]) for name, one in head.items()}
    return {
        "what": "tensors",
        "is": "tensors by name (safetensors)",
        **base,
        "tensors": len(head),
        "numbers": sum(sizes.values()),
        "types": sorted({one["dtype"] for one in head.values()}),
        "first": [{"name": name, "shape": one["shape"]} for name, one in list(head.items())[:LISTED]],
    }
