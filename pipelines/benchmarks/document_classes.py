"""Classes of documents: books whose class shows in one chapter, genres, and dynasties, beside TF-IDF.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/document_classes.py --model text

`books`: made-up books of 100,000 tokens, English and Chinese, of two classes that show in every other sentence of one
chapter, never among the first 8,192 tokens (`planted_books.py`). Twelve are learned from, by their labels alone, and
the others tested on; the same of their first 4,096 tokens, which say nothing. Of books told right, the sentences that
`classify` gives as evidence are counted that stand in the chapter.

`brown`: 400 documents in four groups, five times five folds; `poems`: poems of Tang or Song, five folds. In each fold
a head is trained by `longseq train --freeze encoder` as it stands, nothing is chosen on what is tested, and TF-IDF with
logistic regression learns from the same documents. Intervals of differences are those of Nadeau and Bengio (2003) for
repeated folds. The shipped encoder has read the poems, without their dynasties.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from planted_books import CLASSES, Book, book
from probing import data_folder
from provenance import provenance

from longseq.config import from_mapping
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import Checkpoint, load
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify import Request, classified
from longseq.tasks.score.walk import Source
from longseq.tokens.stream import StreamTokenizer
from longseq.training import TrainConfig, train

LEARNED, TESTED = 12, 20
TOKENS, FIRST = 100_000, 4_096
LOOKED = 6
"""Books tested on whose evidence is looked at."""
FOLDS, TIMES = 5, 5
POEMS = 5_000
GROUPS = {
    "press": ("news", "editorial", "reviews"),
    "general": ("religion", "hobbies", "lore", "belles_lettres", "government"),
    "learned": ("learned",),
}
"""Genres of Brown by group; all others are fiction."""
QUANTILE = 2.064
"""0.975 of Student's t of 24 degrees of freedom; of 4: 2.776."""
SEED = 0

