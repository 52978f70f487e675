"""Puzzles that show what a state can keep: made on the fly, trained by the loop of longseq, told in a table.

A puzzle makes rows of symbols in which some are asked for: the symbol must be foretold from all that stands before it.
Row number n of a run is a function of the seed and n, so that a puzzle has no data, no end, and resumes exactly.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from provenance import provenance

from longseq.config import load
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import LanguageModel
from longseq.model.state import named_tensors
from longseq.tokens.stream import StreamTokenizer
from longseq.training import TrainConfig, train
from longseq.training.batch import Batch
from longseq.training.device import sum_over
from longseq.training.objective import NextTokenLoss
from longseq.training.tasks import Figures, Task

CHUNK = 2048
"""Tokens of a recurrent call when a row is scored."""
UNKNOWN = "[unknown]"


@dataclass(frozen=True)
class Puzzle:
    name: str
    words: Sequence[str]
    """The symbols, by id."""
    make: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
    """Ids (T,) and which of them are asked for, (T,) of 0 and 1, of a row of T symbols."""
    chance: float
    """Share of the asked that is right without reading."""


class Rows:
    """Rows of one width; `part` 0 is learned from, 1 is held out."""

    carry = 1
    passages = 1 << 40  # as good as no end

    def __init__(self, puzzle: Puzzle, width: int, seed: int, part: int = 0):
        self._puzzle, self.width, self._seed, self._part = puzzle, width, seed, part

    def at(self, width: int) -> Rows:
        """Rows of another width."""
        return Rows(self._puzzle, width, self._seed, self._part)

    def batch(self, numbers: Sequence[int], phase: int) -> Batch:
        drawn = [
            self._puzzle.make(np.random.default_rng([self._seed, self._part, self.width, number]), self.width)
            for number in numbers
        ]
        ids, weight = (np.stack(arrays) for arrays in zip(*drawn, strict=True))
        return Batch(ids, weight.astype(np.float32))

    def places(self, number: int, phase: int) -> list:
        """None: a row comes from nowhere."""
        return []


class PuzzleTask(Task):
    main, lower_is_better = "accuracy", False

    def __init__(self, config: TrainConfig, puzzle: Puzzle):
        self.config, self.puzzle = config, puzzle
        words = {word: i for i, word in enumerate([*puzzle.words, UNKNOWN])}
        vocabulary = Tokenizer(models.WordLevel(words, unk_token=UNKNOWN))
        vocabulary.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        self.tokenizer = StreamTokenizer(vocabulary)
        self.digest = hashlib.sha256(f"{puzzle.name} {len(puzzle.words)}".encode()).hexdigest()[:16]
        self.train = Rows(puzzle, config.data.window, config.data.seed)
        self.held_out = Rows(puzzle, config.data.window, config.data.seed, part=1)
        self.bases = self.train.passages * self.train.width
        self.described, self.rule = f"rows of {puzzle.name}", "other rows"
        self.to_score = config.evaluation.tokens

    def model(self) -> LanguageModel:
        return LanguageModel(self.config.model)

    def objective(self, model: Any) -> NextTokenLoss:
        return NextTokenLoss(model)

    def evaluate(self, objective: Any, processes: Any, *, lanes: int, stop: Callable[[], bool]) -> Figures | None:
        count = max(self.config.evaluation.tokens // self.held_out.width, 1)
        mine = range(processes.process_index, count, processes.num_processes)
        right, asked = score(objective.model, self.held_out, mine)
        right, asked, stopped = sum_over(processes, right, asked, stop())
        return None if stopped else {"accuracy": right / asked, "asked": asked, "chance": self.puzzle.chance}

    def learned(self, loss: float) -> Figures:
        return {"loss": loss}

    def said(self, figures: Figures) -> str:
        return f"{figures['accuracy']:.2%} of {figures['asked']:,.0f} asked are right (chance {figures['chance']:.2%})"

    def notes(self) -> tuple[str, ...]:
        return ()

    def facts(self) -> dict[str, object]:
        return {"task": self.puzzle.name}


def score(model: LanguageModel, rows: Rows, numbers: Sequence[int], lanes: int = 64) -> tuple[float, float]:
    """How many of the asked are foretold right, and how many were asked; each row is read chunk after chunk."""
    right = asked = 0.0
    at_once = max(min(lanes, 65536 // rows.width), 1)
    model.eval()
    with torch.no_grad():
        for first in range(0, len(numbers), at_once):
            batch, state = rows.batch(numbers[first : first + at_once], 0), None
            for start in range(0, rows.width, CHUNK):
                ids = torch.from_numpy(batch.ids[:, start : start + CHUNK])
                logits, state = model(ids, state)
                weight = batch.weight[:, start : start + CHUNK]
                right += float(((logits.argmax(-1) == ids).numpy() * weight).sum())
                asked += float(weight.sum())
    model.train()
    return right, asked


@dataclass(frozen=True)
class Proof:
    """Models side by side on one puzzle."""

    title: str
    text: str
    """What is asked, for the reader of the table."""
    puzzle: Puzzle
    settings: Mapping[str, object]
    """Of every model, by key of the training configuration."""
    variants: Mapping[str, Mapping[str, object]]
    """Of each, by name."""
    seeds: Sequence[int] = (0,)
    lengths: Sequence[int] = ()
    """Rows that long are asked at the end too."""
    rows: int = 64
    """Rows of each such length."""

    def main(self, file: Path) -> None:
        """Train what is not in the JSON beside the recipe yet, and write its table."""
        parser = argparse.ArgumentParser(description=self.title)
        parser.add_argument("--models", nargs="+", choices=list(self.variants), default=list(self.variants))
        parser.add_argument("--out", type=Path, default=file.with_suffix(".json"))
        options = parser.parse_args()
        found = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {"runs": []}
        found |= {"benchmark": file.stem, "settings": dict(self.settings)}
        done = {(run["model"], run["seed"]) for run in found["runs"]}
        for seed in self.seeds:
            for name in options.models:
                if (name, seed) not in done:
                    found["runs"].append(self.run(name, seed))
                    found["provenance"] = provenance()
                    write_json(options.out, found, force=True)
        self.write(options.out.with_suffix(".md"), found)

    def config(self, name: str, seed: int) -> TrainConfig:
        given = {
            "model.vocabulary": len(self.puzzle.words) + 1,  # and a word that none of them is
            "evaluation.every": 0,
            "checkpoint.every": 0,
            "checkpoint.best": False,
            **self.settings,
            **self.variants[name],
            "data.seed": seed,
            "model.seed": seed,
        }
        return load(TrainConfig, None, [f"{key}={json.dumps(value)}" for key, value in given.items()])

    def run(self, name: str, seed: int) -> dict:
        """Train one model, and ask it."""
        config, began = self.config(name, seed), time.monotonic()
        tasks: list[PuzzleTask] = []

        def task(config: TrainConfig) -> Task:
            tasks.append(PuzzleTask(config, self.puzzle))
            return tasks[-1]

        with tempfile.TemporaryDirectory() as scratch:
            outcome = train(config, Path(scratch) / "run", task=task)
            seconds = time.monotonic() - began
            lines = [json.loads(line) for line in (Path(scratch) / "run" / "metrics.jsonl").open(encoding="utf-8")]
            from longseq import load as load_model

            model = load_model(str(outcome.model)).model
        by_length = {
            str(length): right / asked
            for length in self.lengths
            for right, asked in [score(model, tasks[-1].held_out.at(length), range(self.rows))]
        }
        row = {
            "model": name,
            "seed": seed,
            "accuracy": outcome.figures["accuracy"],
            "asked": outcome.figures["asked"],
            "by_length": by_length,
            "state": state_size(model, config.data.window),
            "parameters": sum(p.numel() for p in model.parameters()),
            "steps": outcome.step,
            "minutes": seconds / 60,
            "load": os.getloadavg()[0],
            "curve": [[line["step"], line["held_out_accuracy"]] for line in lines if "held_out_accuracy" in line],
        }
        print(json.dumps({key: value for key, value in row.items() if key != "curve"}), file=sys.stderr, flush=True)
        return row

    def write(self, file: Path, found: dict) -> None:
        heads = ["model", "right", *(f"{length:,}" for length in self.lengths), "state", "parameters", "minutes"]
        cells = []
        for name in self.variants:
            runs = [run for run in found["runs"] if run["model"] == name]
            if runs:
                cells.append(
                    [
                        name,
                        said([run["accuracy"] for run in runs]),
                        *(said([run["by_length"][str(length)] for run in runs]) for length in self.lengths),
                        f"{runs[0]['state']:,}",
                        f"{runs[0]['parameters']:,}",
                        f"{statistics.median(run['minutes'] for run in runs):.1f}",
                    ]
                )
        origin, settings = found["provenance"], ", ".join(f"{k} {v}" for k, v in self.settings.items())
        seeds = ", ".join(map(str, self.seeds))
        text = [
            f"# {self.title}",
            "",
            f"{self.text} Chance: {self.puzzle.chance:.2%}.",
            "",
            f"`state`: numbers in the state after a row of {self.config(next(iter(self.variants)), 0).data.window:,} "
            "symbols, layers together; of a memory, both halves of the compensated sum count as one.",
            "",
            f"Settings: {settings}; seeds {seeds}.",
            "",
            table(heads, cells).rstrip("\n"),
            "",
            f"Minutes are of one thread on a machine that others used too. Commit {origin['commit'][:12]}, "
            f"{origin['machine']}, {origin['time']}.",
            "",
        ]
        with write_aside(file, force=True) as aside:
            aside.write_text("\n".join(text), encoding="utf-8")


def said(shares: Sequence[float]) -> str:
    """`99.8 %`, or of several runs their mean and the lowest."""
    mean = f"{statistics.mean(shares):.1%}"
    return mean if len(shares) == 1 else f"{mean} (lowest {min(shares):.1%})"


def state_size(model: LanguageModel, length: int) -> int:
    """Numbers in the state after so many tokens."""
    with torch.no_grad():
        state = model(torch.zeros(1, length, dtype=torch.long))[1]
    return sum(tensor.numel() for name, tensor in named_tensors(state) if _kept(name))


def _kept(name: str) -> bool:
    """Whether a tensor of a state counts: the low half of a sum, the count and the last hidden vector do not."""
    return name.startswith("layers") and not name.endswith((".lo", ".exponent"))
