"""A child process that holds one thing and does what it is asked: its memory is its own, and so is its end.

Children are forked from a server that has loaded torch and computed nothing, so each is fresh and starts at once. A
script that measures keeps its work under `if __name__ == "__main__":`, as with all of `multiprocessing`.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

PATIENCE = 5.0
"""Seconds in which a child may end by itself."""


class WorkerDiedError(Exception):
    """The child ended, or could not have the memory it wanted; the text says which."""


class Worker:
    """Use it as a context manager: the child is gone at the end."""

    def __init__(self, make: Callable[..., Any], *arguments: Any):
        """`make(*arguments)` is called in the child; what it returns is the thing asked."""
        server = "forkserver" in multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("forkserver" if server else "spawn")
        if server:
            context.set_forkserver_preload([__name__, make.__module__])
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, method: str, *arguments: Any) -> Any:
        """What the thing's `method` returns.

        Raises:
            WorkerDiedError: the child was killed or out of memory.
            Exception: whatever the thing raised, the making of it included.
        """
        self.begin(method, *arguments)
        return self.answer()

    def begin(self, method: str, *arguments: Any) -> None:
        """Ask without waiting."""
        with suppress(OSError):  # of a child that is gone the answer says so
            self._pipe.send((method, arguments))

    def fileno(self) -> int:
        """Can be read from once there is an answer, as `multiprocessing.connection.wait` likes it."""
        return self._pipe.fileno()

    def answer(self) -> Any:
        """Of what was begun; raises as `ask` does."""
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(PATIENCE)
            raise WorkerDiedError(f"its process ended (exit code {self._process.exitcode})") from None
        if isinstance(answer, MemoryError):
            raise WorkerDiedError("out of memory")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the child, whatever it is doing."""
        self._pipe.close()
        self._process.terminate()
        self._process.join(PATIENCE)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _serve(pipe: Connection, make: Callable[..., Any], arguments: tuple) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends us
    thing = failed = None
    try:
        thing = make(*arguments)
    except Exception as error:  # told to whoever asks first
        failed = error
    with suppress(EOFError, OSError):
        while True:
            method, given = pipe.recv()
            pipe.send(_plain(failed) if failed else _answer(thing, method, given))


def _answer(thing: Any, method: str, arguments: tuple) -> Any:
    try:
        return getattr(thing, method)(*arguments)
    except Exception as error:
        return _plain(error)


def _plain(error: Exception) -> Exception:
    """torch says in a RuntimeError that there is no memory."""
    text = str(error)
    return MemoryError(text) if "out of memory" in text or "can't allocate memory" in text else error
