"""Tokens a second and memory of the student, in chunks and whole, beside the whole teacher; each in a process of its
own."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from longseq.model import ModelConfig
from longseq.results.conversion import STREAMED, TEACHER, WHOLE, Skipped, SpeedRow
from longseq.tasks.bench.passes import Job, Passes
from longseq.tasks.bench.worker import Worker, WorkerDiedError
from longseq.tasks.convert.card.config import CardConfig
from longseq.tasks.convert.card.readings import chunk_of


@dataclass
class _Seat:
    reader: str
    worker: Worker
    estimate: float = 0.0
    """Seconds of a pass."""
    seconds: list[float] = field(default_factory=list)
    """One a round."""


def jobs(teacher: ModelConfig, student: ModelConfig, length: int, config: CardConfig) -> dict[str, Job]:
    """What is timed at one length. The whole teacher is one segment, so that every token sees every other, in one
    scaled_dot_product_attention; its positions, which a text of that length would repeat, cost the same."""
    whole = replace(teacher, visibility="segment", across=False, segment=length)
    chunk = chunk_of(student, config.chunk)
    shared = {"length": length, "train": False, "precision": "fp32", "device": "cpu", "shortest": config.shortest}
    return {
        STREAMED: Job(name=student.pattern[0], model=student, chunk=chunk, **shared),  # type: ignore[arg-type]
        WHOLE: Job(name=student.pattern[0], model=student, chunk=max(length, chunk), **shared),  # type: ignore[arg-type]
        TEACHER: Job(name="softmax", model=whole, chunk=length, **shared),  # type: ignore[arg-type]
    }


def speed(teacher: ModelConfig, student: ModelConfig, config: CardConfig) -> tuple[list[SpeedRow], list[Skipped]]:
    """Rows in order of length, and what there was no time or memory for. In a round each reader passes once, one after
    the other, so that what slows the machine slows all."""
    end = time.monotonic() + config.budget
    rows: list[SpeedRow] = []
    skipped: list[Skipped] = []
    for length in sorted(set(config.lengths)):
        # Of a longer text no pass is shorter by token than that of the last length.
        least = sum(length / row.tokens_per_s for row in rows if row.length == rows[-1].length)
        if least > end - time.monotonic():
            skipped.append(_no_time(length, least, end))
            continue
        with ExitStack() as stack:
            found = jobs(teacher, student, length, config)
            seats = [_Seat(name, stack.enter_context(Worker(Passes, job))) for name, job in found.items()]
            for seat in list(seats):
                try:
                    seat.estimate = seat.worker.ask("estimate", config.threads)
                except WorkerDiedError as error:
                    seats.remove(seat)
                    skipped.append(_skipped(seat, length, str(error)))
            cost = sum(max(seat.estimate, config.shortest) for seat in seats)
            if cost > end - time.monotonic():
                skipped.append(_no_time(length, cost, end))
                continue
            skipped += list(_rounds(seats, length, config, end))
            rows += [_row(seat, length) for seat in seats if seat.seconds]
    return rows, skipped


def _no_time(length: int, cost: float, end: float) -> Skipped:
    left = max(end - time.monotonic(), 0)
    return Skipped(what=f"speed at {length:,} tokens", reason=f"it takes {cost:.0f} s or more, with {left:.0f} s left")


def _rounds(seats: list[_Seat], length: int, config: CardConfig, end: float) -> Iterator[Skipped]:
    """One round, and then as many as fit."""
    for _ in range(config.rounds):
        began = time.monotonic()
        for seat in list(seats):
            try:
                seat.seconds.append(seat.worker.ask("run", config.threads))
            except WorkerDiedError as error:
                seats.remove(seat)
                yield _skipped(seat, length, str(error))
        now = time.monotonic()
        if now + (now - began) > end:
            return


def _row(seat: _Seat, length: int) -> SpeedRow:
    return SpeedRow(
        reader=seat.reader,
        length=length,
        tokens_per_s=length / statistics.median(seat.seconds),
        seconds=seat.seconds,
        peak_mb=seat.worker.ask("peak_mb"),
    )


def _skipped(seat: _Seat, length: int, reason: str) -> Skipped:
    return Skipped(what=f"speed of {seat.reader} at {length:,} tokens", reason=reason)
