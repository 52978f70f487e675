"""Exit codes, and what stands on stderr beside them. Nobody else in the house knows either."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from longseq.cli.talk import Talk
from longseq.errors import LongseqError, StoppedError, UsageError

DONE, BAD_DATA, USAGE, PARTLY, STOPPED, INTERRUPTED = 0, 1, 2, 3, 85, 130
TERMINATED = 128 + signal.SIGTERM


class _TerminatedError(BaseException):
    """SIGTERM; an exception, so that what was begun is cleaned away."""


def guarded(run: Callable[[], int], talk: Talk) -> int:
    """The exit code of `run`, whatever it raises."""
    try:
        with _unwound_by_sigterm():
            return _guarded(run, talk)
    finally:
        talk.end()


def _guarded(run: Callable[[], int], talk: Talk) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot spell is no error
    try:
        code = run()
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return _say(_click_text(error), USAGE, talk)
    except StoppedError as error:
        return _say(str(error), STOPPED, talk)
    except UsageError as error:
        return _say(str(error), USAGE, talk)
    except LongseqError as error:
        return _say(str(error), BAD_DATA, talk)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", INTERRUPTED, talk)
    except _TerminatedError:
        return _say("terminated", TERMINATED, talk)
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _reader_left()
        return _say(str(error), BAD_DATA, talk)
    except MemoryError:
        return _say("out of memory", BAD_DATA, talk)
    except Exception as error:  # a fault of ours: said in a line like the rest
        text = f"internal error: {type(error).__name__}: {error}".splitlines()[0]
        return _say(f"{text}; --debug shows where", BAD_DATA, talk)


def _say(text: str, code: int, talk: Talk) -> int:
    if talk.debug:
        traceback.print_exc()
    print(f"longseq: {text}", file=sys.stderr)
    return code


def _click_text(error: click.ClickException) -> str:
    text = error.format_message().rstrip(".").replace("\n", " ")
    text = text[:1].lower() + text[1:]
    ctx = getattr(error, "ctx", None)
    return text if ctx is None or "; " in text else f"{text}; {ctx.command_path} --help lists what there is"


def _reader_left() -> int:
    """Whoever read our output has had enough: no complaint, and none when the interpreter flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


@contextmanager
def _unwound_by_sigterm() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TerminatedError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
