"""GFF3 and GTF as they are read: a line's columns, and the sequences of a `##FASTA` part (Sequence Ontology, "Generic
Feature Format Version 3"). Features are made of lines by `longseq.formats.features`, written by `longseq.formats.gff3`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import ByteStream
from longseq.formats.fasta import records_below
from longseq.formats.header import decode
from longseq.formats.letters import OnUnknown
from longseq.records import Record

COLUMNS = (8, 9)
"""How many a line has: the attributes may be missing."""

_GFF3 = re.compile(r"\s*(\.?$|[^=;\"']+=)")
"""How the attributes of GFF3 begin; those of GTF are names and quoted values with a blank between."""
_REMEDY = "give the FASTA file; features are labels (labels.file of longseq train)"


class GffLine(NamedTuple):
    """A feature as it stands in its file; escapes of GFF3 (`%3B`) are read as what they stand for, GTF knows none."""

    record: str
    source: str
    kind: str
    start: str
    """1-based; whether it is a number is not asked here."""
    end: str
    """Closed."""
    score: str
    strand: str
    phase: str
    attributes: Mapping[str, tuple[str, ...]]
    """Values of each attribute of GFF3; of GTF none."""

    def says(self, name: str, value: str | None = None) -> bool:
        """Whether an attribute has the value, or any; case is not looked at."""
        for key, values in self.attributes.items():
            if key.lower() == name and (value is None or value in map(str.lower, values)):
                return True
        return False

    @property
    def circular(self) -> bool:
        return self.says("is_circular", "true")


def gff_line(cells: Sequence[str]) -> GffLine:
    """The eight or nine columns of a line."""
    columns, attributes = cells[:8], cells[8] if len(cells) > 8 else ""
    if not _GFF3.match(attributes):
        return GffLine(*columns, {})  # type: ignore[arg-type, call-arg]
    found: dict[str, list[str]] = {}
    for pair in attributes.split(";"):
        name, sign, values = pair.partition("=")
        if sign:
            several = found.setdefault(_unescaped(name.strip()), [])
            several += (_unescaped(value.strip()) for value in values.split(","))
    told = {name: tuple(several) for name, several in found.items()}
    return GffLine(*map(_unescaped, columns), told)  # type: ignore[arg-type, call-arg]


def _unescaped(text: str) -> str:
    return decode(unquote_to_bytes(text)) if "%" in text else text


def records(stream: ByteStream, *, on_unknown: OnUnknown = "error", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """Records of the `##FASTA` part, as `longseq.formats.fasta` reads them; those with a circular landmark say so.

    Raises:
        InputError: no such part.
    """
    text, circular = Blocks(stream, read_block), set[str]()
    text.skip_mark()
    while (data := text.readline()) is not None:
        if data.startswith(b"##FASTA"):
            break
        if b"Is_circular" in data and not data.startswith(b"#"):
            cells = [decode(cell).strip() for cell in data.split(b"\t")]
            if len(cells) == max(COLUMNS) and (line := gff_line(cells)).circular:
                circular.add(line.record)
    else:
        raise InputError(
            where=place(stream.source), expected="sequences (a ##FASTA part)", found="features alone", remedy=_REMEDY
        )
    yield from records_below(text, on_unknown, circular, _REMEDY)
