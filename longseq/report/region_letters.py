"""`regions.fa`: the letters of every line of `regions.bed`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from longseq.report.tables import in_order
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

FILE = "regions.fa"
WIDTH = 80
"""Letters a line."""


class RegionLetters:
    """FASTA in a folder, made when the first region comes: names as `--region` takes them, 1-based and closed, then the
    region's name in regions.bed. Case stands as it was read. Use it as a context manager."""

    def __init__(self, folder: Path):
        self._path, self._stack = folder / FILE, ExitStack()
        self._file: BinaryIO | None = None

    def __enter__(self) -> RegionLetters:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def dna(self, summary: RecordSummary) -> None:
        if summary.letters is None:
            return
        for name, region in in_order(summary.regions):
            if self._file is None:
                self._file = self._stack.enter_context(open(self._path, "wb"))  # noqa: SIM115 - by __exit__
            where = region.interval
            header = f">{where.record}:{where.start + 1}-{where.end} {name}\n"
            self._file.write(header.encode("utf-8", "backslashreplace"))
            held = b""
            for piece in summary.letters(where.start, where.end):
                held += piece
                whole = len(held) // WIDTH * WIDTH
                self._file.writelines(held[i : i + WIDTH] + b"\n" for i in range(0, whole, WIDTH))
                held = held[whole:]
            if held:
                self._file.write(held + b"\n")

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no regions."""
