"""What the `genes` model learns from: training_data.py OUT writes OUT/train.fa and OUT/train.gff3.

The folder of data is taken from LONGSEQ_DATA. See README.md beside this file.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from genome import Contig, annotated, by_length, called, cut
from recode import random_letters, recoded, spread

from longseq.formats.gff3 import Gff3Writer
from longseq.records import Interval

SEED = 0
TEST, TUNING, EVERY = 1, 3, 5
"""Every fifth contig by length is held out: from the second for the benchmark, from the fourth to choose settings."""
STRETCH = 1_300_000
"""Bases taken of a genome as it is."""
PIECE = 400_000
"""Bases written anew at a time."""
CALLED = {
    "ecoli": "Ecoli_K12_MG1655.fasta.gz",
    "vcholerae": "Vcholerae_N16961.fasta.gz",
    "hpylori": "Hpylori_G27.fasta.gz",
    "saureus": "Saureus_NCTC8325.fasta.gz",
    "kpneumoniae": "Kpneumoniae_Klebs_HS11286.fna.xz",
}
SHARES = (0.28, 0.31, 0.34, 0.38, 0.42, 0.46, 0.50, 0.54, 0.58, 0.61, 0.64, 0.66, 0.68, 0.70, 0.72)
"""Shares of G and C in genes written anew."""
MYCOPLASMA = (0.25, 0.29, 0.34)
"""The same in the genetic code of mycoplasmas."""
RANDOM = 40_000
"""Bases of random sequence of each of the shares."""


def leptospira(data: Path) -> tuple[list[Contig], list[Contig], list[Contig]]:
    """Contigs to learn from, those to choose settings by, and those of the benchmark."""
    contigs = by_length(annotated(data / "Lkirschneri_H1.gbk.gz"))
    test, tuning = contigs[TEST::EVERY], contigs[TUNING::EVERY]
    learned = [contig for i, contig in enumerate(contigs) if i % EVERY not in (TEST, TUNING)]
    return learned, tuning, test


def mycoplasma(data: Path) -> tuple[list[Contig], list[Contig]]:
    """Contigs to learn from, and every second one of those over 10 kb, from the second: for the benchmark."""
    contigs = by_length(annotated(data / "Mmycoides_Afade.gbff.gz"))
    test = [contig for contig in contigs if len(contig.letters) > 10_000][1::2]
    return [contig for contig in contigs if contig not in test], test


def training(data: Path, draw: np.random.Generator) -> list[Contig]:
    learned, _, _ = leptospira(data)
    found = [replace(contig, name=f"leptospira.{contig.name}") for contig in learned]
    found += [replace(contig, name=f"mycoplasma.{contig.name}") for contig in mycoplasma(data)[0]]
    found += [replace(contig, name=f"T4.{contig.name}") for contig in annotated(data / "phage_T4.gbff.gz")]
    genomes = {name: by_length(called(data / file)) for name, file in CALLED.items()}
    for name, contigs in genomes.items():
        found.append(_drawn(contigs[0], STRETCH, name, draw))
    sources = [*((name, contigs[0]) for name, contigs in genomes.items()), ("leptospira", learned[0])]
    pieces = []
    for i, share in enumerate(SHARES):
        name, source = sources[i % len(sources)]
        pieces.append((name, source, share, 11))
    pieces += [("saureus", genomes["saureus"][0], share, 4) for share in MYCOPLASMA]
    for i, (name, source, share, code) in enumerate(pieces):
        stretch = _drawn(source, PIECE, f"{name}.{i}.gc{share:.2f}.code{code}", draw)
        written = recoded(stretch, name=stretch.name, gc=share, code=code, draw=draw)
        found.append(spread(written, draw))
        letters = random_letters(written.letters, RANDOM, draw)
        found.append(Contig(name=f"random.{written.name}", letters=letters))
    return found


def _drawn(contig: Contig, length: int, name: str, draw: np.random.Generator) -> Contig:
    """A stretch of the contig, from a place drawn at random."""
    length = min(length, len(contig.letters))
    start = int(draw.integers(len(contig.letters) - length + 1))
    return cut(contig, start, start + length, name)


def write(contigs: list[Contig], folder: Path) -> None:
    """`train.fa` and `train.gff3`; what is not sure is written as a pseudogene."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "train.fa", "wb") as fasta, open(folder / "train.gff3", "w", encoding="utf-8") as features:
        writer = Gff3Writer(features, "training")
        for contig in contigs:
            fasta.write(b">" + contig.name.encode() + b"\n" + contig.letters + b"\n")
            writer.record(contig.name, len(contig.letters))
            for number, part in enumerate(contig.parts, 1):
                place = Interval(record=contig.name, start=part.start, end=part.end, strand=part.strand)
                attributes = {"ID": f"{contig.name}_{number}"} | ({} if part.sure else {"pseudo": "true"})
                phase = (0, 2, 1)[part.codon]
                writer.write(place, "CDS", phase=phase, attributes=attributes)  # type: ignore[arg-type]


def main() -> None:
    if len(sys.argv) != 2 or "LONGSEQ_DATA" not in os.environ:
        sys.exit("usage: LONGSEQ_DATA=/path/to/data training_data.py OUT")
    contigs = training(Path(os.environ["LONGSEQ_DATA"]) / "dna", np.random.default_rng(SEED))
    write(contigs, Path(sys.argv[1]))
    print(f"{len(contigs)} records, {sum(len(contig.letters) for contig in contigs):,} bases")


if __name__ == "__main__":
    main()