Row = dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="text", help="checkpoint directory or shipped name to start from")
    parser.add_argument("--only", choices=["books", "brown", "poems"], action="append", help="leave the others out")
    parser.add_argument("--share", type=float, default=1.0, help="of tokens, folds and poems, for a quick look")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    checkpoint, began = load(options.model), time.monotonic()
    document: dict = (
        json.loads(options.out.read_text(encoding="utf-8")) if options.only and options.out.exists() else {}
    )
    wanted = options.only or ["books", "brown", "poems"]
    document |= {"benchmark": "document_classes", "seed": SEED, "share": options.share}
    start = options.model if not Path(options.model).is_dir() else str(Path(options.model).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if "books" in wanted:
            document["books"] = [books(name, checkpoint, start, folder, options.share) for name in ("en", "zh")]
        data = data_folder(__file__).parent / "documents"
        if "brown" in wanted:
            times = max(1, round(TIMES * options.share))
            document["brown"] = folds(brown(data), start, folder / "brown", times)
        if "poems" in wanted:
            document["poems"] = folds(poems(data)[: int(POEMS * options.share)], start, folder / "poems", 1)
    model = {"name": Path(options.model).name, "parameters": checkpoint.parameters, "sha256": checkpoint.sha256}
    document |= {"model": model, "seconds": time.monotonic() - began, "provenance": provenance()}
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def trained(rows: list[Row], held: list[str], start: str, folder: Path, run: str, **labels: object) -> dict:
    """Figures on the documents `held`, of a head that learned from the others; the run is left in `folder`/`run`."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "documents.jsonl"
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    settings = {
        "inputs": [str(file)],
        "task": "classify",
        "start": start,
        "freeze": "encoder",
        "threads": 1,
        "precision": "bf16",
        "labels": {"file": str(file), **labels},
        "data": {"held_out_groups": held, "cache": str(folder / "cache"), "leakage": 1.0},
        "evaluation": {"every": 0, "tokens": 1 << 40},
        "checkpoint": {"every": 0},
    }
    return dict(train(from_mapping(TrainConfig, settings), folder / run, force=True).figures)


def books(language: str, checkpoint: Checkpoint, start: str, folder: Path, share: float) -> dict:
    tokenizer = checkpoint.tokenizer
    assert isinstance(tokenizer, StreamTokenizer)

    def count(text: str) -> int:
        return len(tokenizer.encode(text))

    draw, began = np.random.default_rng([SEED, language == "zh"]), time.monotonic()
    made = [book(language, CLASSES[i % 2], draw, int(TOKENS * share), count) for i in range(LEARNED + TESTED)]
    rows = [{"id": f"book{i}", "text": found.text, "label": found.label} for i, found in enumerate(made)]
    tested = [row["id"] for row in rows[LEARNED:]]
    whole = trained(rows, tested, start, folder / language, "run")
    seconds = time.monotonic() - began
    short = [row | {"text": tokenizer.decode(tokenizer.encode(row["text"][: 8 * FIRST])[:FIRST])} for row in rows]
    first = trained(short, tested, start, folder / f"{language}-first", "run")
    return {
        "language": language,
        "learned": LEARNED,
        "tested": TESTED,
        "accuracy": whole["accuracy"],
        "tfidf_accuracy": whole["tfidf_accuracy"],
        "first_accuracy": first["accuracy"],
        "first_tfidf_accuracy": first["tfidf_accuracy"],
        "seconds": seconds,
        **evidence(made[LEARNED : LEARNED + LOOKED], folder / language),
    }


def evidence(made: list[Book], folder: Path) -> dict:
    """Of the sentences told of some books, how many stand in the chapter that tells."""
    reader, found, right = HiddenReader(load(folder / "run" / "model"), precision="bf16"), 0, 0
    for number, each in enumerate(made):
        file = folder / f"{number}.txt"
        file.write_text(each.text, encoding="utf-8")
        for told in classified(Request(inputs=(str(file),), every=0, window=0), reader, [Source(str(file))]):
            found += len(told.evidence)
            right += sum(each.start <= sentence.start < each.end for sentence in told.evidence)
    return {"evidence_books": len(made), "evidence": found, "evidence_in_chapter": right}


def folds(rows: list[Row], start: str, folder: Path, times: int) -> dict:
    """Accuracy in each fold, ours and that of TF-IDF."""
    kinds, ours, theirs, f1 = sorted({row["label"] for row in rows}), [], [], []
    place = np.array([kinds.index(row["label"]) for row in rows])
    for nth in range(times):
        draw = np.random.default_rng([SEED, nth])
        fold = np.empty(len(rows), np.int64)
        for kind in range(len(kinds)):
            of = draw.permutation(np.flatnonzero(place == kind))
            fold[of] = np.arange(len(of)) % FOLDS
        for k in range(FOLDS):
            held = [rows[i]["id"] for i in np.flatnonzero(fold == k)]
            found = trained(rows, held, start, folder, "run")
            ours.append(found["accuracy"])
            theirs.append(found["tfidf_accuracy"])
            f1.append((found["macro_f1"], found["tfidf_macro_f1"]))
    gaps = np.array(ours) - np.array(theirs)
    spread = np.sqrt((1 / len(gaps) + 1 / (FOLDS - 1)) * gaps.var(ddof=1))  # equation 6
    reach = (QUANTILE if len(gaps) > 5 else 2.776) * spread
    return {
        "documents": len(rows),
        "classes": kinds,
        "folds": len(gaps),
        "accuracy": float(np.mean(ours)),
        "tfidf_accuracy": float(np.mean(theirs)),
        "macro_f1": float(np.mean([a for a, _ in f1])),
        "tfidf_macro_f1": float(np.mean([b for _, b in f1])),
        "most_frequent": float(np.bincount(place).max() / len(place)),
        "difference": [float(gaps.mean()), float(gaps.mean() - reach), float(gaps.mean() + reach)],
    }


def brown(data: Path) -> list[Row]:
    group = {genre: name for name, genres in GROUPS.items() for genre in genres}
    found = lines(data / "brown_dev.jsonl.gz")
    return [{"id": row["id"], "text": row["text"], "label": group.get(row["genre"], "fiction")} for row in found]


def poems(data: Path) -> list[Row]:
    found = lines(data / "chinese_tang_song_20k.jsonl.gz")
    order = np.random.default_rng(SEED).permutation(len(found))
    return [{"id": f"poem{i}", "text": found[i]["text"], "label": found[i]["dynasty"]} for i in order.tolist()]


def lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def markdown(document: dict) -> str:
    parts = ["# document_classes"]
    if "books" in document:
        length = f"{TOKENS * document['share']:,.0f}"
        parts.append(
            f"Books of {length} tokens, their class in one chapter only: {LEARNED} learned from, {TESTED} tested on. "
            f"Evidence: sentences that `classify` gives of {LOOKED} books, and how many stand in that chapter."
        )
        head = ["language", "whole book", "first 4,096 tokens", "TF-IDF, whole", "TF-IDF, first", "evidence", "seconds"]
        cells = [
            [
                {"en": "English", "zh": "Chinese"}[row["language"]],
                *(
                    f"{row[name]:.3f}"
                    for name in ("accuracy", "first_accuracy", "tfidf_accuracy", "first_tfidf_accuracy")
                ),
                f"{row['evidence_in_chapter']} of {row['evidence']}",
                f"{row['seconds']:.0f}",
            ]
            for row in document["books"]
        ]
        parts.append(table(head, cells))
    sets = [(name, document[name]) for name in ("brown", "poems") if name in document]
    if sets:
        parts.append("Accuracy; TF-IDF learns from the same documents of each fold.")
        head = ["set", "documents", "folds", "head", "TF-IDF", "most frequent class", "head less TF-IDF (95 %)"]
        parts.append(table(head, [_row(name, row) for name, row in sets]))
    origin, model = document["provenance"], document["model"]
    parts.append(f"Encoder: {model['name']}, {model['parameters']:,} parameters, {model['sha256'][:12]}, frozen.")
    parts.append(f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, {origin['time']}.")
    return "\n\n".join(parts) + "\n"


def _row(name: str, row: dict) -> list[str]:
    value, low, high = row["difference"]
    figures = [f"{row[key]:.3f}" for key in ("accuracy", "tfidf_accuracy", "most_frequent")]
    return [name, f"{row['documents']:,}", str(row["folds"]), *figures, f"{value:+.3f} ({low:+.3f} to {high:+.3f})"]


if __name__ == "__main__":
    main()
