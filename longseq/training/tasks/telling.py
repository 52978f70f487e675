"""Whether there is something to tell apart: in what is learned from, and in what is held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longseq.errors import InputError

REMEDY = "hold out others (labels.held_out, data.held_out_groups)"


def require_classes(sizes: np.ndarray, names: Sequence[str], where: str | None, noun: str) -> None:
    """Raise unless two classes or more are left to learn from; `sizes` (C,) are those of the named classes there.

    Raises:
        InputError: there is one only, or none.
    """
    there = [name for name, size in zip(names, sizes.tolist(), strict=True) if size]
    if len(there) < 2:
        found = f"{there[0]!r} only" if there else "none"
        expected = f"{noun}s of two classes or more to learn from"
        raise InputError(where=where, expected=expected, found=found, remedy=REMEDY)


def require_numbers(learned: np.ndarray, where: str | None, column: str) -> None:
    """Raise unless the numbers to learn from differ.

    Raises:
        InputError: they do not.
    """
    if np.ptp(learned) == 0:
        found = f"{learned.flat[0]:g} only"
        raise InputError(
            where=where, expected=f"numbers in {column} that differ to learn from", found=found, remedy=REMEDY
        )


def notes_on_held_out(sizes: np.ndarray, names: Sequence[str], noun: str) -> list[str]:
    """A warning where what is held out is of one class only, `sizes` (C,) being those of the classes there."""
    there = [name for name, size in zip(names, sizes.tolist(), strict=True) if size]
    if len(there) != 1:
        return []
    return [
        f"warning: every {noun} held out is of {there[0]}, so its figures do not say whether classes are told apart"
    ]
