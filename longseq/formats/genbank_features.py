"""The feature table of GenBank flat files: key, strand and stretches of each feature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from longseq.errors import InputError, place
from longseq.formats.blocks import Blocks
from longseq.formats.header import decode
from longseq.formats.locations import located

_PSEUDO = re.compile(rb"/pseudo(gene=.*)?\s*$")
_CODON_START = re.compile(rb"/codon_start=([123])\b")


class Stretch(NamedTuple):
    line: int
    """1-based, of the feature's first line."""
    record: str
    """ACCESSION.VERSION, or the accession, or the name of the first line."""
    start: int
    """0-based."""
    end: int
    strand: Literal["+", "-"]
    key: str
    codon: int | None
    """Of a CDS: position in its codon, 0 to 2, of the base that is read first; None where that is not known."""
    pseudo: bool
    partial: bool


class _Feature:
    """One feature while its lines are read."""

    def __init__(self, key: str, location: str, line: int):
        self.key, self.location, self.line = key, location, line
        self.located, self.pseudo, self.codon_start = False, False, 1

    def add(self, data: bytes) -> None:
        """A line below the first: more of the location, or of the qualifiers."""
        if data.startswith(b"/"):
            self.located = True
            self.pseudo |= _PSEUDO.match(data) is not None
            if found := _CODON_START.match(data):
                self.codon_start = int(found[1])
        elif not self.located:
            self.location += decode(data).strip()


def stretches(text: Blocks) -> Iterator[Stretch]:
    """Those of every feature, one for each part of a joined one; parts on other records are left out.

    Raises:
        InputError: a location that cannot be read.
    """
    source, record, inside = text.stream.source, "", False
    feature: _Feature | None = None
    while (data := text.readline()) is not None:
        line = text.line - (1 if text.whole_line else 0)
        continued = inside and data.startswith(b" " * 21)
        if feature and not continued:
            yield from _parts(feature, record, source)
            feature = None
        words = data.split()
        if data.startswith(b"LOCUS ") and len(words) > 1:
            record, inside = decode(words[1]), False
        elif data.startswith((b"ACCESSION ", b"VERSION ")) and len(words) > 1:
            record = decode(words[1])
        elif data.startswith(b"FEATURES"):
            inside = True
        elif feature:
            feature.add(data[21:])
        elif inside and not continued and data.startswith(b"     ") and len(words) > 1:
            feature = _Feature(decode(words[0]), decode(b"".join(words[1:])), line)
        elif data[:1].strip():
            inside = False
    if feature:
        yield from _parts(feature, record, source)


def _parts(feature: _Feature, record: str, source: str) -> Iterator[Stretch]:
    try:
        location = located("".join(feature.location.split()))
    except ValueError:
        raise InputError(
            where=place(source, feature.line),
            expected=f"a location of {feature.key}, 1 <= start <= end",
            found=repr(feature.location),
        ) from None
    codons: list[int | None] = [None] * len(location.parts)
    if feature.key == "CDS" and location.whole:
        at = 1 - feature.codon_start
        for i in location.read:
            codons[i] = at % 3
            at += location.parts[i][1] - location.parts[i][0]
    partial = "<" in feature.location or ">" in feature.location
    for (start, end, strand), codon in zip(location.parts, codons, strict=True):
        yield Stretch(feature.line, record, start, end, strand, feature.key, codon, feature.pseudo, partial)
