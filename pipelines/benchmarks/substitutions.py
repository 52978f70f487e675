"""Single substitutions in annotated genes, drawn and told by Markov models: material of variants.py.

From each complete, non-pseudo CDS, for the first and the third base of codons, one triple is drawn: a synonymous, a
missense and a nonsense substitution of that gene and that codon position. (At the second base none is synonymous.)
Start and stop codons are left alone. Stops are rich in A and T, so that in a genome that is too a nonsense change looks
likely by its composition alone; triples of the second design are of one change of base as well, C to A say.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.formats.genetic_code import GeneticCode
from longseq.metrics.classes import auroc
from longseq.metrics.markov import StaticMarkov
from longseq.records import reverse_complement
from longseq.tokens import DnaTokenizer

KINDS = ("synonymous", "missense", "nonsense")
DESIGNS = {"gene and codon position": False, "gene, codon position and change of base": True}
"""What the three of a triple have in common; whether that is the change of base too."""
POSITIONS = (1, 3)
"""Of the base in its codon, from 1."""
HELD_OUT = slice(1, None, 5)
"""Of contigs by falling length: every fifth, from the second."""
ORDERS = range(2, 13)
RESAMPLES = 2_000


class Change(NamedTuple):
    """One substitution, told on the forward strand."""

    record: str
    start: int
    """0-based."""
    ref: str
    alt: str
    kind: str
    position: int
    gene: int


class Gene(NamedTuple):
    record: str
    start: int
    end: int
    strand: str
    codons: tuple[str, ...]
    """In reading direction."""


class Genome(NamedTuple):
    """Contigs in the order of the file, capitals, and which of them nothing is learned from."""

    contigs: dict[str, bytes]
    held_out: frozenset[str]
    genes: list[Gene]
    """Of the contigs held out."""


def genome(file: Path, code: GeneticCode) -> Genome:
    """A GenBank file's contigs and the genes that triples are drawn from."""
    from Bio import SeqIO

    with gzip.open(file, "rt") as text:
        records = list(SeqIO.parse(text, "genbank"))
    contigs = {record.id: bytes(record.seq).upper() for record in records}
    held = frozenset(sorted(contigs, key=lambda name: -len(contigs[name]))[HELD_OUT])
    genes = [gene for record in records if record.id in held for gene in _genes(record, contigs[record.id], code)]
    return Genome(contigs, held, genes)


def _genes(record, letters: bytes, code: GeneticCode) -> Iterator[Gene]:
    """Complete ones in one part, without /pseudo, from a start to the only stop."""
    for feature in record.features:
        marks = feature.qualifiers.keys() & {"pseudo", "pseudogene", "ribosomal_slippage"}
        if feature.type != "CDS" or marks or len(feature.location.parts) > 1:
            continue
        if any(mark in str(feature.location) for mark in "<>") or len(feature.location) % 3:
            continue
        start, end = int(feature.location.start), int(feature.location.end)
        strand = "+" if feature.location.strand == 1 else "-"
        text = letters[start:end] if strand == "+" else reverse_complement(letters[start:end])
        codons = tuple(text[i : i + 3].decode() for i in range(0, len(text), 3))
        stops = [codon in code.stops for codon in codons]
        if codons[0] in code.starts and stops[-1] and sum(stops) == 1 and set(text) <= set(b"ACGT"):
            yield Gene(record.id, start, end, strand, codons)


def triples(genes: Sequence[Gene], code: GeneticCode, seed: int, *, same_base: bool) -> Iterator[Change]:
    """For each gene and position one change of each kind, of genes and positions that have all three; `same_base`: all
    three of one change of base in reading direction, drawn from those that allow it."""
    draw = np.random.default_rng(seed)
    for number, gene in enumerate(genes):
        for position in POSITIONS:
            pools: dict[str, dict[str, list[tuple[int, str]]]] = {}
            for i, codon in enumerate(gene.codons[1:-1], 1):
                for base in "ACGT":
                    other = codon[: position - 1] + base + codon[position:]
                    if base != codon[position - 1]:
                        pool = pools.setdefault(codon[position - 1] + base if same_base else "", {})
                        pool.setdefault(_kind(code, codon, other), []).append((3 * i + position - 1, base))
            whole = [pool for _, pool in sorted(pools.items()) if len(pool) == len(KINDS)]
            if not whole:
                continue
            found = whole[draw.integers(len(whole))]
            for kind in KINDS:
                yield _change(gene, *found[kind][draw.integers(len(found[kind]))], kind, position, number)


def _kind(code: GeneticCode, codon: str, other: str) -> str:
    if other in code.stops:
        return "nonsense"
    return "synonymous" if code.amino_acids[codon] == code.amino_acids[other] else "missense"


