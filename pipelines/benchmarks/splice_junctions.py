"""Splice junctions by their 60 bases: the frozen model beside k-mers and beside which base stands where.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/splice_junctions.py --model dna

`primates`: the set of the UCI repository, donor, acceptor or neither, 30 bases on either side; each distinct sequence
once (of two classes of one sequence none is kept). It tells no places, so each sequence is a block of its own.

`fly`: introns between coding exons of the gene models on dm3 chr2R, 2,000,001 to 7,000,000, that begin with GT and end
with AG on their strand; up to 1,500 donors and as many acceptors, drawn at random, each told from as many GT (AG) of
either strand that no model has as a donor (acceptor). Each negative is drawn within the same block of 100,000 bases and
has the same share of G and C to within 5 points. Junctions of genes that the models lack may be among them. No window
holds an N or crosses the border of a block.

Five folds of whole blocks; intervals are over blocks. The model's vectors are the mean of each twelfth of a window
(five bases), read forwards, and on the other strand. `and` is the geometric mean of two regressions' probabilities.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from probing import FIGURES as ALL
from probing import (
    Task,
    cells,
    compared,
    crossed,
    data_folder,
    flat,
    kmers,
    one_hot,
    origin,
    readings,
    sentence,
    together,
    verdict,
)
from provenance import provenance

from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.metrics.paired import difference
from longseq.records import reverse_complement

PRIMATES = "splice_junctions_mlbench.tsv.gz"
SEQUENCE, MODELS = "dm3_chr2R_first16Mb.fa.gz", "dm3_chr2R_2M-7M.scipio_cds.gff.gz"
FIRST, LAST = 2_000_000, 7_000_000
"""Bases of the chromosome that the gene models speak of."""
HALF, BLOCK, ALIKE = 30, 100_000, 0.05
MOST, TRIES = 1_500, 4_000
BINS, WORD = 12, 4
FIGURES = {"primates": ("macro_f1", "accuracy", "auc"), "donors": ("auc", "auprc"), "acceptors": ("auc", "auprc")}
SEED = 0

Examples = tuple[list[bytes], np.ndarray, np.ndarray, dict]
"""Windows, classes, blocks, and counts for the page."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="dna", help="checkpoint directory or shipped name")
    parser.add_argument("--share", type=float, default=1.0, help="of the examples, for a quick look")
    parser.add_argument("--device", default="cpu", help="device of the model")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    folder, began = data_folder(__file__), time.monotonic()
    from longseq.model import load

    checkpoint = load(options.model, options.device)
    document: dict = {"benchmark": "splice_junctions", "seed": SEED, "share": options.share, "sets": {}}
    layers = (f"layer{(checkpoint.config.layers + 1) // 2}", "final")
    for name, (windows, truth, blocks, counts) in sets(folder, options.share).items():
        features = {f"1-{WORD}-mers": kmers(windows, WORD, both=False), "bases by place": one_hot(windows)}
        features |= {layer: flat(rows) for layer, rows in readings(checkpoint, windows, BINS, layers).items()}
        task = Task(features, truth, blocks)
        told = {key: crossed(task, key, SEED) for key in features}
        told["bases by place and final"] = together(told["bases by place"], told["final"])
        print(name, counts, flush=True)
        rows, figure = compared(truth, told, blocks, FIGURES[name]), FIGURES[name][-1]
        ours, theirs = told["bases by place and final"], told["bases by place"]
        added = difference(ALL[figure], truth, ours, theirs, blocks, draws=300)
        document["sets"][name] = {"counts": counts, "rows": rows, "added": added}
    model = {"name": Path(options.model).name, "parameters": checkpoint.parameters, "sha256": checkpoint.sha256}
    document |= {"model": model, "seconds": time.monotonic() - began, "provenance": provenance()}
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def sets(folder: Path, share: float) -> dict[str, Examples]:
    letters = b"".join(next(iter(read(folder / SEQUENCE))).pieces).upper()
    donors, acceptors, checked = junctions(letters, folder / MODELS)
    return {
        "primates": primates(folder / PRIMATES, share),
        "donors": beside_others(letters, donors, b"GT", share, checked),
        "acceptors": beside_others(letters, acceptors, b"AG", share, checked),
    }


