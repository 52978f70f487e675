"""VCF out: plain, or through bgzip with a tabix index beside it; whole or not at all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from longseq.formats.atomic import free_file, write_aside
from longseq.formats.vcf import VcfFile
from longseq.records import coordinate

log = logging.getLogger("longseq")

LONGEST_TBI = 1 << 29
"""Bases that a .tbi index can speak of; a .csi index is written for more."""


class LineWriter:
    """Lines into anything that takes bytes; knows whether the rows are in an order that can be indexed."""

    def __init__(self, write: Callable[[bytes], object]):
        self._write = write
        self.ordered, self.furthest = True, 0
        self._records: set[str] = set()
        self._last = ("", 0)

    def header(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._line(line)

    def row(self, cells: list[str]) -> None:
        self._line("\t".join(cells))
        record, position = cells[0], coordinate(cells[1]) or 0
        if record != self._last[0]:
            self.ordered &= record not in self._records
            self._records.add(record)
        else:
            self.ordered &= position >= self._last[1]
        self._last = record, position
        self.furthest = max(self.furthest, position + len(cells[3]))

    def _line(self, line: str) -> None:
        self._write((line + "\n").encode("utf-8", "surrogateescape"))


def indexes(path: str | Path) -> tuple[Path, ...]:
    """Files that may stand beside a VCF of this name as its index."""
    return tuple(Path(f"{path}{suffix}") for suffix in (".tbi", ".csi")) if is_packed(path) else ()


def is_packed(path: str | Path) -> bool:
    """Whether a VCF of this name is written through bgzip."""
    return str(path).endswith((".gz", ".bgz"))


@contextmanager
def vcf_output(path: str | Path, *, force: bool = False) -> Iterator[LineWriter]:
    """A writer of the VCF at `path`; `.gz` and `.bgz` go through bgzip and get an index where their rows are in order.

    Raises:
        OutputExistsError, UsageError: as `write_aside` does.
    """
    for index in indexes(path):
        free_file(index, force=force, given=False)
    with ExitStack() as late, write_aside(path, force=force) as aside:
        if not is_packed(path):
            with open(aside, "wb") as file:
                yield LineWriter(file.write)
            return
        import pysam

        with pysam.BGZFile(str(aside), "wb") as packed:
            writer = LineWriter(packed.write)
            yield writer
        if not writer.ordered:
            log.warning("%s: its rows are not in order, so it gets no index; bcftools sort puts them in order", path)
        elif not _indexed(path, aside, writer.furthest, late, force=force):
            said = "%s: gets no index: a row lies past what one can speak of, or there is no room for it"
            log.warning(said, path)
        for stale in indexes(path):
            stale.unlink(missing_ok=True)  # of the file that is replaced, now that all is there that replaces it


def complete(path: str | Path) -> None:
    """Give a packed VCF the index that it was to get, where a run was killed just before that."""
    if not is_packed(path) or any(index.exists() for index in indexes(path)):
        return
    with VcfFile(path) as table, ExitStack() as late:
        furthest = max((row.variant.start + 1 + len(row.variant.ref) for row in table.rows()), default=0)
        _indexed(path, Path(path), furthest, late, force=False)  # rows in no order get none


class _NoIndexError(Exception):
    pass


def _indexed(path: str | Path, aside: Path, furthest: int, late: ExitStack, *, force: bool) -> bool:
    """Whether there is an index of the file `aside`, which takes its name as `late` ends.

    After the file has taken its own: the other way round a killed run would leave the old file with the new index.
    """
    import pysam

    tbi, csi = indexes(path)
    spoken = pysam.set_verbosity(0)  # htslib would talk on stderr, of a row at 0
    try:
        # An INFO/END may be farther out than any row.
        for name in (csi,) if furthest >= LONGEST_TBI else (tbi, csi):
            with suppress(_NoIndexError), ExitStack() as made:
                index = made.enter_context(write_aside(name, force=force, given=False))
                try:
                    pysam.tabix_index(str(aside), preset="vcf", index=str(index), force=True, csi=name == csi)
                except OSError:
                    raise _NoIndexError from None
                late.enter_context(made.pop_all())
                return True
    finally:
        pysam.set_verbosity(spoken)
    return False
