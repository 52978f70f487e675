"""Time and memory that hostile files take: bombs, endless lines, absurd lengths, nesting, entities, ways out.

    python pipelines/benchmarks/limits.py [--group packed --what gz --keep folder]

Each file is made in a temporary folder, one at a time, and given to the real command in a process of its own. Wall
time, processor time and peak of resident memory are the system's; beside them stand its exit code and what it said.
With `--group`, `--what` or `--command`, all other rows stay as they were measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import limits_archives
import limits_documents
import limits_models
import limits_sequences
from limits_cases import GIB, MIB, Case
from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

SECONDS, MEMORY = 10.0, 500 * MIB
"""The limits: of a refusal, of `info`, and of whatever unpacks to little. Data that is read whole keeps the second."""
STOP, MOST, IDLE = 900, 4 * GIB, 90.0
"""A command is ended past so many processor seconds, so much memory, and so many seconds in which it does nothing."""
FAILED = 21
"""Lines of a command that went on past records that failed: it names twenty of them, and says how many there were."""
OUTPUT = 4 * GIB
"""Bytes of a file that a command may write."""
GROUPS = {
    "packed": "Packed files",
    "archives": "Archives",
    "entities": "XML entities",
    "nested": "Nesting",
    "lengths": "Declared lengths",
    "lines": "Endless lines",
    "records": "Many records",
    "places": "Places and alleles",
    "pdf": "PDF",
    "folders": "Folders",
    "models": "Models, states, arrays and columns",
    "results": "Results",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a command took, and how it ended."""

    group: str
    what: str
    command: str
    bytes: int
    """Of the file."""
    honest: bool
    seconds: float
    processor_seconds: float
    peak_rss_mb: float
    written: int
    """Bytes of what it wrote."""
    code: int
    lines: int
    """On stderr."""
    said: str
    """The last of them."""

    @property
    def within(self) -> bool:
        timely = self.honest or self.processor_seconds <= SECONDS  # of the machine's time others may take a part
        return (
            timely
            and self.peak_rss_mb * MIB <= MEMORY
            and self.lines <= (FAILED if self.code == 3 else 1)
            and self.said[:14] != "internal error"
            and self.code >= 0
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", choices=GROUPS, action="append")
    parser.add_argument("--what", default="", help="Part of the name of a case.")
    parser.add_argument("--command", default="", help="Part of the command.")
    parser.add_argument("--stop", type=int, default=STOP, help="Processor seconds of a command at most.")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    found: list[Row] = []
    some = options.group or options.what or options.command
    before = kept(options.out) if some and options.out.exists() else []
    modules = (limits_sequences, limits_documents, limits_archives, limits_models)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reference.fa").write_text(">chr1\n" + "ACGTTGCA" * 25 + "\n")
        made: tuple[str, str] | None = None
        for case in (case for module in modules for case in module.all_cases()):
            if options.group and case.group not in options.group:
                continue
            if options.what not in case.what or options.command not in case.command:
                continue
            target = folder / case.file
            if made != (case.what, case.file):
                _clear(folder)
                _made(case, target)
                made = case.what, case.file
            found.append(run(case, folder, options.stop))
            row = found[-1]
            took = f"{row.seconds:.1f} s, {row.processor_seconds:.1f} of a processor, {row.peak_rss_mb:.0f} MiB"
            print("past" if not row.within else "    ", row.what, row.command, took, f"exit {row.code}", sep=" | ")
            print(f"       {row.said[:200]}", flush=True)
            again = {(one.what, one.command) for one in found}
            others = [one for one in before if (one.what, one.command) not in again]
            write(options.out, found + others)  # as it goes: a run takes its time
    if bad := [row for row in found if not row.within]:
        raise SystemExit(f"{len(bad)} of {len(found)} past a limit")


def write(path: Path, rows: list[Row]) -> None:
    """The JSON, and the page beside it."""
    document = {"benchmark": "limits", "rows": [asdict(row) for row in rows], "provenance": provenance()}
    write_json(path, document, force=True)
    with write_aside(path.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(rows, document["provenance"]), encoding="utf-8")


def kept(path: Path) -> list[Row]:
    """Rows that were measured before."""
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def _made(case: Case, target: Path) -> None:
    """In a process of its own: a child's peak begins with the memory of the process that starts it."""
    if (child := os.fork()) == 0:
        try:
            case.make(target)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"{case.what}: cannot be made")


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name == "reference.fa":
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def run(case: Case, folder: Path, stop: int) -> Row:
    """One command, from start to end."""
    before = {"reference.fa", case.file}
    code = "import sys; from longseq.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *case.command.replace("{}", case.file).split(), "-q"]
    with tempfile.TemporaryFile() as said:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
            preexec_fn=lambda: _limit(stop),
        )
        over = threading.Event()
        watch = threading.Thread(target=_watch, args=(process.pid, over))
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        over.set()
        watch.join()
        said.seek(max(said.seek(0, os.SEEK_END) - MIB, 0))
        lines = said.read().decode(errors="replace").splitlines()
    written = sum(_size(path) for path in folder.iterdir() if path.name not in before)
    for path in folder.iterdir():
        if path.name not in before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return Row(
        group=case.group,
        what=case.what,
        command=case.command.replace("{}", case.file),
        bytes=_size(folder / case.file),
        honest=case.honest,
        seconds=round(seconds, 2),
        processor_seconds=round(used.ru_utime + used.ru_stime, 2),
        peak_rss_mb=round(used.ru_maxrss / 1024, 1),  # KiB on Linux; of the greatest of it and its children
        written=written,
        code=process.returncode,
        lines=len(lines),
        said=re.sub(r"^longseq: ", "", lines[-1])[:500] if lines else "",
    )


