"""One input of a run: what it was, how much of it could be read, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longseq.records import Kind
from longseq.results.totals import Totals


@dataclass(frozen=True, kw_only=True)
class SourceRow:
    """A file, a pipe or standard input, after it was read."""

    file: str
    """As the user named it; `-` is standard input."""
    kind: Kind | None = None
    """None where it could not be opened."""
    format: str | None = None
    """fasta, fastq, genbank, embl, 2bit, text, markdown, rst, html, pdf, epub, docx, jats, jsonl, csv, tsv, …"""
    container: str | None = None
    """plain, gzip, bgzf, bzip2, xz or zstd."""
    records: int = 0
    """Records summarised."""
    length: int = 0
    """Letters in them: bases or code points."""
    truncated: bool = False
    """The file ended too early."""
    failed: int = 0
    """Records that could not be read to their end."""
    errors: tuple[str, ...] = ()
    """What went wrong, first things first; the file itself last where it could not be read on."""
    digest: str | None = None
    """sha256 of what was summarised, record by record: of equal digests the sequences are equal and stand in the same
    order, whatever the names of files and records, the packing, the lines and the case. None where nothing was."""
    totals: Totals | None = None
    """DNA only."""

    @property
    def whole(self) -> bool:
        """Everything in it was read."""
        return not (self.truncated or self.failed or self.errors)

    @property
    def problems(self) -> list[str]:
        """What was not read, a line each, as a run says it."""
        lines = [*self.errors]
        if self.failed > len(self.errors):
            lines.append(f"{self.file}: {self.failed} records failed in all")
        if self.truncated:
            lines.append(f"{self.file}: ended too early; what was read is reported, the record it ended in is marked")
        return lines

    def to_json(self) -> dict[str, Any]:
        totals = None if self.totals is None else self.totals.to_json()
        return {**vars(self), "errors": list(self.errors), "totals": totals}
