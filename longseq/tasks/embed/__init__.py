"""Vectors of records, windows, sections and single bases or tokens, from any layer of a model."""

from longseq.tasks.embed.request import Request
from longseq.tasks.embed.run import embed, embeddings
from longseq.tasks.embed.table import Embedded

__all__ = ["Embedded", "Request", "embed", "embeddings"]
