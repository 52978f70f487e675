"""Exit codes, and what stands on stderr beside them. Nobody else in the house knows either."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from longseq.cli.screen import spelled
from longseq.cli.talk import Talk
from longseq.errors import LongseqError, StoppedError, UsageError, meant

DONE, BAD_DATA, USAGE, PARTLY, STOPPED, INTERRUPTED = 0, 1, 2, 3, 85, 130
ENDING = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
"""Signals that end a program: asked to, or its terminal was closed. The exit code is 128 and the signal."""


_NO_MEMORY = "out of memory"
_NONE_LEFT = {
    RuntimeError: ("out of memory", "can't allocate memory", "tried to allocate"),
    ImportError: ("Cannot allocate memory", "failed to map segment from shared object\n"),
}
"""What torch says, of an accelerator and of the processor; and the loader of the system, of a library; where that is
not allowed to, it goes on behind these words."""


class _TerminatedError(BaseException):
    """One of `ENDING`; an exception, so that what was begun is cleaned away."""

    def __init__(self, number: int):
        self.number = number


def guarded(run: Callable[[], int], talk: Talk) -> int:
    """The exit code of `run`, whatever it raises."""
    try:
        _open_streams()
        with _unwound(), spelled():
            return _guarded(run, talk)
    finally:
        talk.end()


def _open_streams() -> None:
    _occupy()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who called us: nobody reads it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the program
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A name that the terminal cannot spell is no error. Results that go to a file or a program are of one
            # encoding, whatever the locale: JSON would be none with the escapes.
            results = stream is sys.stdout and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if results else None, errors="backslashreplace")


def _guarded(run: Callable[[], int], talk: Talk) -> int:
    try:
        code = run()
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return _say(_click_text(error), USAGE, talk)
    except LongseqError as error:
        return _say(_with_near(error), code_of(error), talk)
    except (KeyboardInterrupt, click.Abort) as error:
        return _say(str(error) or "interrupted", INTERRUPTED, talk)
    except _TerminatedError as error:
        return _say("terminated", code_of(error), talk)
    except OSError as error:
        _drop_unwritten()
        if error.errno == errno.EPIPE:
            return DONE  # whoever read our output has had enough: no complaint
        return _say(_system_text(error), BAD_DATA, talk)
    except MemoryError:
        return _say(_NO_MEMORY, BAD_DATA, talk)
    except Exception as error:
        if any(words in f"{error}\n" for kind, said in _NONE_LEFT.items() if isinstance(error, kind) for words in said):
            return _say(_NO_MEMORY, BAD_DATA, talk)
        # A fault of ours: said in a line like the rest.
        text = f"internal error: {type(error).__name__}: {error}".splitlines()[0]
        return _say(f"{text}; --debug shows where", BAD_DATA, talk)


def _occupy() -> None:
    """Have something in the places of the standard streams that who called us closed, lest a file of data be opened
    there, in which a library or a child process then writes its talk."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the first free place


def code_of(error: BaseException) -> int:
    """That of a run which this ends."""
    if isinstance(error, _TerminatedError):
        return 128 + error.number
    known = {StoppedError: STOPPED, UsageError: USAGE, click.ClickException: USAGE, KeyboardInterrupt: INTERRUPTED}
    return next((code for kind, code in known.items() if isinstance(error, kind)), BAD_DATA)


def _with_near(error: LongseqError) -> str:
    """Its text; of a file that is not there with the one that was probably meant."""
    if error.problem == "no such file" and error.where is not None:
        from longseq.formats.folders import meant_file

        if (near := meant_file(error.where)) is not None:
            return str(type(error)(error.problem, where=error.where, remedy=near))
    return str(error)


def _say(text: str, code: int, talk: Talk) -> int:
    if talk.debug:
        traceback.print_exc()
    print(f"longseq: {text}", file=sys.stderr)
    return code


def _system_text(error: OSError) -> str:
    text = error.strerror or str(error)
    if error.filename is not None:
        text = f"{error.filename}: {text}"
    elif error.errno == errno.ENOENT:  # what else needs no name
        text = "the working folder is not there any more; change to one that is"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        text += "; make room for the output, and for temporary files where TMPDIR says"
    return text.replace("\n", "\\n")


def _click_text(error: click.ClickException) -> str:
    text = error.format_message().rstrip(".").replace("\n", " ")
    text = text[:1].lower() + text[1:]
    kind = getattr(getattr(error, "param", None), "type", None)
    given = re.search(r"'([^']*)' is not one of", text)
    if isinstance(kind, click.Choice) and given and (near := meant(given[1], map(str, kind.choices))):
        return f"{text}; {near}"
    ctx = getattr(error, "ctx", None)
    return text if ctx is None or "; " in text else f"{text}; {ctx.command_path} --help lists what there is"


def _drop_unwritten() -> None:
    """What stdout cannot take is dropped, lest the interpreter try again at its end, complain and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _unwound() -> Iterator[None]:
    def stop(number: int, _: object) -> None:
        raise _TerminatedError(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What is ignored stays ignored: nohup.
    before = {number: signal.getsignal(number) for number in ENDING}
    caught = [number for number in ENDING if before[number] != signal.SIG_IGN]
    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, before[number])
