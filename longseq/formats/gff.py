"""GFF3: what a landmark says of its record, and the sequences of a `##FASTA` part (Sequence Ontology, "Generic Feature
Format Version 3"). Other features are read by `longseq.formats.features`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK, Blocks
from longseq.formats.containers import ByteStream
from longseq.formats.fasta import records_below
from longseq.formats.header import decode
from longseq.formats.letters import OnUnknown
from longseq.records import Record

_CIRCULAR = re.compile(r"(^|;)\s*Is_circular=true\b", re.IGNORECASE)
_REMEDY = "give the FASTA file; features are labels (labels.file of longseq train)"


def is_circular(attributes: str) -> bool:
    """Whether the ninth column says `Is_circular=true`."""
    return _CIRCULAR.search(attributes) is not None


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
            cells = data.split(b"\t")
            if len(cells) == 9 and is_circular(decode(cells[8])):
                circular.add(decode(cells[0]))
    else:
        raise InputError(
            where=place(stream.source), expected="sequences (a ##FASTA part)", found="features alone", remedy=_REMEDY
        )
    yield from records_below(text, on_unknown, circular, _REMEDY)
