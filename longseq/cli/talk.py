"""Talk on stderr: how much of it, and progress of the kind that suits where it goes."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from longseq.cli.screen import beneath
from longseq.log import BarProgress, LineProgress, NullProgress, Progress, duration, memory, short

QUIET, NORMAL, MUCH = -1, 0, 1

LONG_RUN = 20.0
"""Seconds left from which a run is announced."""
FIRST_LOOK = 2.0
"""Seconds of work from which its speed is known."""
PERIOD = 0.1
"""Seconds between two movements of the bar."""


class Talk:
    """What the user wants to hear; one a command line."""

    def __init__(self, arguments: Sequence[str]):
        self.arguments = list(arguments)
        """The command line, without the program's name."""
        self.verbosity = NORMAL
        self.debug = False
        self._began = time.monotonic()

    def begin(self, verbosity: int, debug: bool) -> None:
        """Called by a command with its options."""
        self.verbosity, self.debug, self._began = verbosity, debug, time.monotonic()
        logger = logging.getLogger("longseq")
        logger.handlers = [logging.StreamHandler(sys.stderr)]
        logger.handlers[0].setFormatter(logging.Formatter("longseq: %(message)s"))
        logger.setLevel({QUIET: logging.ERROR, NORMAL: logging.INFO}.get(verbosity, logging.DEBUG))
        logger.propagate = False

    def cost(self) -> None:
        """Said of a command that ended, to those who want to hear more."""
        if self.verbosity >= MUCH:
            from longseq.results.run import peak_rss_mb

            spent, peak = duration(time.monotonic() - self._began), memory(peak_rss_mb())
            logging.getLogger("longseq").debug("%s, %s of memory at most", spent, peak)

    def end(self) -> None:
        """Leave logging as if nothing had been: the caller may be a program of its own."""
        logger = logging.getLogger("longseq")
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)

    def progress(self) -> Progress:
        """Nothing if quiet, a bar on a terminal, a line a minute elsewhere; each announces a long run first."""
        if self.verbosity == QUIET:
            return NullProgress()
        return Announced(BarProgress(beneath(sys.stderr)) if _moves(sys.stderr) else LineProgress())


def _moves(stream: TextIO) -> bool:
    """Whether a line there can be written anew."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


class Announced:
    """Says once how long a task will take, as soon as its speed is known."""

    def __init__(self, inner: Progress):
        self._inner, self._log = inner, logging.getLogger("longseq")

    def start(self, what: str, total: int | None = None, unit: str = "") -> None:
        self._what, self._total, self._unit = what, total, unit
        self._began = self._moved = time.monotonic()
        self._done = self._waiting = 0
        self._said = False
        self._inner.start(what, total, unit)

    def advance(self, amount: int, *, total: int | None = None, **facts: object) -> None:
        self._done, self._total = self._done + amount, total or self._total
        self._waiting += amount
        now = time.monotonic()
        if now - self._moved < PERIOD:
            return
        self._inner.advance(self._waiting, total=total, **facts)
        self._moved, self._waiting = now, 0
        spent = now - self._began
        if not self._said and self._total and self._done and spent >= FIRST_LOOK:
            self._said = True
            left = (self._total - self._done) * spent / self._done
            if left >= LONG_RUN:
                rate = f"{short(self._done / spent)} {self._unit}s/s"
                self._log.info(
                    "%s: about %s for %s %ss at %s",
                    self._what,
                    duration(left + spent),
                    short(self._total),
                    self._unit,
                    rate,
                )

    def finish(self) -> None:
        self._inner.finish()
