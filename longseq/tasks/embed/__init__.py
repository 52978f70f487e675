"""Vectors of records, windows, sections and single bases or tokens, from any layer of a model.

Names are fetched when first used: a merge of tables wants no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.lazy import fetching

if TYPE_CHECKING:
    from longseq.tasks.embed.request import Request
    from longseq.tasks.embed.run import embed, embeddings
    from longseq.tasks.embed.table import Embedded

_HOMES = {"Embedded": "table", "Request": "request", "embed": "run", "embeddings": "run"}

__all__ = ["Embedded", "Request", "embed", "embeddings"]

__getattr__ = fetching(__name__, _HOMES)
