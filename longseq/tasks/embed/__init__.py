"""Vectors of records, windows, sections and single bases or tokens, from any layer of a model."""

from longseq.tasks.embed.request import Request
from longseq.tasks.embed.run import Embedded, embed, embeddings

__all__ = ["Embedded", "Request", "embed", "embeddings"]
