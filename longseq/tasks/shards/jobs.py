"""All shards of a batch at once, each a process of this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import longseq
from longseq.errors import InputError, LongseqError, StoppedError, UsageError
from longseq.log import Progress
from longseq.tasks.shards.folder import RUN
from longseq.tasks.shards.order import Reading
from longseq.tasks.shards.part import name_of
from longseq.tasks.shards.plan import Plan, planned

WELL = (0, 3)
"""Exit codes of a shard that is done; of 3, records failed."""
ERRORS: dict[int, type[LongseqError]] = {1: InputError, 2: UsageError, 85: StoppedError}
"""What a shard's exit code says of its error; another one is a fault of the machine."""
LOOK = 0.05
"""Seconds between two looks at the processes."""
LEAVE = 10.0
"""Seconds that a process has to end, once it was told to."""
_START = """\
import sys
from longseq.tasks.shards.jobs import end_with_parent
end_with_parent()
from longseq.cli import main
sys.exit(main())
"""


@contextmanager
def all_shards(
    out: str | Path,
    files: Sequence[str],
    jobs: int,
    reading: Reading,
    arguments: Callable[[str, str], Sequence[str]],
    progress: Progress,
) -> Iterator[Path]:
    """The folder of a batch with all its shards, in a hidden folder beside `out`; it is gone when the block ends.

    Args:
        files: Inputs.
        jobs: Processes, each for one shard.
        reading: How the inputs are opened.
        arguments: Of the command line that makes a shard `I/N` in a folder.
        progress: Told of letters, as shards end.

    Raises:
        LongseqError: that of the first shard that failed; the others are stopped.
    """
    place = Path(os.path.realpath(out))
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{place.name}.jobs-", dir=place.parent))
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(out), remedy="give another name") from None
    try:
        plan = planned(folder / "batch", files, jobs, reading, progress)
        _run(plan, folder, arguments, progress)
        yield folder / "batch"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(plan: Plan, folder: Path, arguments: Callable[[str, str], Sequence[str]], progress: Progress) -> None:
    jobs = len(plan.shards)
    here = os.pathsep.join(filter(None, [str(Path(longseq.__path__[0]).parent), os.environ.get("PYTHONPATH")]))
    waiting: dict[int, subprocess.Popen[bytes]] = {}
    progress.start(f"{jobs} jobs", plan.letters, "letter")
    try:
        for number in range(1, jobs + 1):
            line = [sys.executable, "-c", _START, *arguments(f"{number}/{jobs}", str(folder / "batch"))]
            with open(folder / f"{number}.log", "wb") as said:
                waiting[number] = subprocess.Popen(
                    line,
                    stdin=subprocess.PIPE,  # nothing is ever written; see end_with_parent
                    stdout=said,
                    stderr=said,
                    env=os.environ | {"PYTHONPATH": here},
                )
        while waiting:
            for number, job in [*waiting.items()]:
                if (code := job.poll()) is None:
                    continue
                del waiting[number]
                _let_go(job)
                if code not in WELL:
                    raise _error(folder, number, jobs, code)
                progress.advance(plan.shards[number - 1].letters)
            time.sleep(LOOK)
    finally:
        _stop([*waiting.values()])
        progress.finish()


def _stop(jobs: Sequence[subprocess.Popen[bytes]]) -> None:
    """Pass on what ended this process: each cleans away what it had begun."""
    for job in jobs:
        job.terminate()
    last = time.monotonic() + LEAVE
    for job in jobs:
        try:
            job.wait(max(last - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
        _let_go(job)


def _let_go(job: subprocess.Popen[bytes]) -> None:
    if job.stdin is not None:
        job.stdin.close()


def end_with_parent() -> None:
    """End this process, as TERM does, once the one that started it is gone, however that ended.

    Standard input is a pipe whose other end no other process holds: it ends when that process does.
    """

    def watch() -> None:
        os.read(0, 1)  # not sys.stdin, whose lock would be held while the interpreter ends
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _error(folder: Path, number: int, of: int, code: int) -> BaseException:
    """What the shard said of its end; of one that was killed, by what."""
    where = f"job {number} of {of}"
    try:
        told = json.loads((folder / "batch" / f"{name_of(number, of)}{RUN}").read_text(encoding="utf-8"))["run"][
            "error"
        ]
    except (OSError, ValueError, KeyError):
        lines = (folder / f"{number}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        told = lines[-1].removeprefix("longseq: ") if lines else "ended without a word"
    if code == 130:
        return KeyboardInterrupt(told)
    if code < 0:
        name = signal.Signals(-code).name
        return LongseqError(f"{where} was killed by {name}", remedy="fewer --jobs need less memory")
    return ERRORS.get(code, LongseqError)(told)
