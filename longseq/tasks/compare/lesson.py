"""A lesson: one model learns one task."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longseq.config import load
from longseq.model import LanguageModel
from longseq.model import load as load_model
from longseq.results.compare import ADDITION, Learned, Point, Reach, TaskFacts
from longseq.tasks.compare import addition, bases
from longseq.tasks.compare.config import CompareConfig
from longseq.tasks.compare.reach import gradient_norms
from longseq.tasks.compare.shapes import shape
from longseq.training import TrainConfig, train
from longseq.training.plan import Plan

FIGURES = {ADDITION: ("bits_per_target_token", "exact_match"), "bases": ("bits_per_base", "right")}
"""What an evaluation calls bits and the share that is right."""


@dataclass(frozen=True, kw_only=True)
class Job:
    model: str
    task: str
    config: CompareConfig
    steps: int
    scratch: str
    """A directory of whoever asks, who removes it: a process that is stopped leaves its files."""


@dataclass(frozen=True, kw_only=True)
class Found:
    learned: Learned
    facts: TaskFacts


class Learner:
    """A process in which lessons follow one another: what torch and accelerate load takes longer than a short one, and
    is loaded once."""

    def learn(self, job: Job) -> Found:
        return Lesson(job).learn()

    def step_seconds(self, job: Job) -> float:
        return Lesson(job).step_seconds()


class Lesson:
    """Done in a folder of its own inside the scratch directory, of which nothing is left."""

    def __init__(self, job: Job):
        self._job = job

    def prepare(self) -> None:
        """The bases that all lessons of them read: an input that cannot be read is refused before any model learns."""
        self._task(self._config(Path(self._job.scratch)))

    def step_seconds(self) -> float:
        """Of a step, by one on trial; its update not counted."""
        plans: list[Plan] = []
        with tempfile.TemporaryDirectory(dir=self._job.scratch) as scratch:
            config = self._config(Path(scratch))
            train(config, Path(scratch) / "run", dry_run=True, announce=plans.append, task=self._task(config))
        return plans[0].step_seconds

    def learn(self) -> Found:
        """Train, and look back."""
        plans: list[Plan] = []
        with tempfile.TemporaryDirectory(dir=self._job.scratch) as scratch:
            config, run = self._config(Path(scratch)), Path(scratch) / "run"
            outcome = train(config, run, announce=plans.append, task=self._task(config))
            journal = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
            assert outcome.model is not None
            checkpoint = load_model(outcome.model)
        model = checkpoint.language_model()
        letters = self._letters(checkpoint.tokenizer)
        points, seconds = self._curve(journal)
        learned = Learned(
            model=self._job.model,
            task=self._job.task,
            parameters=plans[0].parameters,
            steps=outcome.step,
            tokens=outcome.tokens,
            seconds=seconds,
            curve=points,
            reach=self._reach(model, letters),
        )
        return Found(learned=learned, facts=self._facts(plans[0], outcome.figures))

    def _config(self, scratch: Path) -> TrainConfig:
        job = self._job
        asked = job.config.task(job.task)
        own = addition.settings(job.config, scratch, job.steps) if job.task == ADDITION else bases.settings(job.config)
        model = {f"model.{name}": value for name, value in vars(shape(job.model, job.config)).items()}
        common = {
            **model,
            "device": "cpu",
            "threads": 1,
            "steps": job.steps,
            "data.seed": job.config.seed,
            "optimiser.rate": asked.rate,
            "optimiser.floor": 0.01,
            "optimiser.warmup": 0.05,
            "evaluation.every": max(job.steps // asked.evaluations, 1),
            "checkpoint.every": 0,
            "checkpoint.best": False,
        }
        return load(TrainConfig, None, [f"{key}={json.dumps(value)}" for key, value in (common | own).items()])

    def _task(self, config: TrainConfig) -> Any:
        return None if self._job.task == ADDITION else bases.task(config, Path(self._job.scratch) / "bases")

    def _letters(self, tokenizer: Any) -> list[int]:
        if self._job.task != ADDITION:
            return list(range(bases.LETTERS))
        return [int(tokenizer.encode(letter)[0]) for letter in addition.ALPHABET]

    def _reach(self, model: LanguageModel, letters: list[int]) -> Reach:
        asked = self._job.config.reach
        before, after = (
            gradient_norms(each, letters, asked.distances, examples=asked.examples, seed=self._job.config.seed)
            for each in (LanguageModel(model.config), model)
        )
        return Reach(distances=asked.distances, initial=before, trained=after)

    def _curve(self, journal: list[dict[str, Any]]) -> tuple[tuple[Point, ...], float]:
        """Evaluations, and the seconds of all steps."""
        bits, right = FIGURES[self._job.task]
        found: list[Point] = []
        tokens, seconds = 0, 0.0
        for line in journal:
            if "tokens_per_s" in line:
                seconds += (line["tokens"] - tokens) / line["tokens_per_s"]
                tokens = line["tokens"]
            else:
                found.append(
                    Point(
                        step=line["step"],
                        tokens=tokens,
                        seconds=seconds,
                        bits=line[f"held_out_{bits}"],
                        right=line[f"held_out_{right}"],
                    )
                )
        return tuple(found), seconds

    def _facts(self, plan: Plan, figures: Any) -> TaskFacts:
        sums = self._job.task == ADDITION
        return TaskFacts(
            name=self._job.task,
            data=plan.data,
            held_out=plan.held_out,
            frequency_bits=figures["null_bits_per_target_token" if sums else "composition_bits_per_base"],
            frequency_right=float(figures["null_exact_match" if sums else "null_right"]),
            counted_bits=None if sums else figures["null_bits_per_base"],
            counted_order=None if sums else int(figures["null_order"]),
        )
