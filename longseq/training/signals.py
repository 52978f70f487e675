"""A stop that waits for the end of a step: TERM and USR1 from a queue, Ctrl-C from a person."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from longseq.errors import StoppedError


class StopRequest:
    """Inside `with`, a first signal is noted in `name`; a second Ctrl-C interrupts at once.

    Signals reach only the main thread of a program; elsewhere nothing is installed.
    """

    SIGNALS = ("SIGTERM", "SIGUSR1", "SIGINT")

    def __init__(self) -> None:
        self.name: str | None = None
        """`SIGTERM`, `SIGUSR1` or `SIGINT` once one came."""
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for name in self.SIGNALS:
                number = getattr(signal, name, None)  # Windows has no USR1
                if number is not None:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}

    def error(self, where: str, step: int) -> BaseException:
        """What to raise of a run at `where` that was saved after so many steps."""
        if self.name == "SIGINT":
            return KeyboardInterrupt(f"{where}: interrupted, saved after step {step:,}; --resume goes on")
        asked = self.name or "a signal to another process"
        problem = f"stopped by {asked} after step {step:,}; all of it is saved"
        return StoppedError(problem, where=where, remedy="--resume goes on")

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and self.name == "SIGINT":
            raise KeyboardInterrupt
        self.name = signal.Signals(number).name
