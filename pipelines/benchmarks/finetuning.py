"""Learning from labels with nothing tuned: from scratch, from `dna`, its head alone, adapters, beside the null.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/finetuning.py

Two sets of records with classes. `junctions`: 60 bases of primates around a splice site, donor, acceptor or neither; a
sequence that occurs twice is on one side of the split. `genomes`: stretches of 200 bases of four bacteria, of which
`dna` has read two; the last fifth of each genome is held out. The null is the most frequent class. A yardstick beside
it is the likeliest class by Markov models of the training records, one model a class, of the order that does best on
what is held out. Settings are the defaults, but for `SETTINGS`. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from provenance import provenance

from longseq.config import load
from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.metrics import classes
from longseq.metrics.markov import StaticMarkov
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig, train

JUNCTIONS = "splice_junctions_mlbench.tsv.gz"
GENOMES = {
    "E. coli": "Ecoli_K12_MG1655.fasta.gz",
    "K. pneumoniae": "Kpneumoniae_Klebs_HS11286.fna.xz",
    "V. cholerae": "Vcholerae_N16961.fasta.gz",
    "L. kirschneri": "Lkirschneri_H1.gbk.gz",
}
PIECE, PIECES = 200, 400
"""Bases of a stretch, and stretches of each genome."""
SEEDS = (0, 1)
SETTINGS = {"threads": 1, "device": "cpu", "evaluation.every": 0, "checkpoint.every": 0, "checkpoint.best": False}
"""Of every run, beside its seeds and `--steps`."""
RUNS: dict[str, dict[str, object]] = {
    "from scratch": {},
    "from dna": {"start": "dna"},
    "from dna, head alone": {"start": "dna", "freeze": "encoder"},
    "from dna, adapters of rank 8": {"start": "dna", "adapter.rank": 8},
}
ORDERS = range(7)
FIGURES = ("macro_f1", "accuracy", "null_accuracy", "mcc", "auroc")

Labelled = tuple[str, str, str, str]
"""Id, class, group, letters."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, help="steps of a run  [default: what the defaults come to]")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("finetuning.py: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    data = Path(os.environ["LONGSEQ_DATA"]) / "dna"
    found = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    if found.get("steps") != options.steps or not found:
        found = {"benchmark": "finetuning", "steps": options.steps, "settings": SETTINGS, "yardsticks": {}, "runs": []}
    done = {(run["set"], run["name"], run["seed"]) for run in found["runs"]}
    with tempfile.TemporaryDirectory() as scratch:
        for name, rows in (("junctions", junctions(data)), ("genomes", genomes(data))):
            folder = Path(scratch) / name
            held = write(rows, folder)
            if name not in found["yardsticks"]:
                found["yardsticks"][name] = yardstick(rows, held)
            for seed in range(options.seeds):
                for run, changes in RUNS.items():
                    if (name, run, seed) in done:
                        continue
                    row = {"set": name, "name": run, "seed": seed}
                    row |= measured(folder, held, changes, seed, options.steps)
                    print(row, flush=True)
                    found["runs"].append(row)
                    found["provenance"] = provenance()
                    write_json(options.out, found, force=True)
    write_json(options.out, found, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(found), encoding="utf-8")


def junctions(data: Path) -> list[Labelled]:
    import gzip

    with gzip.open(data / JUNCTIONS, "rt", encoding="ascii") as file:
        _, *lines = file.read().splitlines()
    names = {"ei": "donor", "ie": "acceptor", "n": "neither"}
    rows = (line.split("\t") for line in lines)
    return [(f"j{i}", names[kind], letters, letters) for i, (kind, letters) in enumerate(rows)]


def genomes(data: Path) -> list[Labelled]:
    """Stretches evenly spread over each genome; its last fifth is a group of its own."""
    rows = []
    for name, file in GENOMES.items():
        letters = max((b"".join(record.pieces) for record in read(data / file)), key=len).decode("ascii")
        for i in range(PIECES):
            at = i * (len(letters) - PIECE) // PIECES
            group = f"{name}, {'end' if i >= 0.8 * PIECES else 'beginning'}"
            rows.append((f"{name[0]}{i}", name, group, letters[at : at + PIECE]))
    return rows


