"""Genomes with their coding stretches, from annotation or, where there is none, from pyrodigal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from longseq.formats import read
from longseq.formats.features import read_features
from longseq.records import reverse_complement

SURE, LONG = 95.0, 150
"""A gene of pyrodigal of less confidence (percent) or of fewer bases is neither background nor to be learnt."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A stretch of coding sequence, `[start, end)`."""

    start: int
    end: int
    strand: Literal["+", "-"]
    codon: int = 0
    """Position in its codon of the base that is read first."""
    sure: bool = True
    """Not a pseudogene, and not a doubtful call."""
    whole: bool = True
    """A gene of its own from its start to its stop."""


@dataclass(frozen=True, kw_only=True)
class Contig:
    name: str
    letters: bytes
    """Upper case."""
    parts: tuple[Part, ...] = field(default=())


def annotated(path: Path, key: str = "CDS") -> list[Contig]:
    """Records of a GenBank file with their coding sequences."""
    found: dict[str, dict[int, list]] = {}
    for feature in read_features(path):
        if feature.name == key:
            found.setdefault(feature.interval.record, {}).setdefault(feature.line, []).append(feature)
    contigs = []
    for name, letters in _records(path):
        parts = []
        for pieces in found.get(name, {}).values():
            for feature in pieces:
                place, known = feature.interval, feature.codon is not None
                whole = len(pieces) == 1 and known and not (feature.partial or feature.pseudo or feature.codon)
                strand: Literal["+", "-"] = "-" if place.strand == "-" else "+"
                parts.append(
                    Part(
                        start=place.start,
                        end=place.end,
                        strand=strand,
                        codon=feature.codon or 0,
                        sure=known and not feature.pseudo,
                        whole=whole and len(place) % 3 == 0,
                    )
                )
        contigs.append(Contig(name=name, letters=letters, parts=tuple(parts)))
    return contigs


def called(path: Path, code: int = 11) -> list[Contig]:
    """Records of a FASTA file with what pyrodigal, trained on them all, calls."""
    from pyrodigal import GeneFinder

    records = _records(path)
    finder = GeneFinder()
    finder.train(*[letters for _, letters in records], translation_table=code)
    contigs = []
    for name, letters in records:
        parts = []
        for gene in finder.find_genes(letters):
            start, end = gene.begin - 1, gene.end
            open_ = gene.partial_begin or gene.partial_end
            sure = gene.confidence() >= SURE and end - start >= LONG and not open_
            strand: Literal["+", "-"] = "+" if gene.strand == 1 else "-"
            parts.append(Part(start=start, end=end, strand=strand, sure=sure, whole=sure))
        contigs.append(Contig(name=name, letters=letters, parts=tuple(parts)))
    return contigs


def _records(path: Path) -> list[tuple[str, bytes]]:
    found = []
    with read(path) as reading:
        for record in reading:
            found.append((record.id, b"".join(record.pieces).upper()))  # type: ignore[arg-type]
    return found


def by_length(contigs: list[Contig]) -> list[Contig]:
    """The longest first; of equal ones by name."""
    return sorted(contigs, key=lambda contig: (-len(contig.letters), contig.name))


def cut(contig: Contig, start: int, end: int, name: str) -> Contig:
    """A stretch of a contig with the parts in it, those at its ends cut."""
    parts = []
    for part in contig.parts:
        a, b = max(part.start, start), min(part.end, end)
        if a < b:
            lost = a - part.start if part.strand == "+" else part.end - b
            whole = part.whole and (a, b) == (part.start, part.end)
            codon = (part.codon + lost) % 3
            parts.append(replace(part, start=a - start, end=b - start, codon=codon, whole=whole))
    return Contig(name=name, letters=contig.letters[start:end], parts=tuple(parts))


def reading(contig: Contig, part: Part) -> bytes:
    """Letters of a part in reading direction."""
    letters = contig.letters[part.start : part.end]
    return letters if part.strand == "+" else reverse_complement(letters)
