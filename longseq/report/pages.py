"""`summary.md`: a section for each document, written as they come, so that none is held."""

from __future__ import annotations

import shutil
import tempfile
from types import TracebackType
from typing import TextIO

from longseq.report.document import document_markdown
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary


class MarkdownPages:
    """Sections wait on disk until they are asked for; use it as a context manager."""

    def __init__(self):
        self._spool = tempfile.TemporaryFile(  # noqa: SIM115 - closed by __exit__
            "w+", encoding="utf-8", errors="backslashreplace", newline=""
        )
        self.count = 0
        """Documents so far."""

    def __enter__(self) -> MarkdownPages:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._spool.close()

    def dna(self, summary: RecordSummary) -> None:
        """DNA has tables instead."""

    def document(self, summary: DocumentSummary) -> None:
        self._spool.write(("\n" if self.count else "") + document_markdown(summary))
        self.count += 1

    def write(self, file: TextIO) -> None:
        """All of them."""
        self._spool.seek(0)
        shutil.copyfileobj(self._spool, file)