def _change(gene: Gene, at: int, base: str, kind: str, position: int, number: int) -> Change:
    ref = gene.codons[at // 3][at % 3]
    if gene.strand == "+":
        return Change(gene.record, gene.start + at, ref, base, kind, position, number)
    ref, base = (reverse_complement(letter.encode()).decode() for letter in (ref, base))
    return Change(gene.record, gene.end - 1 - at, ref, base, kind, position, number)


def write_vcf(changes: Sequence[Change], file: Path) -> list[Change]:
    """A row a change, by record and place; the changes in the order of the rows."""
    ordered = sorted(changes, key=lambda change: (change.record, change.start))
    rows = (f"{c.record}\t{c.start + 1}\t{c.kind}\t{c.ref}\t{c.alt}\t.\t.\t." for c in ordered)
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    file.write_text(head + "".join(row + "\n" for row in rows), encoding="ascii")
    return ordered


class Windows(NamedTuple):
    """Codes of each change's four windows, those of one after another: alternative, reference, on either strand."""

    codes: list[np.ndarray]

    @classmethod
    def around(cls, changes: Sequence[Change], contigs: dict[str, bytes], context: int) -> Windows:
        encode, codes = DnaTokenizer().encode, []
        for change in changes:
            letters, at = contigs[change.record], change.start
            left, right = letters[max(at - context, 0) : at], letters[at + 1 : at + 1 + context]
            for base in (change.alt, change.ref):
                window = left + base.encode() + right
                codes += [encode(window)[0], encode(reverse_complement(window))[0]]
        return cls(codes)

    def ratios(self, bits: Sequence[np.ndarray]) -> np.ndarray:
        """(N,) mean of both strands of the log-likelihood ratio, alternative minus reference, in nats."""
        sums = np.array([np.nansum(each, dtype=np.float64) for each in bits]).reshape(-1, 2, 2)
        return (sums[:, 1] - sums[:, 0]).mean(1) * np.log(2)


def markov_ratios(changes: Sequence[Change], genome: Genome) -> dict[int, np.ndarray]:
    """Of each order, trained on both strands of all contigs that are not held out, the ratios (N,) of changes."""
    encode = DnaTokenizer().encode
    learned = [encode(letters)[0] for name, letters in genome.contigs.items() if name not in genome.held_out]
    windows = Windows.around(changes, genome.contigs, 2 * max(ORDERS))
    apart = np.full(max(ORDERS), 4, np.uint8)  # a context does not reach over it
    joined = np.concatenate([part for codes in windows.codes for part in (codes, apart)])
    ends = np.cumsum([len(codes) + len(apart) for codes in windows.codes])
    found = {}
    for order in ORDERS:
        model = StaticMarkov(order)
        for codes in learned:
            model.train([codes])
        bits = np.split(next(model.bits([joined])), ends[:-1])
        found[order] = windows.ratios(bits)
    return found


def separation(ratios: np.ndarray, kinds: np.ndarray) -> float:
    """AUROC: how often a synonymous change (`kinds` is 0) has a higher ratio than a nonsense one (2)."""
    asked = kinds != 1
    return auroc(kinds[asked] == 0, ratios[asked])


def medians(ratios: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """(3,) of the ratios of each kind."""
    return np.array([np.median(ratios[kinds == i]) for i in range(len(KINDS))])


def resampled(
    figure: Callable[..., np.ndarray | float], changes: Sequence[Change], *columns: np.ndarray
) -> list[list[float]]:
    """Values (F,) of a figure, low and high ends of their intervals of 95 %: resamples of genes with all they have.

    `figure` gets the columns (N,) and the kinds (N,) as numbers.
    """
    kinds = np.array([KINDS.index(change.kind) for change in changes])
    _, gene = np.unique([change.gene for change in changes], return_inverse=True)
    rows = [np.flatnonzero(gene == i) for i in range(gene.max() + 1)]
    draw, found = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([rows[i] for i in draw.integers(len(rows), size=len(rows))])
        found.append(figure(*(column[drawn] for column in columns), kinds[drawn]))
    ends = np.quantile(np.array(found), [0.025, 0.975], axis=0)
    return [np.atleast_1d(value).tolist() for value in (figure(*columns, kinds), *ends)]


def figures(ratios: np.ndarray, changes: Sequence[Change]) -> dict:
    """Medians by kind and the AUROC with intervals; the AUROC at each codon position."""
    kinds = np.array([KINDS.index(change.kind) for change in changes])
    position = np.array([change.position for change in changes])
    of_kinds = zip(KINDS, *resampled(medians, changes, ratios), strict=True)
    return {
        "medians": {kind: list(interval) for kind, *interval in of_kinds},
        "AUROC": [value for (value,) in resampled(separation, changes, ratios)],
        "AUROC by codon position": {str(p): separation(ratios[position == p], kinds[position == p]) for p in POSITIONS},
    }
