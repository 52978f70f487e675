"""What each part of the default mixer is worth: next-base prediction with one part changed, three seeds each.

    LONGSEQ_DATA=/path/to/data python pipelines/proofs/ablation.py

Learned from: E. coli, H. pylori, V. cholerae, S. aureus; held out: the contigs of Leptospira kirschneri, a genus that
none of them belongs to. Trials are small (see `SETTINGS`) and share data, order and budget of tokens; parameters differ
where a part is taken away. Goes on where it was stopped; `--costs` times all variants side by side, on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from provenance import provenance

from longseq.config import load
from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import LanguageModel
from longseq.training import TrainConfig, train

LEARNED = [f"{name}.fasta.gz" for name in ("Ecoli_K12_MG1655", "Hpylori_G27", "Vcholerae_N16961", "Saureus_NCTC8325")]
HELD_OUT = "Lkirschneri_H1.gbk.gz"
SEEDS = (0, 1, 2)
SETTINGS = {
    "steps": 600,
    "batch": 4096,
    "threads": 1,
    "device": "cpu",
    "model.width": 64,
    "model.heads": 2,
    "model.layers": 2,
    "data.window": 2048,
    "data.carry": 8,
    "data.relabel": 0.5,
    "evaluation.every": 0,
    "evaluation.tokens": 262_144,
    "checkpoint.every": 0,
}
"""Of every trial."""
VARIANTS: dict[str, dict[str, object]] = {
    "default (decay a channel, convolution, gate, norm over the width, silu)": {},
    "no output gate": {"model.output_gate": False},
    "decay: one a head": {"model.decay": "head"},
    "decay: fixed": {"model.decay": "fixed"},
    "decay: none": {"model.decay": "none"},
    "no convolution": {"model.convolution": 0},
    "norm in each head": {"model.mixer_norm": "head"},
    "no norm": {"model.mixer_norm": "none"},
    "map elu + 1": {"model.feature_map": "elu+1"},
    "map relu": {"model.feature_map": "relu"},
    "map exp": {"model.feature_map": "exp"},
    "plain linear attention (elu + 1, none of the parts)": {"model.pattern": ["linear"], "model.feature_map": "elu+1"},
    "gated delta rule": {"model.pattern": ["gated_delta"]},
}
"""What is changed, by name."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--costs", action="store_true", help="time all variants side by side instead")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("ablation.py: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    found = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {"trials": [], "costs": {}}
    found |= {"benchmark": "ablation", "settings": SETTINGS, "learned": LEARNED, "held_out": HELD_OUT}
    if options.costs:
        found["costs"] = costs()
        keep(options.out, found)
        return
    folder = Path(os.environ["LONGSEQ_DATA"]) / "dna"
    done = {(trial["variant"], trial["seed"]) for trial in found["trials"]}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in SEEDS:
            for name in VARIANTS:
                if (name, seed) not in done:
                    found["trials"].append(trial(folder, name, seed, Path(scratch) / "run"))
                    keep(options.out, found)


def settings(name: str, seed: int, *more: str) -> TrainConfig:
    given = SETTINGS | {"data.seed": seed, "model.seed": seed} | VARIANTS[name]
    return load(TrainConfig, None, [f"{key}={json.dumps(value)}" for key, value in given.items()] + list(more))


def trial(folder: Path, name: str, seed: int, run: Path) -> dict:
    """Bits of one variant; `run` keeps what was read for the next."""
    contigs = [record.id for record in read(str(folder / HELD_OUT))]
    inputs = tuple(str(folder / file) for file in (*LEARNED, HELD_OUT))
    config = settings(name, seed)
    config = replace(config, inputs=inputs, data=replace(config.data, held_out_records=tuple(contigs)))
    began = time.monotonic()
    outcome = train(config, run, force=True)
    row = {
        "variant": name,
        "seed": seed,
        "bits_per_base": outcome.figures["bits_per_base"],
        "bases_scored": outcome.figures["tokens"],
        "tokens": outcome.tokens,
        "parameters": sum(p.numel() for p in LanguageModel(config.model).parameters()),
        "seconds": time.monotonic() - began,
        "load": os.getloadavg()[0],
        "commit": provenance()["commit"],
    }
    print(json.dumps(row), file=sys.stderr, flush=True)
    return row


def costs(rounds: int = 7) -> dict[str, float]:
    """Seconds of a training step of each variant over those of the default: medians of interleaved rounds."""
    torch.set_num_threads(1)
    models = {name: LanguageModel(settings(name, 0).model).train() for name in VARIANTS}
    ids = torch.randint(0, 4, (4, 2048))
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for turn in range(rounds + 1):
        for name, model in models.items():
            began = time.perf_counter()
            nats, count, _ = model.loss(ids)
            (nats / count).backward()
            if turn:  # the first pays for what is made once
                times[name].append(time.perf_counter() - began)
    default = times[next(iter(VARIANTS))]
    return {
        name: statistics.median(mine / base for mine, base in zip(times[name], default, strict=True)) for name in times
    }


def keep(file: Path, found: dict) -> None:
    """What was found, and its table."""
    found["provenance"] = provenance()
    write_json(file, found, force=True)
    rows = []
    for name in VARIANTS:
        mine = [trial for trial in found["trials"] if trial["variant"] == name]
        if not mine:
            continue
        bits = [trial["bits_per_base"] for trial in mine]
        spread = f"{statistics.stdev(bits):.4f}" if len(bits) > 1 else ""
        cost = found["costs"].get(name)
        rows.append(
            [
                name,
                f"{statistics.mean(bits):.4f}",
                spread,
                ", ".join(f"{value:.4f}" for value in bits),
                f"{mine[0]['parameters']:,}",
                "" if cost is None else f"{cost:.2f}",
            ]
        )
    rows[1:] = sorted(rows[1:], key=lambda row: row[1])
    first, origin = found["trials"][0] if found["trials"] else {}, found["provenance"]
    said = ", ".join(f"{key.removeprefix('model.')} {value}" for key, value in SETTINGS.items())
    text = "\n".join(
        [
            "# What each part of the default mixer is worth",
            "",
            f"Next-base prediction: learned from {', '.join(LEARNED)} ({first.get('tokens', 0):,} bases each trial), "
            f"bits per base of {first.get('bases_scored', 0):,} bases of {HELD_OUT}, a genus that was not read. "
            "One part of the default is changed at a time; the standard deviation is over seeds (of data and weights). "
            "Cost: seconds of a training step over the default's, medians of interleaved rounds, one thread.",
            "",
            f"Settings: {said}.",
            "",
            table(["variant", "bits per base", "deviation", "seeds", "parameters", "cost"], rows).rstrip("\n"),
            "",
            f"Commits {', '.join(sorted({trial['commit'][:12] for trial in found['trials']}))}, {origin['machine']}, "
            f"{origin['time']}. Costs: {origin['commit'][:12]}.",
            "",
        ]
    )
    with write_aside(file.with_suffix(".md"), force=True) as aside:
        aside.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
