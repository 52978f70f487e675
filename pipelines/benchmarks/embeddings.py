"""Embeddings beside 4-mer frequencies: genome of origin, and coding strand, by logistic regression on the same split.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/embeddings.py --model dna

`origin`: 2,000 bases of one of seven genomes, drawn without overlap. Each genome is cut into blocks of 50,000 bases,
and blocks are dealt out: half to learn from, 15 % to choose by, 35 % to test on, so that no block is divided; intervals
are over blocks. `strand`: 300 bases within a coding sequence of 400 or more, at a place drawn at random, where no other
one is annotated on the other strand; whether it is read along. Every fifth contig by length, from the second, is tested
on; every fifth from the third chooses; the others are learned from. Intervals are over stretches of 50,000 bases.

A vector is the mean of a window's hidden vectors, of both strands: their sum and difference side by side (`both`, so
that which strand is which can be learned), or their average. Layer, joining and penalty are chosen without the test
part; every layer is shown all the same, joined as `both`. k-mers of `origin` are of both strands, those of `strand` of
the one read. `and` is the geometric mean of two regressions' probabilities.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from probing import Task, cells, compared, data_folder, fitted, flat, kmers, origin, readings, scored, together, verdict
from provenance import provenance

from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.features import read_features
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

GENOMES = {
    "E. coli": "Ecoli_K12_MG1655.fasta.gz",
    "K. pneumoniae": "Kpneumoniae_Klebs_HS11286.fna.xz",
    "V. cholerae": "Vcholerae_N16961.fasta.gz",
    "H. pylori": "Hpylori_G27.fasta.gz",
    "S. aureus": "Saureus_NCTC8325.fasta.gz",
    "L. kirschneri": "Lkirschneri_H1.gbk.gz",
    "M. mycoides": "Mmycoides_Afade.gbff.gz",
}
ANNOTATED = ("L. kirschneri", "M. mycoides")
BLOCK = 50_000
ORIGIN, STRAND, SHORTEST = 2_000, 300, 400
"""Bases of a window of each task, and of a coding sequence at least."""
WINDOWS = {"learn": 70, "choose": 20, "test": 60}
"""Of each genome."""
SHARES = {"learn": 0.5, "choose": 0.15, "test": 0.35}
CODING = 1600
"""Windows of `strand`, of each genome at most."""
JOINED = ("both", "average")
FIGURES = {"origin": ("accuracy", "macro_f1"), "strand": ("accuracy", "auc")}
SEED = 0


class Drawn(NamedTuple):
    """Windows, their classes, their blocks, and the part (learn, choose, test) of each."""

    windows: list[bytes]
    truth: np.ndarray
    blocks: np.ndarray
    part: np.ndarray
    classes: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="dna", help="checkpoint directory or shipped name")
    parser.add_argument("--share", type=float, default=1.0, help="of the windows, for a quick look")
    parser.add_argument("--device", default="cpu", help="device of the model")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    folder, began = data_folder(__file__), time.monotonic()
    from longseq.model import load

    checkpoint = load(options.model, options.device)
    document: dict = {"benchmark": "embeddings", "seed": SEED, "share": options.share, "tasks": {}}
    for name, drawn in (("origin", origins(folder, options.share)), ("strand", strands(folder, options.share))):
        document["tasks"][name] = measured(name, drawn, checkpoint)
    model = {"name": Path(options.model).name, "parameters": checkpoint.parameters, "sha256": checkpoint.sha256}
    document |= {"model": model, "seconds": time.monotonic() - began, "provenance": provenance()}
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def origins(folder: Path, share: float) -> Drawn:
    draw, found = np.random.default_rng(SEED), []
    for kind, file in enumerate(GENOMES.values()):
        contigs = [b"".join(record.pieces).upper() for record in read(folder / file)]
        blocks = [(c, at) for c, text in enumerate(contigs) for at in range(0, len(text) - BLOCK + 1, BLOCK)]
        edges = np.cumsum([SHARES[part] for part in SHARES])
        rank = draw.permutation(len(blocks)) / len(blocks)
        places: dict[str, list] = {part: [] for part in SHARES}
        for number, (contig, at) in enumerate(blocks):
            part = list(SHARES)[int(np.searchsorted(edges, rank[number], "right"))]
            places[part] += [(contig, start, number) for start in range(at, at + BLOCK - ORIGIN + 1, ORIGIN)]
        for part, some in places.items():
            some = [(c, at, n) for c, at, n in some if pure(contigs[c][at : at + ORIGIN])]
            for i in draw.permutation(len(some))[: max(2, int(WINDOWS[part] * share))]:
                contig, at, number = some[i]
                found.append((contigs[contig][at : at + ORIGIN], kind, f"{kind} {number}", part))
    return drawn_of(found, list(GENOMES))


def strands(folder: Path, share: float) -> Drawn:
    draw, found = np.random.default_rng(SEED), []
    for name in ANNOTATED:
        file = folder / GENOMES[name]
        contigs = {record.id: b"".join(record.pieces).upper() for record in read(file)}
        coding: dict[str, list] = {contig: [] for contig in contigs}
        for feature in read_features(file):
            if feature.name == "CDS":
                coding[feature.interval.record].append(feature.interval)
        by_length = sorted(contigs, key=lambda contig: -len(contigs[contig]))
        parts = {contig: {1: "test", 2: "choose"}.get(i % 5, "learn") for i, contig in enumerate(by_length)}
        some = []
        for contig, places in coding.items():
            for place in places:
                if len(place) < SHORTEST:
                    continue
                at = place.start + int(draw.integers(len(place) - STRAND + 1))
                letters = contigs[contig][at : at + STRAND]
                others = (o for o in places if o.strand != place.strand and o.start < at + STRAND and at < o.end)
                if pure(letters) and next(others, None) is None:
                    block = f"{name} {contig} {at // BLOCK}"
                    some.append((letters, int(place.strand == "+"), block, parts[contig]))
        found += [some[i] for i in draw.permutation(len(some))[: int(CODING * share)]]
    return drawn_of(found, ["-", "+"])


def pure(letters: bytes) -> bool:
    return not letters.translate(None, b"ACGT")


def drawn_of(found: list[tuple], names: list[str]) -> Drawn:
    windows, truth, blocks, part = zip(*found, strict=True)
    return Drawn(list(windows), np.array(truth), np.array(blocks), np.array(part), names)


def measured(name: str, drawn: Drawn, checkpoint) -> dict:
    from longseq.streaming.hidden import layer_names

    layers = layer_names(checkpoint.config.layers)[1:]
    hidden = {layer: rows[:, :, 0] for layer, rows in readings(checkpoint, drawn.windows, 1, layers).items()}
    words = kmers(drawn.windows, 4, both=name == "origin")
    gc = np.array([[sum(map(letters.count, b"GC")) / len(letters)] for letters in drawn.windows])
    learned, chosen, asked = drawn.part != "test", drawn.part == "choose", drawn.part == "test"
    vectors = {(layer, how): joined(rows, how) for layer, rows in hidden.items() for how in JOINED}
    task = Task({}, drawn.truth, drawn.blocks)
    costs = {key: fitted(rows, task, learned, chosen)[1] for key, rows in vectors.items()}
    best = min(costs, key=lambda key: costs[key])
    features = {"4-mers": words, "GC alone": gc} | {f"{layer}": vectors[layer, "both"] for layer in layers}
    features[f"chosen: {best[0]}, {best[1]}"] = vectors[best]
    told = {key: scored(rows, task, learned, chosen, asked) for key, rows in features.items()}
    told["4-mers and chosen"] = together(told["4-mers"], told[f"chosen: {best[0]}, {best[1]}"])
    counts = {part: int((drawn.part == part).sum()) for part in SHARES}
    return {
        "windows": counts,
        "classes": drawn.classes,
        "blocks": len(set(drawn.blocks[asked])),
        "rows": compared(drawn.truth[asked], told, drawn.blocks[asked], FIGURES[name]),
    }


def joined(rows: np.ndarray, how: str) -> np.ndarray:
    """(N, F) of the readings of both strands (N, 2, D)."""
    if how == "average":
        return rows.mean(1)
    return flat(np.stack([rows.sum(1), rows[:, 0] - rows[:, 1]], 1))


def markdown(document: dict) -> str:
    text = ["# embeddings", "", *__doc__.strip().partition("--model dna\n\n")[2].splitlines(), ""]
    if document["share"] != 1:
        text += [f"A quick look: {document['share']:.0%} of the windows (`--share`).", ""]
    for name, task in document["tasks"].items():
        counts = ", ".join(f"{count:,} to {part}" for part, count in task["windows"].items())
        text += [f"## {name}: {len(task['classes'])} classes, {counts}", ""]
        columns = [cell for figure in FIGURES[name] for cell in (figure.replace("_", " "), "less 4-mers (95 %)")]
        text += [table(["", *columns], cells(task["rows"], FIGURES[name]))]
        for of in (lambda row: row.startswith("chosen"), lambda row: row == "4-mers and chosen"):
            text += [verdict(task["rows"], FIGURES[name][0], of)]
        text += [""]
    return "\n".join([*text, origin(document)])


if __name__ == "__main__":
    main()
