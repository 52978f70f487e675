"""Command lines as processes of their own, disturbed by their time or by their steps."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
START = "import sys; from longseq.cli import main; sys.exit(main())"
LONGEST = 120
"""Seconds that any of them may take."""


@dataclass
class Ended:
    """A process that is over."""

    code: int
    """As a shell does not say it: -9 after a KILL."""
    out: str
    err: str
    seconds: float
    """By the clock."""
    processor: float


class Running:
    """One that is not; its streams go to files beside its folder."""

    def __init__(self, streams, pid, wait):
        self.pid, self._wait, self._streams, self._began = pid, wait, streams, time.monotonic()

    def send(self, name):
        """Until it is waited for, its number is its own."""
        os.kill(self.pid, signal.Signals[name])

    def stopped(self):
        """Wait until it stands still, by a SIGSTOP that it sent itself; False where it ended before."""
        deadline = time.monotonic() + LONGEST
        while (state := Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]) not in "TZ":
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return state == "T"

    def end(self):
        code, processor = self._wait()
        out, err = (file.read_text(errors="replace") for file in self._streams)
        return Ended(code, out, err, time.monotonic() - self._began, processor)


class Warm:
    """Children of a process that has imported everything; see `warm_process.py`."""

    def __init__(self, *more):
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "warm_process.py"), *more],
            env=os.environ | ONE_THREAD | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,  # a Ctrl-C is for those who run the tests
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == '"warm"\n'

    def close(self):
        self._process.stdin.close()
        self._process.wait(LONGEST)

    def _ask(self, **job):
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(self, arguments, folder, **meddling):
        streams = _streams(folder)
        pid = self._ask(
            arguments=list(map(str, arguments)),
            folder=str(folder),
            streams=list(map(str, streams)),
            environment=_environment(folder),
            meddling=meddling,
        )
        return Running(streams, pid, lambda: self._ask(wait=pid))


class Fresh:
    """Processes that begin with the first line of Python."""

    def start(self, arguments, folder):
        streams = _streams(folder)
        with open(streams[0], "w") as out, open(streams[1], "w") as err:
            process = subprocess.Popen(
                [sys.executable, "-c", START, *map(str, arguments)],
                cwd=folder,
                env=os.environ | ONE_THREAD | {"PYTHONPATH": str(ROOT)} | _environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

        def wait():
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used.ru_utime + used.ru_stime

        return Running(streams, process.pid, wait)


def _environment(folder):
    (folder / TEMPORARY).mkdir(parents=True, exist_ok=True)
    return {"TMPDIR": str(folder / TEMPORARY)}


TEMPORARY = "tmp"
"""Folder of temporary files of a run."""


def _streams(folder):
    """Beside the folder, which is to hold nothing but what the command leaves; a new pair each time."""
    number = len(list(folder.parent.glob(f"{folder.name}.*.out")))
    return [folder.with_name(f"{folder.name}.{number}.{name}") for name in ("out", "err")]
