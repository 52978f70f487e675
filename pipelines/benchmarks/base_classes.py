"""Classes of bases that are no genes: tRNA, rRNA, coding parts and introns of a chloroplast, from labels in a BED file.

    python pipelines/benchmarks/base_classes.py

The facility behind genes with labels of another kind; with a BED of repeats or of sites it is the same. The chloroplast
that ships in `data/` is cut into records of 8 kb, its second inverted repeat left out since it repeats the first; every
fifth record, from the third on, is held out. Introns are what lies between the parts of one feature. The nulls are the
most frequent class, and the likeliest class of each 100 bases by one Markov model a class, of both strands, trained on
the same records. Nothing is tuned.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
from provenance import provenance

from longseq.config import load
from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.features import read_features
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.metrics import classes
from longseq.metrics.markov import StaticMarkov
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig, train

SOURCE = Path(__file__).parents[2] / "data" / "chloroplast.gb.gz"
UNIQUE = 128_214
"""Bases in front of the second inverted repeat."""
PIECE, EVERY, FIRST = 8_000, 5, 2
"""Bases of a record; records held out."""
NAMES = ("background", "CDS", "intron", "rRNA", "tRNA")
WINDOW, ORDER = 100, 3
"""Bases told at once by the Markov models, and their order."""
SETTINGS = {
    "task": "annotate",
    "threads": 1,
    "device": "cpu",
    "model.width": 64,
    "model.layers": 2,
    "model.visibility": "both",
    "evaluation.every": 0,
    "checkpoint.every": 0,
    "checkpoint.best": False,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300, help="of about 4,096 bases")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    asked = parser.parse_args()
    with read(SOURCE) as records:
        letters = b"".join(next(records).pieces)[:UNIQUE]  # type: ignore[arg-type]
    spans = list(labelled())
    with tempfile.TemporaryDirectory() as folder:
        fasta, bed = Path(folder) / "pieces.fa", Path(folder) / "labels.bed"
        held = write(letters, spans, fasta, bed)
        settings = {**SETTINGS, "inputs": [str(fasta)], "labels.file": str(bed), "steps": asked.steps}
        settings["data.held_out_groups"] = held
        given = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        outcome = train(load(TrainConfig, None, given), Path(folder) / "run")
    found = dict(outcome.figures)
    rows = [
        {"name": "longseq train --task annotate", **{name: found[name] for name in ("macro_f1", "accuracy")}}
        | {f"f1_{name}": found[f"f1_{name}"] for name in NAMES},
        {"name": f"Markov models of order {ORDER}, {WINDOW} bases at a time", **markov(letters, spans)},
        {"name": "most frequent class", "macro_f1": found["null_macro_f1"], "accuracy": found["null_accuracy"]},
    ]
    result = {
        "rows": rows,
        "steps": outcome.step,
        "tokens": outcome.tokens,
        "seconds": outcome.seconds,
        "bases_held_out": found["bases"],
        "held_out": held,
        "settings": SETTINGS,
        "provenance": provenance(),
    }
    write_json(asked.out, result, force=True)
    text = markdown(result)
    with write_aside(asked.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(text, encoding="utf-8")
    print(text)


def labelled() -> Iterator[tuple[int, int, str]]:
    """Start, end and class; introns first, so that what lies in one counts."""
    kept = [f for f in read_features(SOURCE) if f.name in NAMES and f.interval.end <= UNIQUE]
    for _, parts in groupby(kept, key=lambda feature: feature.line):
        places = sorted((part.interval.start, part.interval.end) for part in parts)
        for (_, end), (start, _) in pairwise(places):
            if 0 < start - end < 3000:  # not the parts of a gene that is spliced together from afar
                yield end, start, "intron"
    for feature in kept:
        yield feature.interval.start, feature.interval.end, feature.name


def pieces(length: int) -> Iterator[tuple[str, int, int, bool]]:
    """Name, start, end, and whether held out."""
    for i, start in enumerate(range(0, length, PIECE)):
        yield f"piece{i + 1}", start, min(start + PIECE, length), i % EVERY == FIRST


def write(letters: bytes, spans: list[tuple[int, int, str]], fasta: Path, bed: Path) -> list[str]:
    """The records and their labels as files; names of those held out."""
    held = []
    with open(fasta, "w", encoding="ascii") as sequences, open(bed, "w", encoding="ascii") as labels:
        for name, start, end, out in pieces(len(letters)):
            sequences.write(f">{name}\n{letters[start:end].decode()}\n")
            held += [name] if out else []
            for first, last, label in spans:
                if first < end and last > start:
                    labels.write(f"{name}\t{max(first - start, 0)}\t{min(last, end) - start}\t{label}\n")
    return held


def markov(letters: bytes, spans: list[tuple[int, int, str]]) -> dict[str, float]:
    """Figures of the likeliest class of each window."""
    truth = np.zeros(len(letters), np.int64)
    for start, end, label in spans:
        truth[start:end] = NAMES.index(label)
    tokenizer, models = DnaTokenizer(), [StaticMarkov(ORDER) for _ in NAMES]
    confusion = np.zeros((len(NAMES),) * 2, np.int64)
    parts = list(pieces(len(letters)))
    for _, start, end, out in parts:
        bounds = np.flatnonzero(np.diff(truth[start:end], prepend=-1, append=-1)) + start
        for first, last in pairwise(bounds.tolist()) if not out else ():
            models[truth[first]].train([tokenizer.encode(letters[first:last])[0]])
    for _, start, end, _ in (part for part in parts if part[3]):
        for first in range(start, end, WINDOW):
            last = min(first + WINDOW, end)
            ids = tokenizer.encode(letters[first:last])[0]
            bits = [sum(float(np.nansum(part)) for part in model.bits([ids])) for model in models]
            np.add.at(confusion, (truth[first:last], int(np.argmin(bits))), 1)
    figures = {"macro_f1": classes.macro_f1(confusion), "accuracy": classes.accuracy(confusion)}
    return figures | {f"f1_{name}": float(f1) for name, f1 in zip(NAMES, classes.f1(confusion), strict=True)}


def markdown(result: dict) -> str:
    columns = ("macro_f1", "accuracy", *(f"f1_{name}" for name in NAMES))
    cells = [[row["name"], *(f"{row[key]:.3f}" if key in row else "" for key in columns)] for row in result["rows"]]
    origin = result["provenance"]
    return "\n".join(
        [
            f"Bases of {', '.join(result['held_out'])} of a chloroplast, {result['bases_held_out']:,} in all, after "
            f"{result['steps']:,} steps ({result['tokens']:,} tokens, {result['seconds']:.0f} s).",
            "",
            table(["", "macro F1", "accuracy", *(f"F1 {name}" for name in NAMES)], cells),
            "",
            f"Commit {origin['commit'][:12]}, {origin['machine']}, torch {origin['versions']['torch']}.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