def _limit(stop: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CPU, (stop, stop))


def _watch(pid: int, over: threading.Event) -> None:
    """Ends a command that takes too much memory, or waits for what never comes."""
    busy, moved = "", time.monotonic()
    while not over.wait(0.2):
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            now = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        except (OSError, IndexError):
            return
        if str(now) != busy:
            busy, moved = str(now), time.monotonic()
        if time.monotonic() > moved + IDLE or pages * os.sysconf("SC_PAGE_SIZE") > MOST:
            os.killpg(pid, signal.SIGKILL)
            return


def _size(path: Path) -> int:
    if path.is_symlink() or not path.exists():
        return 0
    return sum(_size(one) for one in path.iterdir()) if path.is_dir() else path.stat().st_size


def markdown(rows: list[Row], found: dict) -> str:
    """The page beside the JSON."""
    bad = sum(not row.within for row in rows)
    return (
        "# Limits\n\n"
        f"{len(rows)} commands on hostile files, each in a process of its own, {bad or 'none'} past {SECONDS:.0f} s "
        f"of a processor, {MEMORY // MIB} MiB of resident memory, or a line on stderr ({FAILED} where records "
        "failed: the first are named). Files marked *read whole* hold nothing but data: their time is their size "
        "over the reader's speed, and only memory and lines are bounded. "
        "The bound is held against processor time: wall time depends on who else works on the machine.\n\n"
        + "\n".join(f"## {title}\n\n{_table(rows, group)}" for group, title in GROUPS.items())
        + f"\nMeasured on {found['machine']}, {found['cores']} cores, load {found['load']:.1f} at the end, at commit "
        f"{found['commit'][:12]}, {found['time']}, by `{found['command']}`.\n"
    )


def _table(rows: list[Row], group: str) -> str:
    heads = ["file", "size", "command", "seconds", "processor", "peak, MiB", "exit", "what it says"]
    return table(
        heads,
        [
            [
                row.what + (" (*read whole*)" if row.honest else ""),
                _bytes(row.bytes),
                f"`{row.command}`",
                f"{row.seconds:.1f}",
                f"{row.processor_seconds:.1f}",
                f"{row.peak_rss_mb:.0f}",
                str(row.code),
                row.said.replace("|", "\\|")[:300],
            ]
            for row in rows
            if row.group == group
        ],
    )


def _bytes(size: int) -> str:
    for unit, one in (("GiB", GIB), ("MiB", MIB), ("KiB", 1 << 10)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size} B"


if __name__ == "__main__":
    main()