def primates(file: Path, share: float) -> Examples:
    with gzip.open(file, "rt", encoding="ascii") as lines:
        rows = [line.split() for line in list(lines)[1:]]
    kinds: dict[str, set[str]] = defaultdict(set)
    for kind, letters in rows:
        kinds[letters].add(kind)
    distinct = sorted((letters, min(kind)) for letters, kind in kinds.items() if len(kind) == 1)
    order = np.random.default_rng(SEED).permutation(len(distinct))[: int(len(distinct) * share)]
    windows = [distinct[i][0].encode("ascii") for i in order]
    truth = np.array([("ei", "ie", "n").index(distinct[i][1]) for i in order])
    counts = dict(zip(("donors", "acceptors", "neither"), np.bincount(truth, minlength=3).tolist(), strict=True))
    return windows, truth, np.arange(len(windows)), {"rows": len(rows), "distinct": len(kinds)} | counts


def junctions(letters: bytes, file: Path) -> tuple[set, set, dict]:
    """Donors and acceptors as (base, strand): the first base of an intron, and the base behind its last, on the strand;
    and how many introns were checked."""
    exons: dict[tuple, list] = defaultdict(list)
    with gzip.open(file, "rt", encoding="ascii") as lines:
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            exons[columns[8], columns[6]].append((int(columns[3]) - 1 + FIRST, int(columns[4]) + FIRST))
    donors, acceptors, introns, kept = set(), set(), set(), set()
    for (_, strand), parts in exons.items():
        parts.sort()
        for (_, start), (end, _) in pairwise(parts):
            introns.add((start, end, strand))
    for start, end, strand in introns:
        text = letters[start:end] if strand == "+" else reverse_complement(letters[start:end])
        if text.startswith(b"GT") and text.endswith(b"AG"):
            kept.add((start, end, strand))
            first, behind = (start, end) if strand == "+" else (end - 1, start - 1)
            donors.add((first, strand))
            acceptors.add((behind, strand))
    return donors, acceptors, {"introns": len(introns), "with GT and AG": len(kept)}


def beside_others(letters: bytes, known: set, word: bytes, share: float, checked: dict) -> Examples:
    """Junctions, and as many places of the same word that are none."""
    draw = np.random.default_rng(SEED)
    places = [place for place in sorted(known) if window(letters, *place)]
    chosen = [places[i] for i in draw.permutation(len(places))[: int(MOST * share)]]
    windows, truth, blocks, taken = [], [], [], set(known)
    for at, strand in chosen:
        block, own = at // BLOCK, window(letters, at, strand)
        for _ in range(TRIES):
            other = int(draw.integers(block * BLOCK, (block + 1) * BLOCK)), "+-"[int(draw.integers(2))]
            text = window(letters, *other)
            here = text[HALF : HALF + 2] if word == b"GT" else text[HALF - 2 : HALF]
            if other in taken or here != word or abs(gc(text) - gc(own)) > ALIKE:
                continue
            taken.add(other)
            windows += [own, text]
            truth += [1, 0]
            blocks += [block, block]
            break
    counts = {"distinct": len(known), "positives": sum(truth), "negatives": len(truth) - sum(truth)}
    return windows, np.array(truth), np.array(blocks), checked | counts


def window(letters: bytes, at: int, strand: str) -> bytes:
    """`HALF` bases before a place and as many from it on; nothing where they cross a border of a block or hold an N."""
    start, end = (at - HALF, at + HALF) if strand == "+" else (at + 1 - HALF, at + 1 + HALF)
    text = letters[start:end]
    if start // BLOCK != (end - 1) // BLOCK or not FIRST <= start <= end <= LAST or text.translate(None, b"ACGT"):
        return b""
    return text if strand == "+" else reverse_complement(text)


def gc(text: bytes) -> float:
    return (text.count(b"G") + text.count(b"C")) / len(text)


def markdown(document: dict) -> str:
    text = ["# splice_junctions", "", *__doc__.strip().partition("--model dna\n\n")[2].splitlines(), ""]
    if document["share"] != 1:
        text += [f"A quick look: {document['share']:.0%} of the examples (`--share`).", ""]
    for name, found in document["sets"].items():
        text += [f"## {name}", "", ", ".join(f"{key} {value:,}" for key, value in found["counts"].items()) + ".", ""]
        columns = [
            cell for figure in FIGURES[name] for cell in (figure.replace("_", " "), f"less 1-{WORD}-mers (95 %)")
        ]
        text += [table(["", *columns], cells(found["rows"], FIGURES[name]))]
        text += [verdict(found["rows"], FIGURES[name][-1], lambda row: row.startswith(("layer", "final")))]
        text += [sentence("bases by place and final", "bases by place", FIGURES[name][-1], found["added"]), ""]
    return "\n".join([*text, origin(document)])


if __name__ == "__main__":
    main()
