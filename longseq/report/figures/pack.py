"""Views as plain JSON: arrays of any length in few bytes, steps of 1/65,534 of what an axis shows."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from longseq.report.figures.marks import Axis, Mark, Numbers, Shade, Track, View, named
from longseq.report.log_ticks import decades

SHORT = 48
"""Numbers that are written out; more of them are packed."""
STEPS = 65_534
GAP = 65_535
"""The packed NaN."""
DIGITS = 6
ROOM = 0.04
"""Of the axis, left free on both sides of what is shown."""
_X, _Y = ("x", "x0", "x1"), ("y", "y0", "y1", "low", "high", "mean")


def plain_view(view: View) -> dict[str, Any]:
    """All of it, ready for JSON; axes without ends are given those of their marks."""
    marks = [mark for panel in view.panels for mark in panel.marks]
    panels = [
        {"y": _axis(panel.y, panel.marks, _Y), "height": panel.height, "marks": [plain_mark(m) for m in panel.marks]}
        for panel in view.panels
    ]
    return {"name": view.name, "note": view.note, "x": _axis(view.x, marks, _X), "panels": panels}


def plain_mark(mark: Mark) -> dict[str, Any]:
    """A mark with its kind; what is as it is by itself is left out."""
    plain: dict[str, Any] = {"kind": type(mark).__name__.lower()}
    for field in fields(mark):
        value = getattr(mark, field.name)
        if value is None or value is False or (isinstance(value, str | Sequence) and not len(value)):
            continue
        plain[field.name] = _plain(value)
    return plain


def pack(values: Numbers) -> Any:
    """Numbers as a list where they are few, else 16 bits each over their range; NaN is a gap (null)."""
    array = np.asarray(values, np.float64)
    if array.size <= SHORT:
        return [_rounded(value) for value in array.ravel().tolist()]
    known = array[np.isfinite(array)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    step = (high - low) / STEPS or 1.0
    codes = np.full(array.size, GAP, np.uint16)
    flat = array.ravel()
    there = np.isfinite(flat)
    codes[there] = np.rint((flat[there] - low) / step)
    return {"low": low, "step": step, "codes": base64.b64encode(codes.astype("<u2").tobytes()).decode()}


def _plain(value: Any) -> Any:
    if isinstance(value, Shade):
        return {"values": pack(value.values), "label": value.label, "low": value.low, "high": value.high}
    if isinstance(value, np.ndarray):
        return pack(value) if value.ndim == 1 else {"rows": value.shape[0], "columns": value.shape[1], **_grid(value)}
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _rounded(value)
    if isinstance(value, Sequence):
        return [*value] if all(isinstance(one, str | int) for one in value) and len(value) else pack(value)
    return {str(key): one for key, one in value.items()}


def _grid(values: np.ndarray) -> dict[str, Any]:
    return {"values": pack(values)}


def _rounded(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.{DIGITS}g}")


def _axis(axis: Axis, marks: Sequence[Mark], names: tuple[str, ...]) -> dict[str, Any]:
    low, high = axis.low, axis.high
    if low is None or high is None:
        found = _ends(marks, names, axis.logarithmic)
        low, high = found[0] if low is None else low, found[1] if high is None else high
    plain: dict[str, Any] = {"label": axis.label, "low": low, "high": high}
    plain |= {"log": True} if axis.logarithmic else {}
    plain |= {"places": True} if axis.places else {}
    ticks = axis.ticks
    if axis.logarithmic and not ticks:
        round_ = [tick for tick in decades((low, high)) if low <= tick <= high]
        ticks = named(round_) if len(round_) > 1 else {}  # of fewer a browser makes its own
    plain |= {"ticks": {f"{at:.12g}": name for at, name in ticks.items()}} if ticks else {}
    return plain


def _ends(marks: Sequence[Mark], names: tuple[str, ...], logarithmic: bool) -> tuple[float, float]:
    """Of all that is shown, with room on both sides; what a logarithm lacks does not count."""
    arrays = []
    for mark in marks:
        for name in names:
            value = getattr(mark, name, None)
            if value is not None and not (isinstance(value, float | int) and name in ("low", "high")):
                arrays.append(np.asarray(value, np.float64).ravel())
        if names is _X and isinstance(mark, Track):
            arrays.append(np.array([mark.start, mark.stop], np.float64))
    whole = np.concatenate([np.zeros(0), *arrays])
    whole = whole[np.isfinite(whole) & (whole > 0 if logarithmic else True)]
    if not len(whole):
        return (1.0, 10.0) if logarithmic else (0.0, 1.0)
    low, high = float(whole.min()), float(whole.max())
    if logarithmic:
        return low * (low / high) ** ROOM / 1.05, high * (high / low) ** ROOM * 1.05
    room = ROOM * (high - low) or abs(high) * ROOM or 1.0
    return low - room, high + room
