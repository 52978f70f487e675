"""Bytes ⇄ records, intervals and tables. `read` opens anything; writers make files that appear whole or not at all."""

from longseq.formats.reading import Reading, read

__all__ = ["Reading", "read"]