def write(rows: list[Labelled], folder: Path) -> list[str]:
    """`records.fa` and `labels.tsv`; the groups to hold out: those of genomes' ends, or a fifth of all, each class
    alike."""
    folder.mkdir()
    (folder / "records.fa").write_text("".join(f">{name}\n{letters}\n" for name, _, _, letters in rows))
    lines = [f"{name}\t{kind}\t{group}\n" for name, kind, group, _ in rows]
    (folder / "labels.tsv").write_text("id\tlabel\tgroup\n" + "".join(lines))
    ends = sorted({group for _, _, group, _ in rows if group.endswith(", end")})
    if ends:
        return ends
    draw, held = np.random.default_rng(0), []
    for kind in sorted({row[1] for row in rows}):
        groups = sorted({row[2] for row in rows if row[1] == kind})
        held += [groups[i] for i in draw.permutation(len(groups))[: len(groups) // 5]]
    return held


def measured(folder: Path, held: list[str], changes: dict, seed: int, steps: int | None) -> dict:
    given = SETTINGS | changes | {"model.seed": seed, "data.seed": seed, "task": "classify"}
    given |= {"inputs": [str(folder / "records.fa")], "labels.file": str(folder / "labels.tsv")}
    given |= {"data.held_out_groups": held, "data.both_strands": folder.name != "junctions"}
    given |= {"steps": steps} if steps else {}
    plans: list = []
    with tempfile.TemporaryDirectory() as run:
        config = load(TrainConfig, None, [f"{key}={json.dumps(value)}" for key, value in given.items()])
        outcome = train(config, Path(run) / "run", announce=plans.append)
    figures = {name: outcome.figures[name] for name in FIGURES}
    plan = plans[0]
    return figures | {
        "trained": plan.parameters,
        "steps": outcome.step,
        "tokens_a_step": plan.batch,
        "tokens": outcome.tokens,
        "seconds": outcome.seconds,
    }


def yardstick(rows: list[Labelled], held: list[str]) -> dict:
    """The likeliest class by Markov models of the training records of each class, and how frequent each is."""
    names = sorted({row[1] for row in rows})
    encode = DnaTokenizer().encode
    codes = [encode(letters.encode("ascii"))[0] for *_, letters in rows]
    kinds = np.array([names.index(row[1]) for row in rows])
    test = np.isin([row[2] for row in rows], held)
    shares = np.log2(np.bincount(kinds[~test], minlength=len(names)))
    best: dict = {"macro_f1": -1.0}
    for order in ORDERS:
        models = [StaticMarkov(order) for _ in names]
        for i in np.flatnonzero(~test):
            models[kinds[i]].train([codes[i]])
        scores = [[share - sum(bits(model, codes[i])) for model, share in zip(models, shares, strict=True)]
                  for i in np.flatnonzero(test)]  # fmt: skip
        counts = classes.confusion(kinds[test], np.argmax(scores, 1), len(names))
        figures = {"macro_f1": classes.macro_f1(counts), "accuracy": classes.accuracy(counts)}
        if figures["macro_f1"] > best["macro_f1"]:
            best = {"order": order, **figures, "records": len(rows), "held_out": int(test.sum())}
    return best


def bits(model: StaticMarkov, codes: np.ndarray) -> Iterator[float]:
    return (float(np.nansum(part)) for part in model.bits([codes]))


def markdown(document: dict) -> str:
    text = ["# finetuning", "", *__doc__.strip().split("\n\n")[-1].splitlines(), ""]
    steps = document["steps"]
    text += [f"Every run was cut to {steps:,} steps (`--steps`).", ""] if steps else []
    for name, yard in document["yardsticks"].items():
        rows = []
        for run in RUNS:
            some = [row for row in document["runs"] if (row["set"], row["name"]) == (name, run)]
            if some:
                rows.append([
                    run,
                    f"{some[0]['trained']:,}",
                    f"{some[0]['steps']:,} × {some[0]['tokens_a_step']:,}",
                    *(spread([row[figure] for row in some]) for figure in ("macro_f1", "accuracy", "auroc")),
                    f"{statistics.median(row['seconds'] for row in some):.0f}",
                ])  # fmt: skip
                null = some[0]["null_accuracy"]
        markov = [f"Markov models, order {yard['order']}", "", "", f"{yard['macro_f1']:.3f}", f"{yard['accuracy']:.3f}"]
        rows += [[*markov, "", ""], ["the most frequent class", "", "", "", f"{null:.3f}", "0.500", ""]]
        text += [f"## {name}: {yard['records']:,} records, {yard['held_out']:,} of them held out", ""]
        columns = ["", "trained parameters", "steps × tokens", "macro F1", "accuracy", "AUROC", "seconds"]
        text += [table(columns, rows)]
    origin = document["provenance"]
    text += [
        f"Mean and range over {len({row['seed'] for row in document['runs']})} seeds. Commit {origin['commit'][:12]}, "
        f"{origin['machine']}, {origin['cores']} cores, one thread, load {origin['load']:.1f}, {origin['time']}.",
        "",
    ]
    return "\n".join(text)


def spread(values: list[float]) -> str:
    """Mean, and the range where there is one."""
    mean = f"{statistics.mean(values):.3f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
