"""What disturbs a command from within, at a place rather than a time: at the n-th step of its output.

A step is a call by which a file or folder is made, opened to be written, named, cut, flushed or removed. Python tells
of them by itself (PEP 578), but for a flush; libraries written in C do not.
"""

import errno
import os
import resource
import signal
import sys
import threading
from pathlib import Path

STEPS = {"os.rename": 2, "os.link": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1, "os.chmod": 1, "os.truncate": 1}
"""Events, and how many paths each begins with."""
SHORT = 1000
"""Bytes of a read."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def meddle(folder, asked, stack):
    """`asked`: `{"steps": FILE}` writes down the steps; `{"at": n, "act": SIGNAL or ERRNO}` acts just before the n-th,
    from 1; with `"on": True` at all after it too; `{"reads": FILE}`: reads of this file, which are short ones then, are
    the steps; `{"largest": BYTES}` of a file; `{"memory": BYTES}` more than now; `{"deaf": True}`: nobody reads stdout.
    """
    if "deaf" in asked:
        nobody, stdout = os.pipe()
        os.close(nobody)
        os.dup2(stdout, 1)
    if "largest" in asked:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest"], resource.RLIM_INFINITY))
    if "memory" in asked:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + asked["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    if "steps" in asked or "act" in asked:
        # A file beside the folder, so that writing it down is no step.
        log = stack.enter_context(open(asked.get("steps", os.devnull), "w"))  # noqa: SIM115
        steps = Steps(folder, log, asked.get("at"), asked.get("act"), asked.get("on", False))
        if "reads" in asked:
            steps.watch_reads(asked["reads"])
        else:
            steps.watch()


class Steps:
    def __init__(self, folder, log, at, act, on):
        self._folder, self._log, self._at, self._act, self._on = str(folder) + os.sep, log, at, act, on
        self._number = 0

    def watch(self):
        fsync = os.fsync

        def flushed(handle):
            self._step("fsync", os.readlink(f"/proc/self/fd/{handle}"))
            return fsync(handle)

        os.fsync = flushed
        sys.addaudithook(self._hear)

    def watch_reads(self, file):
        read, known, self._folder = os.read, os.stat(file), str(file)

        def short(handle, size):
            if not os.path.samestat(os.fstat(handle), known):
                return read(handle, size)
            self._step("read", file)
            return read(handle, min(size, SHORT))

        os.read = short

    def _hear(self, event, words):
        if event == "open":
            path, _, flags = words
            if isinstance(path, str | os.PathLike) and isinstance(flags, int) and flags & WRITES:
                self._step("open", path)
        elif event in STEPS:
            self._step(event.removeprefix("os."), *words[: STEPS[event]])

    def _step(self, what, *paths):
        places = [os.path.abspath(path) for path in paths if isinstance(path, str | os.PathLike)]
        if not any(place.startswith(self._folder) for place in places):
            return
        self._number += 1
        print(what, *(place.removeprefix(self._folder) for place in places), file=self._log, flush=True)
        if self._at is not None and (self._number == self._at or (self._on and self._number > self._at)):
            if self._act in signal.Signals.__members__:
                # To this thread: it would go on for a while where another one gets it.
                signal.pthread_kill(threading.get_ident(), signal.Signals[self._act])
            else:
                number = getattr(errno, self._act)
                raise OSError(number, os.strerror(number), places[-1])
