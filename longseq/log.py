"""Progress: a bar on a terminal, one line a minute elsewhere, nothing in a library call.

The library takes a `Progress` and tells it how far it is; only `cli` chooses which one. Talk goes to stderr.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol, TextIO

from longseq.errors import printable

log = logging.getLogger("longseq")

WIDE = 110
"""Columns of a terminal from which the bar is a long one."""
SETTLED = 1.0
"""Seconds of work before which a bar shows no speed: much is read ahead at first."""


class Progress(Protocol):
    def start(self, what: str, total: int | None, unit: str) -> None:
        """A task begins; `total` in `unit` where known."""

    def advance(self, amount: int, *, total: int | None = None, **facts: object) -> None:
        """`amount` more is done; `total` is a better estimate of it all; `facts` (record, memory, exponent, loss …) are
        shown as they are."""

    def finish(self) -> None:
        """The task ended, well or not."""


class Spot:
    """Where in a record a pass is, spelled only when it is shown: `chr2 at 1.2 M of 3.4 M`."""

    LONGEST = 32
    """Letters of a name that are shown."""

    def __init__(self, name: str, length: int | None = None, unit: str = ""):
        self._name, self._length, self._unit, self._at = name, length, unit, 0

    def on(self, amount: int) -> Spot:
        """`amount` further; the spot itself."""
        self._at += amount
        return self

    def __str__(self) -> str:
        name = "".join(letter if letter.isprintable() else "?" for letter in self._name)
        name = name if len(name) <= self.LONGEST else f"{name[: self.LONGEST - 1]}…"
        text = f"{name} at {short(self._at)}" + (f" of {short(self._length)}" if self._length else "")
        return f"{text} {self._unit}" if self._unit else text


class NullProgress:
    """Says nothing."""

    def start(self, what: str, total: int | None = None, unit: str = "") -> None: ...

    def advance(self, amount: int, *, total: int | None = None, **facts: object) -> None: ...

    def finish(self) -> None: ...


class LineProgress:
    """One line every `period` seconds: done, rate, time left, facts."""

    def __init__(self, stream: TextIO | None = None, period: float = 60.0, clock: Callable[[], float] = time.monotonic):
        self._stream, self._period, self._clock = stream or sys.stderr, period, clock
        self._what, self._total, self._unit, self._done = "", None, "", 0  # type: tuple[str, int | None, str, int]
        self._began = self._said = clock()

    def start(self, what: str, total: int | None = None, unit: str = "") -> None:
        self._what, self._total, self._unit, self._done = printable(what), total, unit, 0
        self._began = self._said = self._clock()

    def advance(self, amount: int, *, total: int | None = None, **facts: object) -> None:
        self._done, self._total = self._done + amount, total or self._total
        now = self._clock()
        if now - self._said >= self._period:
            self._said = now
            self._stream.write(describe(self._what, self._done, self._total, self._unit, now - self._began, facts))
            self._stream.write("\n")
            self._stream.flush()

    def finish(self) -> None: ...


class BarProgress:
    """A bar that rewrites its line, or on a narrow terminal a percentage; needs a terminal."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream or sys.stderr
        self._bar, self._total = None, None  # type: object, int | None

    def start(self, what: str, total: int | None = None, unit: str = "") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
        from rich.table import Column

        self.finish()
        self._total, self._unit, self._done, self._began = total, unit, 0, time.monotonic()
        console = Console(file=self._stream)
        self._wide = console.width >= WIDE
        columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False)]  # it may hold [brackets]
        columns += [BarColumn(), TimeRemainingColumn()] if self._wide else []
        line = Column(no_wrap=True, overflow="ellipsis")
        columns.append(TextColumn("{task.fields[facts]}", markup=False, table_column=line))
        self._bar = Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task(printable(what), total=total, facts="")
        self._bar.start()

    def advance(self, amount: int, *, total: int | None = None, **facts: object) -> None:
        self._done, self._total = self._done + amount, total or self._total
        if self._bar is not None:
            shown = "  ".join([*self._told(), *(str(v) if k == "record" else f"{k} {v}" for k, v in facts.items())])
            self._bar.update(self._task, advance=amount, total=self._total, facts=printable(shown))  # type: ignore[attr-defined]

    def _told(self) -> Iterator[str]:
        """What is done, how fast, and without a bar how long the rest takes."""
        spent, total, unit = time.monotonic() - self._began, self._total, self._unit
        rate = self._done / spent if spent and spent >= SETTLED else 0.0
        if total and not self._wide:
            yield f"{100 * self._done / total:.0f} %"
            yield _amount(self._done, None, unit)
        else:
            yield _amount(self._done, total, unit)
        if rate and _tells(rate, total):
            yield f"{short(rate)} {unit}s/s" if self._wide else f"{short(rate)}/s"
        if rate and total and not self._wide:
            yield f"{duration(max(total - self._done, 0) / rate)} left"

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]
            self._bar = None


def describe(what: str, done: int, total: int | None, unit: str, seconds: float, facts: dict[str, object]) -> str:
    """`summarize chr2: 12.1 M of 16.0 M bases (75 %), 41.2 k bases/s, 1 min 34 s left, memory 312 MiB`."""
    rate = done / max(seconds, 1e-9)
    text = f"{what}: {_amount(done, total, unit)}" + (f" ({100 * done / total:.0f} %)" if total else "")
    if _tells(rate, total):
        text += f", {short(rate)} {unit}s/s"
    if total and rate > 0:
        text += f", {duration(max(total - done, 0) / rate)} left"
    return text + "".join(f", {name} {value}" for name, value in facts.items())


def _amount(done: int, total: int | None, unit: str) -> str:
    """`12.1 M of 16 M bases`."""
    if total:
        return f"{short(done)} of {short(total)} {unit}s"
    return f"{short(done)} {unit}" + "s" * (done != 1)


def _tells(rate: float, total: int | None) -> bool:
    """Whether a rate says something: of steps that take seconds each, and nobody knows how many, it does not."""
    return bool(total) or rate >= 1


def short(number: float) -> str:
    """Three figures and a decimal prefix: 41200 is `41.2 k`, 999_700 is `1 M`."""
    for scale, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(number) >= 0.9995 * scale:  # what three figures round up to it
            return f"{_figures(number / scale)}{prefix}"
    return _figures(number)


def learned(steps: int, tokens: int, seconds: float | None = None) -> str:
    """`13 steps, 574 tokens in 7 s`, or without the time: what a training came to."""
    text = f"{count(steps, 'step')}, {short(tokens)} tokens"
    return text if seconds is None else f"{text} in {duration(seconds)}"


def _figures(number: float) -> str:
    """Three of them, and no exponent where more stand before the point."""
    return f"{number:.0f}" if abs(number) >= 999.5 else f"{number:.3g}"


def count(number: int, noun: str) -> str:
    """`1 step`, `1,200 steps`."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def memory(mib: float) -> str:
    """`312 MiB`, and from 1,024 on `1.4 GiB`."""
    return f"{_figures(mib)} MiB" if mib < 1023.5 else f"{_figures(mib / 1024)} GiB"


def duration(seconds: float) -> str:
    """`45 s`, `1 min 34 s`, `3 h 20 min`."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
