"""longseq: genomes and long documents through linear attention, in constant memory.

    import longseq
    checkpoint = longseq.load("dna")
    for record in longseq.read("genome.fa.gz"): ...

Names are fetched when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from longseq.formats import read
    from longseq.model import load
    from longseq.streaming import Surprisal
    from longseq.tasks.variants import score_variants

_HOMES = {
    "Surprisal": "longseq.streaming",
    "load": "longseq.model",
    "read": "longseq.formats",
    "score_variants": "longseq.tasks.variants",
}

__all__ = ["Surprisal", "__version__", "load", "read", "score_variants"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'longseq' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_HOMES[name]), name)
