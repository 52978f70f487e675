"""The benchmark: every mixer at every length, side by side, in the time there is."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from longseq.config import to_mapping
from longseq.log import NullProgress, Progress, duration
from longseq.results.bench import Bench, BenchRow, BenchSkipped, MatmulRate
from longseq.results.run import Run, peak_rss_mb
from longseq.tasks.bench.config import LONGEST_STEP, BenchConfig
from longseq.tasks.bench.machine import MatmulRates, describe, load
from longseq.tasks.bench.passes import Job, Passes
from longseq.tasks.bench.references import BOUND, NOTES, visibility
from longseq.tasks.bench.worker import Worker, WorkerDiedError


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """What is measured side by side: every contender at one length."""

    length: int
    train: bool


@dataclass
class _Seat:
    """One contender of a sitting."""

    name: str
    worker: Worker
    estimate: float = 0.0
    """Seconds of a pass at each thread count, in all."""
    seconds: dict[int, list[float]] = field(default_factory=dict)
    """By thread count, one a round."""

    @property
    def threads(self) -> int:
        """The fastest count."""
        return min(self.seconds, key=lambda n: statistics.median(self.seconds[n]))

    @property
    def times(self) -> list[float]:
        return self.seconds[self.threads]


def bench(config: BenchConfig, *, command: str = "longseq bench", progress: Progress | None = None) -> Bench:
    """Measure what `config` asks for; each model runs in a fresh process of its own.

    In a round every contender passes once over the length, one after the other, so that what slows the machine slows
    all of them; figures are medians over rounds. Inference is the encoder alone.

    Raises:
        UsageError: no such device, or a mixer that cannot be built as configured.
    """
    progress = progress or NullProgress()
    began, load_before = time.monotonic(), load()
    kinds = (False, True) if config.train else (False,)
    sittings = [Sitting(length=length, train=train) for train in kinds for length in dict.fromkeys(config.lengths)]
    rows: list[BenchRow] = []
    skipped: list[BenchSkipped] = []
    progress.start("bench", None, "row")  # no total: long rows come last, and a rate of rows would mislead
    try:
        with MatmulRates(config) as rates:
            for i, sitting in enumerate(sittings):
                rates.sample()
                left = config.budget - (time.monotonic() - began)
                measured, missing = _sit(config, sitting, left / (len(sittings) - i), progress)
                rows += measured
                skipped += missing
            rates.sample()
            matmul = rates.rates()
    finally:
        progress.finish()
    seconds = time.monotonic() - began
    tokens = sum(row.length * len(row.seconds) for row in rows)
    names = {row.mixer for row in rows} | {row.mixer for row in skipped}
    return Bench(
        run=_run(config, command, tokens, seconds),
        machine=describe(config, matmul, load_before),
        config=to_mapping(config),
        rows=[dataclasses.replace(row, share_of_matmul=_share_of_matmul(row, matmul)) for row in rows],
        skipped=skipped,
        notes={name: note for name, note in NOTES.items() if name in names},
    )


def _sit(
    config: BenchConfig, sitting: Sitting, allowed: float, progress: Progress
) -> tuple[list[BenchRow], list[BenchSkipped]]:
    """Measure one length within `allowed` seconds, about."""
    skipped: list[BenchSkipped] = []

    def skip(name: str, reason: str, **facts: Any) -> None:
        skipped.append(BenchSkipped(mixer=name, **vars(sitting), reason=reason, **facts))
        progress.advance(1)

    too_long = sitting.train and sitting.length > LONGEST_STEP
    if too_long or allowed <= 0:
        for name in config.contenders:
            if too_long:
                skip(name, f"training steps are measured up to {LONGEST_STEP:,} tokens")
            else:
                skip(name, "no time is left", out_of_time=True)
        return [], skipped
    began = time.monotonic()
    with ExitStack() as stack:
        seats = []
        for name in config.contenders:
            job = Job(
                name=name,
                model=config.model,
                **vars(sitting),
                chunk=config.chunk,
                precision=config.precision,
                device=config.device,
                shortest=config.shortest,
            )
            seats.append(_Seat(name, stack.enter_context(Worker(Passes, job))))
        seated = []
        for seat in seats:
            try:
                seat.estimate = sum(seat.worker.ask("estimate", threads) for threads in config.threads)
            except WorkerDiedError as error:
                skip(seat.name, str(error))
            else:
                seated.append(seat)
        # The cheapest first, but the bound before all: every share is of it.
        taken, spent = [], time.monotonic() - began
        for seat in sorted(seated, key=lambda seat: (seat.name != BOUND, seat.estimate)):
            cost = max(seat.estimate, config.shortest * len(config.threads))
            if spent + cost > allowed:
                pass_seconds = seat.estimate / len(config.threads)
                left = max(allowed - spent, 0.0)
                reason = f"a pass takes about {_time(pass_seconds)}, with {_time(left)} left for this length"
                skip(seat.name, reason, out_of_time=True, estimated_seconds=pass_seconds)
            else:
                taken.append(seat)
                spent += cost
        seated = [seat for seat in seats if seat in taken]
        for _ in _rounds(config.repeats, began + allowed):
            for seat in list(seated):
                try:
                    for threads in config.threads:
                        seat.seconds.setdefault(threads, []).append(seat.worker.ask("run", threads))
                except WorkerDiedError as error:
                    seated.remove(seat)
                    skip(seat.name, str(error))
        rows = list(_rows(config, sitting, seated))
    progress.advance(len(rows))
    return rows, skipped


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"


def _rounds(most: int, end: float) -> Iterator[int]:
    """One, and then as many as fit, as long as the last one each."""
    for i in range(most):
        began = time.monotonic()
        yield i
        now = time.monotonic()
        if now + (now - began) > end:
            return


def _rows(config: BenchConfig, sitting: Sitting, seats: Sequence[_Seat]) -> Iterator[BenchRow]:
    bound = next((seat.times for seat in seats if seat.name == BOUND), None)
    for seat in seats:
        facts = seat.worker.ask("facts")
        times = seat.times
        yield BenchRow(
            mixer=seat.name,
            **vars(sitting),
            visibility=visibility(seat.name, config.model),
            **facts,
            precision=config.precision,
            threads=seat.threads,
            tokens_per_s=sitting.length / statistics.median(times),
            seconds=times,
            peak_mb=seat.worker.ask("peak_mb"),
            share_of_bound=None if bound is None else ratio(bound, times),
            share_of_matmul=None,
        )


def ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """Median over the rounds of seconds of a by seconds of b: how many times as fast b is."""
    return statistics.median(x / y for x, y in zip(a, b, strict=True))


def _share_of_matmul(row: BenchRow, rates: Sequence[MatmulRate]) -> float | None:
    rate = next(rate for rate in rates if rate.threads == row.threads)
    gflops = rate.gflops_fp32 if row.precision == "fp32" else rate.gflops_bf16
    work = (6 if row.train else 2) * row.parameters * row.tokens_per_s / 1e9
    return None if gflops is None else work / gflops


def _run(config: BenchConfig, command: str, tokens: int, seconds: float) -> Run:
    from longseq import __version__

    return Run(
        version=__version__,
        command=command,
        device=config.device,
        precision=config.precision,
        threads=max(config.threads),
        tokens=tokens,
        seconds=seconds,
        tokens_per_s=tokens / seconds,
        peak_rss_mb=peak_rss_mb(),
    )
