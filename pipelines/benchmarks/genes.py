"""Genes of prokaryotes: `annotate --genes` beside pyrodigal and k-mers, on contigs that nothing learned from.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/genes.py [--genome FILE CODE ...]

Leptospira kirschneri H1: every fifth contig by length, from the second; the others taught `genes`. Counted are complete
CDS that are not pseudogenes, by their 3' ends and by both ends; precision leaves out calls that lie in pseudogenes and
partial genes by half, which have rows of their own; an overlapping pair is two neighbours with a base in common. Bases
and windows in pseudogenes are not asked. Windows: those of a grid of 300 bases that are intergenic, + or - throughout,
by what most bases are called. Mycoplasma mycoides (code 4): every second contig over 10 kb. Random sequence: 1 Mb of
the order-3 frequencies of a genome, both strands alike. pyrodigal is trained on the whole genome, contigs of the test
included; ours learns starts and codons from its own calls on the test contigs alone (`--mixed`: from none). Logistic
regression: codon counts in six frames of windows of the training contigs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from gene_figures import WINDOW, Call, Truth, balanced, counts, differences, figures, pure_windows
from provenance import provenance

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models" / "genes"))

from genome import Contig, annotated
from recode import random_letters
from training_data import leptospira, mycoplasma

from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.genetic_code import genetic_code
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import load
from longseq.records import reverse_complement
from longseq.streaming.classes import ClassReader
from longseq.tasks.annotate.finder import GeneFinder

RANDOM = 1_000_000
"""Bases of random sequence."""
SEEDS = {"L. kirschneri": (0,), "K. pneumoniae": (0,)}
"""Of random sequence, by the genome that it is like."""
FIGURES = {
    "recall_3": "3' exact recall",
    "precision": "precision",
    "recall_5": "both ends exact",
    "pairs": "overlapping pairs",
    "coding_f1": "coding F1",
    "strand_f1": "strand F1",
    "windows": "300 bp windows",
    "pseudo": "pseudogenes called",
    "partial": "partial genes called",
}
SECTION = "## Measured"
"""Heading of the section of a model card that is written here."""
OURS, ALONE, THEIRS = "longseq", "longseq --mixed", "pyrodigal"

Caller = Callable[[list[Contig]], dict[str, list[list[Call]]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="genes")
    parser.add_argument("--genome", nargs=2, action="append", default=[], metavar=("FILE", "CODE"))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--card", type=Path, help="model card that gets the tables as its last section")
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("genes.py: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    data = Path(os.environ["LONGSEQ_DATA"]) / "dna"
    checkpoint = load(options.model)
    reader = ClassReader(checkpoint)
    document: dict = {"benchmark": "genes", "model_sha256": checkpoint.sha256, "sets": [], "random": []}

    def measure(name: str, contigs: list[Contig], whole: list[Contig], code: int) -> None:
        started = time.monotonic()
        called = ours(reader, contigs, code)
        seconds = time.monotonic() - started
        called |= pyrodigal(contigs, [contig.letters for contig in whole], code)
        document["sets"].append(row(name, contigs, called, seconds))
        print(document["sets"][-1], flush=True)
        document["provenance"] = provenance()
        write_json(options.out, document, force=True)

    learned, tuning, test = leptospira(data)
    measure("Leptospira, held-out contigs", test, learned + tuning + test, 11)
    document["sets"][-1]["windows_by_kmers"] = kmers(learned + tuning, test)
    some, others = mycoplasma(data)
    measure("Mycoplasma mycoides, held-out contigs, code 4", others, some + others, 4)
    for file, code in options.genome:
        whole = annotated(Path(file))
        measure(Path(file).name.split(".")[0], whole, whole, int(code))
    for name, like in (("L. kirschneri", learned + tuning + test), ("K. pneumoniae", None)):
        letters = [contig.letters for contig in like] if like else plain(data / "Kpneumoniae_Klebs_HS11286.fna.xz")
        for seed in SEEDS[name]:
            text = random_letters(max(letters, key=len), RANDOM, np.random.default_rng(seed))
            contigs = [Contig(name="random", letters=text)]
            found = ours(reader, contigs, 11) | pyrodigal(contigs, letters, 11)
            number = {caller: len(calls[0]) for caller, calls in found.items()}
            document["random"].append({"like": name, "seed": seed, "bases": RANDOM, "genes": number})
            print(document["random"][-1], flush=True)
    document["provenance"] = provenance()
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")
    if options.card:
        facts = options.card.read_text(encoding="utf-8").partition(SECTION)[0].rstrip("\n")
        body = markdown(document).partition("\n")[2].replace("\n## ", "\n### ")
        with write_aside(options.card, force=True) as aside:
            aside.write_text(f"{facts}\n\n{SECTION}\n{body}", encoding="utf-8")


def plain(path: Path) -> list[bytes]:
    with read(path) as reading:
        return [b"".join(record.pieces).upper() for record in reading]  # type: ignore[arg-type]


def ours(reader: ClassReader, contigs: list[Contig], code: int) -> dict[str, list[list[Call]]]:
    found = {}
    with GeneFinder(reader, genetic_code(code)) as finder:
        for contig in contigs:
            finder.add(contig.name, contig.letters)
        for name, mixed in ((OURS, False), (ALONE, True)):
            answers = list(finder.find(mixed=mixed))
            found[name] = [[Call(g.start, g.end, g.strand) for g in answer.genes] for answer in answers]
    return found


def pyrodigal(contigs: list[Contig], whole: list[bytes], code: int) -> dict[str, list[list[Call]]]:
    """Nothing where it is not installed."""
    try:
        from pyrodigal import GeneFinder as Pyrodigal
    except ImportError:
        return {}
    finder = Pyrodigal()
    finder.train(*whole, translation_table=code)
    return {
        THEIRS: [
            [Call(g.begin - 1, g.end, "+" if g.strand == 1 else "-") for g in finder.find_genes(contig.letters)]
            for contig in contigs
        ]
    }


def truth_of(contig: Contig) -> Truth:
    complete, partial, pseudo = [], [], []
    for part in contig.parts:
        call = Call(part.start, part.end, part.strand)
        (complete if part.whole else partial if part.sure else pseudo).append(call)
    return Truth(len(contig.letters), complete, partial, pseudo)


def row(name: str, contigs: list[Contig], called: dict[str, list[list[Call]]], seconds: float) -> dict:
    truths = [truth_of(contig) for contig in contigs]
    rows = {
        caller: [counts(truth, calls) for truth, calls in zip(truths, found, strict=True)]
        for caller, found in called.items()
    }
    lists = {part: sum(len(getattr(truth, part)) for truth in truths) for part in ("complete", "partial", "pseudo")}
    bases = sum(truth.length for truth in truths)
    found: dict = {"name": name, "contigs": len(contigs), "bases": bases, "genes": lists, "seconds": seconds}
    found["figures"] = {caller: figures(some) for caller, some in rows.items()}
    if THEIRS in rows:
        found["difference"] = differences(rows[OURS], rows[THEIRS])
    return found


def kmers(learned: list[Contig], test: list[Contig]) -> float:
    """Balanced accuracy of logistic regression on codon counts in six frames."""
    from sklearn.linear_model import LogisticRegression

    (x, y), (tx, ty) = (windows(some) for some in (learned, test))
    mean, scale = x.mean(0), x.std(0) + 1e-9
    model = LogisticRegression(max_iter=300, C=0.01, class_weight="balanced").fit((x - mean) / scale, y)
    table = np.zeros((3, 3), int)
    np.add.at(table, (ty, model.predict((tx - mean) / scale)), 1)
    return balanced(table)


def windows(contigs: list[Contig]) -> tuple[np.ndarray, np.ndarray]:
    digit = np.zeros(256, np.int64)
    digit[list(b"CGT")] = 1, 2, 3
    rows, kinds = [], []
    for contig in contigs:
        starts, found = pure_windows(truth_of(contig))
        for start in starts.tolist():
            letters = contig.letters[start : start + WINDOW]
            codons = []
            for text in (letters, reverse_complement(letters)):
                d = digit[np.frombuffer(text, np.uint8)]
                word = d[:-2] * 16 + d[1:-1] * 4 + d[2:]
                codons += [np.bincount(word[frame::3], minlength=64) for frame in range(3)]
            rows.append(np.concatenate(codons))
        kinds.append(found)
    return np.array(rows, float), np.concatenate(kinds)


def markdown(document: dict) -> str:
    text = ["# genes", "", *__doc__.strip().split("\n\n")[-1].splitlines(), ""]
    for found in document["sets"]:
        lists = ", ".join(f"{number:,} {name}" for name, number in found["genes"].items())
        title = f"{found['name']}: {found['contigs']} contigs, {found['bases']:,} bases, CDS: {lists}"
        text += [f"## {title}", ""]
        callers = list(found["figures"])
        rows = []
        for key, words in FIGURES.items():
            cells = [f"{found['figures'][caller][key]:.4f}" for caller in callers]
            if "difference" in found:
                middle, low, high = found["difference"][key]
                cells.append(f"{middle:+.4f} ({low:+.4f} to {high:+.4f})")
            rows.append([words, *cells])
        if "windows_by_kmers" in found:
            kmer = f"300 bp windows, logistic regression on codon counts: {found['windows_by_kmers']:.4f}"
        columns = ["", *callers, *(["longseq - pyrodigal"] if "difference" in found else [])]
        text += [table(columns, rows)]
        text += [kmer, ""] if "windows_by_kmers" in found else []
        text += [f"longseq took {found['seconds']:.0f} s, both readings of the model and both decodings.", ""]
    text += [f"## Genes called in {RANDOM:,} random bases", ""]
    callers = list(document["random"][0]["genes"])
    rows = [
        [some["like"], str(some["seed"]), *(str(some["genes"][caller]) for caller in callers)]
        for some in document["random"]
    ]
    origin = document["provenance"]
    text += [table(["order-3 frequencies of", "seed", *callers], rows)]
    text += [
        f"Intervals: 95 %, over contigs drawn with replacement. Commit {origin['commit'][:12]}, {origin['machine']}, "
        f"{origin['cores']} cores, one thread, load {origin['load']:.1f}, {origin['time']}.",
        "",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    main()
