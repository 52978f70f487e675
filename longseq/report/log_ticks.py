"""Round numbers along a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST = 8
"""Of them."""


def decades(values: Iterable[float]) -> list[float]:
    """1, 2 and 5 times powers of ten that lie among these values above 0, and one on either side; the powers alone
    where those are too many, or every so-manieth of them. What is no number above 0 does not count."""
    known = [value for value in values if 0 < value < math.inf]
    if not known:
        return []
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    for steps in ((1, 2, 5), (1,)):
        found = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        below = max(tick for tick in found if tick <= min(known))
        above = min(tick for tick in found if tick >= max(known))
        inside = [tick for tick in found if below <= tick <= above]
        if len(inside) <= MOST:
            return inside
    return inside[:: -(-len(inside) // MOST)]
