"""Bits per base of checkpoints on Leptospira beside their baselines: a genus not read, and contigs of one that was.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/bits_per_base.py --model A --model-in-genus B
    python pipelines/benchmarks/table.py pipelines/benchmarks/bits_per_base.json

`genus`: all contigs of Leptospira kirschneri H1 by a model that has read none of the genus (A). `contigs`: every fifth
contig by length, from the second, by a model that has read the others (B: `--others FILE` writes them), beside a
mixture of orders that has read the same. Each is read in two ways, state and baselines alike: every contig anew, and
all contigs end to end in file order, with the state carried over the genome. Both strands. Without a model, the
baselines alone.

`by_context`: the same bases with 1k, 8k, 64k and all bases of their contig before them. Stretches of 32,768 bases,
forward strand, are read in windows of so many bases, half overlapping, each anew; its second half counts, so a base has
between half of the context and all of it. Intervals: 95 %, over blocks of 10,000 bases drawn with replacement (of 4,096
for contexts), the same ones for both sides of a difference. With `--keep FOLDER`, readings are made once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import bits_measures as measures
from bits_measures import Reading
from bits_picture import draw
from bits_readers import Checkpoint, Reader, codes, composition, markov, mixture, processes
from provenance import provenance

from longseq.formats import read
from longseq.formats.jsonfile import write_json
from longseq.metrics.markov import AdaptiveMarkov, StaticMarkov

TRAINED_ON = [
    f"{name}.fasta.gz" for name in ("Ecoli_K12_MG1655", "Hpylori_G27", "Vcholerae_N16961", "Saureus_NCTC8325")
]
TESTED_ON = "Lkirschneri_H1.gbk.gz"
STATIC_ORDERS, ADAPTIVE_ORDERS = range(13), range(5)
MARKS = (2, 4)
"""Adaptive orders whose cost by context is told."""
SHORT, LONG = range(1, 13), range(1, 19)
"""Orders of mixtures; the long one remembers repeats."""
ANEW, CARRIED = "each contig anew", "carried over the genome"


class Entry(NamedTuple):
    """A row to be."""

    name: str
    state: str
    reader: Callable[[], Reader]
    context: bool = False
    key: str = ""
    """What its reading depends on beside the name."""


def main() -> None:
    options = arguments()
    folder = Path(os.environ["LONGSEQ_DATA"]) / "dna"
    named = [(record.id, b"".join(record.pieces)) for record in read(folder / TESTED_ON)]
    held = set(sorted(range(len(named)), key=lambda i: -len(named[i][1]))[1::5])
    others = [pair for i, pair in enumerate(named) if i not in held]
    if options.others:
        options.others.write_bytes(b"".join(b">%s\n%s\n" % (name.encode(), letters) for name, letters in others))
        return
    tests = {
        "genus": ([letters for _, letters in named], TRAINED_ON, options.model),
        "contigs": ([named[i][1] for i in sorted(held)], ["the other contigs"], options.model_in_genus),
    }
    questions = []
    for name in options.questions:
        contigs, trained_on, model = tests[name]
        contigs = [letters[: options.first] for letters in contigs[: options.contigs]]
        learned: Callable[[], list[bytes]]
        if name == "genus":
            learned = cache(lambda: [b"".join(r.pieces) for file in TRAINED_ON for r in read(folder / file)])
            entries = baselines(contigs, learned, primed=False)
        else:
            learned = lambda: [letters for _, letters in others]  # noqa: E731
            entries = baselines(contigs, learned, primed=True)
        checkpoint = Checkpoint(model, options.device, options.jobs) if model else None
        rows = rows_of(name, contigs, [*entries, *of_model(model, checkpoint)], options)
        if checkpoint:
            for row in rows:
                if row["name"].startswith("model "):
                    row |= checkpoint.facts
        questions.append(
            {
                "name": name,
                "static_orders_trained_on": trained_on,
                "contigs": len(contigs),
                "bases_scored": sum(int((codes(letters) < 4).sum()) for letters in contigs),
                "rows": rows,
            }
        )
    document = {
        "benchmark": "bits_per_base",
        "tested_on": TESTED_ON,
        "first": options.first,
        "strands": "both, averaged",
        "intervals": f"95 %, {measures.DRAWS} draws of blocks of {measures.BLOCK} bases, seed {measures.SEED}",
        "questions": questions,
        "provenance": provenance(),
    }
    write_json(options.out, document, force=True)
    draw(questions, options.out.with_suffix(".png"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="of the first question: checkpoint directory or shipped name")
    parser.add_argument("--model-in-genus", help="of the second question")
    parser.add_argument("--questions", nargs="+", choices=("genus", "contigs"), default=("genus", "contigs"))
    parser.add_argument("--contigs", type=int, help="read only so many contigs, for a quick look")
    parser.add_argument("--first", type=int, help="read only so many bases of each, for a quick look")
    parser.add_argument("--stretches", type=int, default=12, help="stretches that are read with every context")
    parser.add_argument("--jobs", type=int, help="processes of the model  [default: cores; 1 on another device]")
    parser.add_argument("--device", default="cpu", help="device of the model")
    parser.add_argument("--keep", type=Path, help="folder of readings; delete it when what reads has changed")
    parser.add_argument("--others", type=Path, help="write the contigs that are not held out as FASTA, and stop")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    options.jobs = options.jobs or processes(options.device)
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("bits_per_base.py: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    return options


def baselines(contigs: list[bytes], learned: Callable[[], list[bytes]], *, primed: bool) -> Iterator[Entry]:
    yield Entry("GC alone, of the contigs", ANEW, lambda: composition(contigs))
    for state in (ANEW, CARRIED):
        for order in ADAPTIVE_ORDERS:
            marked = order in MARKS and state == ANEW
            yield Entry(f"adaptive order {order}", state, lambda k=order: markov(AdaptiveMarkov(k)), marked)
    for order in STATIC_ORDERS:
        yield Entry(f"static order {order}", ANEW, lambda k=order: trained(k, learned()))
    yield Entry("mixture of orders 1-12", ANEW, lambda: mixture(SHORT))
    for state in (ANEW, CARRIED):
        yield Entry("mixture of orders 1-18", state, lambda: mixture(LONG), state == ANEW)
        if primed:
            yield Entry("mixture of orders 1-18, primed", state, lambda: mixture(LONG, learned()), state == ANEW)


def trained(order: int, learned: list[bytes]) -> Reader:
    model = StaticMarkov(order)
    for letters in learned:
        model.train([codes(letters)])
    return markov(model)


def of_model(name: str | None, checkpoint: Checkpoint | None) -> Iterator[Entry]:
    if name and checkpoint:
        for state in (ANEW, CARRIED):
            key = checkpoint.facts["sha256"][:12]
            yield Entry(f"model {Path(name).name}", state, lambda: checkpoint, state == ANEW, key)


def rows_of(question: str, contigs: list[bytes], entries: list[Entry], options: argparse.Namespace) -> list[dict]:
    """Rows in the order of the entries, with what the model needs less than each that was read in the same way."""
    stretches = measures.stretches_of(contigs, options.stretches)
    readings: list[Reading] = []
    rows: list[dict] = []
    for entry in entries:
        parts = (question, entry.name, entry.state, entry.key, options.contigs, options.first, len(stretches))
        file = options.keep / ("-".join(map(str, parts)).replace(" ", "_") + ".npz") if options.keep else None
        if file and file.exists():
            readings.append(Reading.kept(file))
        else:
            asked = stretches if entry.context else []
            readings.append(measures.read(entry.reader(), contigs, entry.state == CARRIED, asked))
            if file:
                readings[-1].keep(file)
        rows.append({"name": entry.name, "state": entry.state} | measures.told(readings[-1]))
        show(rows[-1])
    models = {row["state"]: reading for row, reading in zip(rows, readings, strict=True) if "model " in row["name"]}
    for row, reading in zip(rows, readings, strict=True):
        if row["state"] in models and models[row["state"]] is not reading:
            row["model_less_it"] = measures.difference(models[row["state"]].blocks, reading.blocks)
    return rows


def show(row: dict) -> None:
    places = [f"{name} {'-' if bits is None else f'{bits:.4f}'}" for name, bits in row["by_position"].items()]
    print("  ".join([f"{row['name'] + ', ' + row['state']:>60}  {row['bits_per_base']:.4f}", *places]), flush=True)


if __name__ == "__main__":
    main()
