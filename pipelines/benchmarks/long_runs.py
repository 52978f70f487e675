"""What is held after 20 million tokens, and what 10,000 files in one command take.

    python pipelines/benchmarks/long_runs.py [--tokens 20000000 --files 10000 --only stream embed]

Each case runs in a process of its own. Of the long ones: a warm-up of a twentieth, then what the process holds, then
all tokens, then what it holds again, and how far memory rose in between. Models are small, so that tokens and not
matrices take the time. Of many files: all of them and a tenth, with 256 handles at most; CPU seconds, peak memory.
Figures stay in the JSON of cases that are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from leaks import forget_peak, held, status_mb
from long_cases import LONG, MANY, Many
from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

HANDLES = 256
"""Open files that a command with many inputs may have."""
SHARE = {"a long record": 20, "many files": 10}
"""Of all, so much is the warm-up, or the smaller run."""
STEPS = (50, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=20_000_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", help="names of cases")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--one", nargs=3, metavar=("CASE", "SIZE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]), Path(options.one[2]))))
        return
    document = json.loads(options.out.read_text()) if options.out.exists() else {"long": {}, "many": {}}
    wanted = options.only or [*LONG, *MANY]
    for name in wanted:
        kind, size = ("long", options.tokens) if name in LONG else ("many", options.files)
        size = STEPS[1] if name == "train" else size
        document[kind][name] = {"size": size} | run(name, size) | {"provenance": provenance()}
        write_json(options.out, {"benchmark": "long_runs", **document}, force=True)
    document = json.loads(options.out.read_text())
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def run(name: str, size: int) -> dict:
    """One case; of many files both sizes, for the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        if name in LONG:
            return _child(name, size, Path(folder))
        runs = {}
        for count in (size // SHARE["many files"], size):
            where = Path(folder, str(count))
            where.mkdir()
            runs[str(count)] = _child(name, count, where)
        return {"runs": runs}


def _child(name: str, size: int, folder: Path) -> dict:
    line = [sys.executable, __file__, "--one", name, str(size), str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def one(name: str, size: int, folder: Path) -> dict:
    """A case in this process."""
    os.chdir(folder)
    began = time.monotonic()
    if name in MANY:
        return _many(MANY[name], size)
    work = LONG[name](folder)
    first = STEPS[0] if name == "train" else size // SHARE["a long record"]
    work(first)
    before = held()
    peaks = []
    for tokens in (first, size):
        forget_peak()
        base = status_mb("VmRSS") or 0.0
        work(tokens)
        peaks.append((status_mb("VmHWM") or 0.0) - base)
    rose = {"warm_up_peak_mb": peaks[0], "peak_mb": peaks[1]}
    return {"warm_up": first, "added": held().since(before), **rose, "seconds": time.monotonic() - began}


def _many(case: Many, size: int) -> dict:
    case.prepare(size)
    resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, HANDLES))
    before, used = held(), os.times()
    code = case.run(size)
    after = os.times()
    return {
        "exit": code,
        "processor_seconds": after.user + after.system - used.user - used.system,
        "peak_rss_mb": status_mb("VmHWM"),
        "handles_added": held().handles - before.handles,
    }


def markdown(document: dict) -> str:
    """The page beside the JSON."""
    rows = []
    for name, found in document["long"].items():
        added = found["added"]
        counts = [f"{added[what]:+,}" for what in ("objects", "handles", "threads", "children", "mapped")]
        memory = [f"{added['rss_mb']:+.1f}", f"{added['in_use_mb']:+.2f}"]
        peaks = [f"{found['warm_up_peak_mb']:.0f}", f"{found['peak_mb']:.0f}"]
        rows.append([name, f"{found['warm_up']:,}", f"{found['size']:,}", *memory, *counts, *peaks])
    of_long = ["", "warm-up", "then", "resident", "in use", "objects", "handles", "threads", "children", "maps"]
    text = (
        "# Long runs, and many files\n\n"
        "## Held after a long record\n\n"
        "What a process holds after so many tokens (of train: steps) beyond what it held after the warm-up: MiB of "
        "resident memory, MiB that the C library has handed out, Python's objects, open files, threads, child "
        "processes, files mapped into memory; and by how many MiB resident memory rose at most while the warm-up's "
        "share, and while all, passed.\n\n"
        + table([*of_long, "peak, share", "peak, all"], rows)
        + f"\n## Many files in one command\n\nWith {HANDLES} open files at most. Ten times the files in how many times "
        "the CPU seconds.\n\n"
    )
    rows = []
    for name, found in document["many"].items():
        (few, less), (many, more) = found["runs"].items()
        ratio = more["processor_seconds"] / less["processor_seconds"]
        figures = [f"{run['processor_seconds']:.1f}" for run in (less, more)]
        peaks = [f"{run['peak_rss_mb']:.0f}" for run in (less, more)]
        rows.append([name, f"{int(few):,}", f"{int(many):,}", more["exit"], *figures, f"{ratio:.1f}", *peaks])
    text += table(["", "few", "many", "exit", "CPU s, few", "CPU s, many", "times", "peak MiB", "peak MiB, many"], rows)
    known = [case["provenance"] for kind in ("long", "many") for case in document[kind].values()]
    last = max(known, key=lambda one: one["time"])
    commits = ", ".join(dict.fromkeys(one["commit"][:12] for one in known))
    return text + f"\nMeasured on {last['machine']}, {last['cores']} cores, at {commits}, up to {last['time']}.\n"


if __name__ == "__main__":
    main()
