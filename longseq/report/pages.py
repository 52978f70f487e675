"""`summary.md`: a section for each document, written as they come, so that none is held."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TextIO

from longseq.formats.markdown import escape
from longseq.report.document import document_markdown
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

FILE = "summary.md"


class Pages:
    """Sections wait on disk until they are asked for; use it as a context manager."""

    def __init__(self) -> None:
        self._sections = spool()
        self._count = 0

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._sections.close()

    def dna(self, summary: RecordSummary) -> None:
        """DNA has tables instead."""

    def document(self, summary: DocumentSummary) -> None:
        self._sections.write(("\n" if self._count else "") + document_markdown(summary))
        self._count += 1

    def save(self, folder: Path) -> None:
        """The file, if there was a document."""
        if self._count:
            with open(folder / FILE, "w", encoding="utf-8", errors="backslashreplace") as file:
                self.write(file)

    def write(self, file: TextIO, views: Iterable[tuple[str, str]] = ()) -> None:
        """All sections, then plain text of other inputs under their names."""
        self._sections.seek(0)
        shutil.copyfileobj(self._sections, file)
        for name, body in views:
            longest = max((len(run) for run in re.findall("`+", body)), default=0)  # a record's name may be a fence
            fence = "`" * max(3, longest + 1)
            file.write(f"# {escape(name)}\n\n{fence}text\n{body}\n{fence}\n")


def spool() -> TextIO:
    """Text that waits on disk until its owner closes it."""
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace", newline="")
