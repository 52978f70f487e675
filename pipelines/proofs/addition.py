"""Two-digit addition from characters, "13+35" to "48", through seven models side by side: addition.json, .md and .png.

    python pipelines/proofs/addition.py                       # all that is not in the JSON yet, one thread
    python pipelines/proofs/addition.py --models rnn gru      # these only
    python pipelines/proofs/addition.py --steps 20 --out x.json   # does it run?

All 10,000 ordered pairs of 0 to 99; a tenth of them is held out, drawn once, the same for all models. An answer counts
if it is the sum and nothing else, digit by digit from the front, each the likeliest after source and separator. All
models have one shape, but for the inner width of the feed-forward network, by which they have like many parameters.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from provenance import provenance

from longseq.config import load
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.training import TrainConfig, train

INNER = {"rnn": 256, "gru": 168, "lstm": 128, "softmax": 216, "linear": 216, "gated": 168, "delta": 184}
"""Inner width of the feed-forward network of each model."""
STEPS = 3000
SETTINGS = {
    "task": "seq2seq",
    "device": "cpu",
    "threads": 1,
    "batch": 128 * 10,  # a row has 10 tokens at most
    "data.window": 10,
    "model.width": 64,
    "model.layers": 2,
    "model.heads": 4,
    "optimiser.rate": 4e-3,
    "optimiser.floor": 0.01,
    "optimiser.warmup": 0.05,
    "checkpoint.every": 0,
    "checkpoint.best": False,
}
EVALUATIONS = 20
ENOUGH = 0.99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=INNER, default=list(INNER))
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=0, help="of weights, order and what is held out")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--set", dest="settings", metavar="KEY=VALUE", action="append", default=[])
    options = parser.parse_args()
    for name in options.models:
        if name in done(options.out):
            continue
        found = run(name, options.steps, options.seed, options.settings)
        # Read again: another process may have added other models meanwhile.
        document = {"proof": "addition", "runs": done(options.out) | {name: found}}
        write_json(options.out, document, force=True)
        print(f"{name:>8} {found['exact_match']:.2%} after {found['steps']:,} steps", flush=True)
    runs = done(options.out)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(runs), encoding="utf-8")
    draw(runs, options.out.with_suffix(".png"))


def done(file: Path) -> dict[str, dict]:
    """The runs that a JSON holds, by model."""
    return json.loads(file.read_text(encoding="utf-8"))["runs"] if file.exists() else {}


def run(name: str, steps: int, seed: int, more: list[str]) -> dict:
    """Train one model: its settings, its size, and what was found held out on the way."""
    settings = SETTINGS | {
        "steps": steps,
        "evaluation.every": max(steps // EVALUATIONS, 1),
        "model.pattern": [name],
        "model.feedforward_width": INNER[name],
        "model.seed": seed,
        "data.seed": seed,
    }
    began, clock, plans = time.monotonic(), time.process_time(), []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lines = [f"{a}+{b}\t{a + b}\n" for a in range(100) for b in range(100)]
        (folder / "pairs.tsv").write_text("source\ttarget\n" + "".join(lines), encoding="utf-8")
        given = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        config = load(TrainConfig, None, [*given, f"inputs={json.dumps([str(folder / 'pairs.tsv')])}", *more])
        outcome = train(config, folder / "run", announce=plans.append)
        journal = (folder / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    figures = ("exact_match", "bits_per_target_token")
    curve = [
        {"step": line["step"], **{figure: line[f"held_out_{figure}"] for figure in figures}}
        for line in map(json.loads, journal)
        if "held_out_exact_match" in line
    ]
    return {
        "settings": settings,
        "set": more,
        "parameters": plans[0].parameters,
        "steps": outcome.step,
        "held_out_pairs": outcome.figures["pairs"],
        **{name: outcome.figures[name] for name in (*figures, *(f"null_{figure}" for figure in figures))},
        "curve": curve,
        "minutes": (time.monotonic() - began) / 60,
        "cpu_minutes": (time.process_time() - clock) / 60,
        "provenance": provenance(),
    }


def reached(found: dict) -> int | None:
    """The first step from which on every evaluation found enough; None: the last one did not."""
    step = None
    for point in reversed(found["curve"]):
        if point["exact_match"] < ENOUGH:
            break
        step = point["step"]
    return step


def markdown(runs: dict[str, dict]) -> str:
    """Sizes, budget and result of each model."""
    runs = {name: runs[name] for name in INNER if name in runs}
    first = next(iter(runs.values()))
    rows = []
    for name, found in runs.items():
        step = reached(found)
        rows.append(
            [
                name,
                f"{found['parameters']:,}",
                f"{found['exact_match']:.2%}",
                "not reached" if step is None else f"{step:,}",
                f"{found['steps']:,}",
                f"{found['bits_per_target_token']:.4f}",
                f"{found['cpu_minutes']:.1f}",
            ]
        )
    columns = ["model", "parameters", "exact", f"{ENOUGH:.0%} from step", "steps", "bits a token", "CPU minutes"]
    origins = {(f["provenance"]["commit"][:12], f["provenance"]["machine"]) for f in runs.values()}
    settings = first["settings"]
    return "\n".join(
        [
            "# Two-digit addition from characters",
            "",
            *__doc__.strip().split("\n\n")[-1].splitlines(),
            "",
            f"Exact: share of {first['held_out_pairs']:,} held-out sums told exactly. The most frequent training "
            f"answer is right for {first['null_exact_match']:.2%}; by frequencies alone a token takes "
            f"{first['null_bits_per_target_token']:.2f} bits.",
            "",
            table(columns, rows),
            f"{settings['model.layers']} layers of {settings['model.width']} channels, "
            f"{settings['batch'] // settings['data.window']} pairs a step, rate {settings['optimiser.rate']:g}, seed "
            f"{settings['data.seed']}; one thread. "
            + "; ".join(f"commit {commit}, {machine}" for commit, machine in sorted(origins))
            + ".",
            "",
            "![Exact match against steps](addition.png)",
            "",
        ]
    )


def draw(runs: dict[str, dict], file: Path) -> None:
    """Exact match against steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), dpi=110)
    axes = figure.subplots()
    for name in INNER:
        if name in runs:
            points = np.array([(point["step"], point["exact_match"]) for point in runs[name]["curve"]])
            axes.plot(points[:, 0], 100 * points[:, 1], label=name, linewidth=1.5)
    axes.axhline(100 * ENOUGH, color="#888888", linestyle=":", linewidth=1)
    axes.set(xlabel="steps", ylabel="held-out sums exact, %", ylim=(0, 101))
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    with write_aside(file, force=True) as aside:
        figure.savefig(aside, format="png", metadata={"Software": None})


if __name__ == "__main__":
    main()
