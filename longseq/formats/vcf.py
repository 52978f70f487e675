"""VCF and BCF, row by row, each row kept as it stands (VCF 4.5; BCF through htslib).

Rows of text are cut at their tabs and nothing more: headers that lack contigs, filters or fields hide nothing, and
what is written again is the row that was read.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import open_bytes
from longseq.formats.raw import changed, marks
from longseq.records import Variant, coordinate

COLUMNS = ("CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
LONGEST_ROW, LONGEST_HEADER = 1 << 26, 1 << 25
"""Bytes of a row, which has a cell for each of maybe half a million samples, and of the header, which is held."""
A_LINE = 64
"""Bytes that a line of the header takes beside its letters."""


class VcfRow(NamedTuple):
    """One row: what it says, and its cells."""

    variant: Variant
    cells: list[str]
    line: int
    """1-based; of BCF, the row's number."""


class VcfFile:
    """A table of variants that can be walked several times; a pipe is spooled where TMPDIR says."""

    def __init__(self, source: str | Path):
        """Raises InputError: there is none, or it holds something else."""
        self.source = str(source)
        self.truncated = False
        """The file ended too early; known after a walk."""
        self._spool: str | None = None
        with open_bytes(source) as stream:
            start = stream.peek(1 << 12)
            self.binary = start.startswith(b"BCF\2")
            if not self.binary and not start.lstrip(b"\xef\xbb\xbf").startswith((b"##fileformat=VCF", b"#CHROM\t")):
                raise InputError(where=place(self.source), expected="VCF or BCF", found="something else")
            foreign = self.binary and stream.container not in ("bgzf", "plain")
            if foreign or not os.path.isfile(source):
                handle, self._spool = tempfile.mkstemp(prefix="longseq-", suffix=".bcf" if self.binary else ".vcf")
                try:
                    with open(handle, "wb") as file:
                        while piece := stream.read():
                            file.write(piece)
                except BaseException:
                    self.close()
                    raise
                self.truncated = stream.truncated
        self._path = self._spool or os.path.abspath(source)  # of htslib, a name may be an option or an address
        self._marks = self._now()
        self.header: list[str] = []
        """Lines that begin with `##`."""
        self.columns = ""
        """The line of the columns' names."""
        try:
            next(self._lines(), None)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._spool is not None:
            Path(self._spool).unlink(missing_ok=True)
            self._spool = None

    def __enter__(self) -> VcfFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self) -> Iterator[VcfRow]:
        """All rows, from the first.

        Raises:
            InputError: a row that is none, with its line.
        """
        for number, line in self._lines():
            cells = line.split("\t")
            if len(cells) < len(COLUMNS):
                raise self._wrong(number, f"the columns {' '.join(COLUMNS)}", f"{len(cells)} columns")
            record, position, name, ref, alts = cells[:5]
            place_of = coordinate(position)
            if place_of is None:
                raise self._wrong(number, "a position, a whole number", repr(position))
            found = () if alts == "." else tuple(alts.split(","))
            yield VcfRow(Variant(record=record, start=place_of - 1, ref=ref, alts=found, id=name), cells, number)

    def where(self, row: VcfRow) -> str:
        return place(self.source, row.line, row.variant.record)

    def _wrong(self, line: int, expected: str, found: str) -> InputError:
        return InputError(where=place(self.source, line), expected=expected, found=found)

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Rows behind the header, with their numbers; the header is put by on the way."""
        self._require_same()
        yield from self._binary_lines() if self.binary else self._text_lines()
        self._require_same()

    def _require_same(self) -> None:
        """Every walk is to see the same rows."""
        now = self._now()
        if now is not None and now != self._marks:
            raise changed(self.source)

    def _now(self) -> tuple[int, int] | None:
        """Of the file that is walked; None where there is none, which its reader says."""
        try:
            return marks(os.stat(self._path))
        except OSError:
            return None

    def _text_lines(self) -> Iterator[tuple[int, str]]:
        header: list[str] = []
        columns, held = "", 0
        with open_bytes(self._spool or self.source) as stream:  # whose errors name it as it was named
            text = Blocks(stream, READ_BLOCK)
            text.skip_mark()
            while True:
                number, data = text.line, text.readline(LONGEST_ROW)
                if data is None or (not text.whole_line and stream.truncated):
                    break  # a row that the end of the file cut is none
                line = data.decode("utf-8", "surrogateescape")
                if columns:
                    if line:
                        yield number, line
                elif line.startswith("##"):
                    header.append(line)
                    if (held := held + len(line) + A_LINE) > LONGEST_HEADER:
                        raise self._wrong(number, f"a header of at most {LONGEST_HEADER:,} bytes", "a longer one")
                elif line.startswith("#CHROM\t"):
                    columns = line
                    self.header, self.columns = header, columns
                else:
                    raise self._wrong(number, "the line of column names, '#CHROM' and so on", repr(line[:20]))
            self.truncated |= stream.truncated
        if not columns:
            raise self._wrong(text.line, "the line of column names, '#CHROM' and so on", "the end of the file")

    def _binary_lines(self) -> Iterator[tuple[int, str]]:
        import pysam

        spoken = pysam.set_verbosity(0)  # htslib would talk on stderr
        try:
            with pysam.VariantFile(self._path, "r") as file:
                lines = str(file.header).splitlines()
                self.header, self.columns = lines[:-1], lines[-1]
                for number, record in enumerate(file, 1):
                    yield number, str(record).rstrip("\n")
        except (OSError, ValueError) as error:
            if "truncated" not in str(error):
                raise InputError(f"cannot be read as BCF ({error})", where=place(self.source)) from None
            self.truncated = True
        finally:
            pysam.set_verbosity(spoken)
