"""`regions.fa`: the letters of every line of `regions.bed`."""

from __future__ import annotations

from types import TracebackType

from longseq.formats.cells import cell
from longseq.report.input_folders import InputFile, InputFolders
from longseq.report.tables import in_order
from longseq.results.dna import RecordSummary
from longseq.results.document import DocumentSummary

FILE = "regions.fa"
WIDTH = 80
"""Letters a line."""


class RegionLetters:
    """FASTA beside each `regions.bed`, made when the first region of an input comes: names as `--region` takes them,
    1-based and closed, `.` where a record has none, then the region's name in regions.bed. Case stands as it was read.
    Use it as a context manager.
    """

    def __init__(self, folders: InputFolders):
        self._files = InputFile(folders, FILE)

    def __enter__(self) -> RegionLetters:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.__exit__(kind, error, at)

    def dna(self, summary: RecordSummary) -> None:
        if summary.letters is None:
            return
        for name, region in in_order(summary.regions):
            file, where, held = self._files.of(summary.source), region.interval, ""
            file.write(f">{cell(where.record) or '.'}:{where.start + 1}-{where.end} {name}\n")
            for piece in summary.letters(where.start, where.end):
                held += piece.decode()
                whole = len(held) // WIDTH * WIDTH
                file.writelines(held[i : i + WIDTH] + "\n" for i in range(0, whole, WIDTH))
                held = held[whole:]
            if held:
                file.write(held + "\n")

    def document(self, summary: DocumentSummary) -> None:
        """Documents have no regions."""
