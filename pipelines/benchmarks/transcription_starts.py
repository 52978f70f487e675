"""Transcription starts of the fly, told from places of the same composition: the frozen model beside k-mers.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/transcription_starts.py --model dna

Positives: 1,200 of the distinct RefSeq starts on dm3 chr2R, bases 1 to 16,000,000, drawn at random and read along their
strand. Negatives: for each positive one place and strand drawn at random, 1,000 bases or more from every start of
either strand, in the same block of 200,000 bases, whose [-250, +50] has the same share of G and C to within 2 points.
Starts that RefSeq lists late, or not at all, may be among them. No window holds an N or crosses the border of a block.
Blocks are dealt out over five folds, so that neighbours are never divided; intervals are over blocks. The model's
vectors are the mean of each sixth of a window, read forwards, and on the other strand. `short` is [-250, +50], `long`
is [-500, +250], at the same places. `and` is the geometric mean of two regressions' probabilities.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from probing import Task, cells, compared, crossed, data_folder, flat, kmers, origin, readings, together, verdict
from provenance import provenance

from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.records import reverse_complement

SEQUENCE, STARTS = "dm3_chr2R_first16Mb.fa.gz", "dm3_chr2R_first16Mb_tss.tsv"
CONTEXTS = {"short": (250, 50), "long": (500, 250)}
"""Bases before a start, and from it on."""
AWAY, BLOCK, ALIKE = 1_000, 200_000, 0.02
MOST, TRIES = 1_200, 4_000
BINS, WORD = 6, 5
FIGURES = ("auc", "auprc")
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="dna", help="checkpoint directory or shipped name")
    parser.add_argument("--share", type=float, default=1.0, help="of the starts, for a quick look")
    parser.add_argument("--device", default="cpu", help="device of the model")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    folder, began = data_folder(__file__), time.monotonic()
    from longseq.model import load

    checkpoint = load(options.model, options.device)
    letters = b"".join(next(iter(read(folder / SEQUENCE))).pieces).upper()
    with open(folder / STARTS, encoding="ascii") as file:
        starts = {(int(row["tss_1based"]) - 1, row["strand"]) for row in csv.DictReader(file, delimiter="\t")}
    places, truth, blocks = examples(letters, sorted(starts), options.share)
    document: dict = {"benchmark": "transcription_starts", "seed": SEED, "share": options.share, "contexts": {}}
    document |= {"starts": len(starts), "positives": int(truth.sum()), "negatives": int((truth == 0).sum())}
    layers = (f"layer{(checkpoint.config.layers + 1) // 2}", "final")
    for name, context in CONTEXTS.items():
        windows = [window(letters, at, strand, context) for at, strand in places]
        features = {"1-5-mers": kmers(windows, WORD, both=False)}
        features["GC alone"] = np.array([[sum(map(text.count, b"GC")) / len(text)] for text in windows])
        features |= {layer: flat(rows) for layer, rows in readings(checkpoint, windows, BINS, layers).items()}
        task = Task(features, truth, blocks)
        told = {key: crossed(task, key, SEED) for key in features}
        told["1-5-mers and final"] = together(told["1-5-mers"], told["final"])
        print(name, flush=True)
        document["contexts"][name] = {"rows": compared(truth, told, blocks, FIGURES), "context": context}
    model = {"name": Path(options.model).name, "parameters": checkpoint.parameters, "sha256": checkpoint.sha256}
    document |= {"blocks": len(set(blocks)), "model": model}
    document |= {"seconds": time.monotonic() - began, "provenance": provenance()}
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def examples(letters: bytes, starts: list[tuple[int, str]], share: float) -> tuple[list, np.ndarray, np.ndarray]:
    """Places (base, strand), a positive and then its negative; 1 of positives; blocks."""
    draw = np.random.default_rng(SEED)
    codes = np.frombuffer(letters, np.uint8)
    strong = np.append(0, np.cumsum(np.isin(codes, list(b"GC"))))
    unread = np.append(0, np.cumsum(~np.isin(codes, list(b"ACGT"))))
    known = np.array(sorted({at for at, _ in starts}))
    chosen = [starts[i] for i in np.sort(draw.permutation(len(starts))[: int(MOST * share)])]
    places, taken = [], set()
    for place in chosen:
        at = place[0]
        if not fits(at, place[1], unread):
            continue
        block = at // BLOCK
        wanted = gc(at, place[1], strong)
        for _ in range(TRIES):
            other = int(draw.integers(block * BLOCK, min((block + 1) * BLOCK, len(letters))))
            strand = "+-"[int(draw.integers(2))]
            near = known[max(0, np.searchsorted(known, other) - 1) :][:2]
            if np.abs(near - other).min() < AWAY or (other, strand) in taken or not fits(other, strand, unread):
                continue
            if abs(gc(other, strand, strong) - wanted) <= ALIKE:
                taken.add((other, strand))
                places += [place, (other, strand)]
                break
    truth = np.arange(len(places)) % 2 == 0
    return places, truth.astype(int), np.array([at // BLOCK for at, _ in places])


def span(at: int, strand: str, context: tuple[int, int]) -> tuple[int, int]:
    """Of a window, whose start is the base `at`."""
    before, after = context
    return (at - before, at + after) if strand == "+" else (at + 1 - after, at + 1 + before)


def fits(at: int, strand: str, unread: np.ndarray) -> bool:
    """Whether the longest window is within its block, and of A, C, G and T alone."""
    start, end = span(at, strand, CONTEXTS["long"])
    inside = start >= 0 and end < len(unread) and start // BLOCK == (end - 1) // BLOCK
    return inside and bool(unread[end] == unread[start])


def gc(at: int, strand: str, strong: np.ndarray) -> float:
    start, end = span(at, strand, CONTEXTS["short"])
    return (strong[end] - strong[start]) / (end - start)


def window(letters: bytes, at: int, strand: str, context: tuple[int, int]) -> bytes:
    start, end = span(at, strand, context)
    return letters[start:end] if strand == "+" else reverse_complement(letters[start:end])


def markdown(document: dict) -> str:
    text = ["# transcription_starts", "", *__doc__.strip().partition("--model dna\n\n")[2].splitlines(), ""]
    text += [
        f"{document['positives']:,} of {document['starts']:,} starts and {document['negatives']:,} negatives, in "
        f"{document['blocks']} blocks.",
        "",
    ]
    if document["share"] != 1:
        text += [f"A quick look: {document['share']:.0%} of the starts (`--share`).", ""]
    for name, found in document["contexts"].items():
        before, after = found["context"]
        text += [f"## {name}: [-{before}, +{after}]", ""]
        columns = [cell for figure in FIGURES for cell in (figure.upper(), "less 1-5-mers (95 %)")]
        text += [table(["", *columns], cells(found["rows"], FIGURES))]
        text += [verdict(found["rows"], "auprc", lambda row: row.startswith(("layer", "final")))]
        text += [verdict(found["rows"], "auprc", lambda row: row == "1-5-mers and final"), ""]
    return "\n".join([*text, origin(document)])


if __name__ == "__main__":
    main()
