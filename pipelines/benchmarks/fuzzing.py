"""Coverage-guided fuzzing of every reader: how much was tried, and what broke.

    python pipelines/benchmarks/fuzzing.py [--seconds 60 --side-by-side 2] [--only fasta bed]

`tests/fuzz/guided.py` fuzzes each target in a process of its own. What breaks a reader is kept in `tests/fuzz/found`,
as an input that stays a test. With `--only`, the other readers' figures stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

FUZZ = Path(__file__).parents[2] / "tests" / "fuzz"
_STATUS = re.compile(r"^#(\d+)\t.* cov: (\d+)", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--side-by-side", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--found", type=Path, default=FUZZ / "found")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    kept = json.loads(options.out.read_text(encoding="utf-8"))["runs"] if options.only else {}
    with tempfile.TemporaryDirectory() as folder:
        runs = fuzzed(options.only, options.seconds, options.side_by_side, options.found, Path(folder))
    document = {
        "benchmark": "fuzzing",
        "seconds": options.seconds,
        "side_by_side": options.side_by_side,
        "runs": kept | runs,
        "provenance": provenance(),
    }
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def fuzzed(only: list[str], seconds: int, side_by_side: int, found: Path, logs: Path) -> dict[str, dict]:
    """What became of each target."""
    before = set(found.glob("*/*"))
    run = [sys.executable, FUZZ / "guided.py", *only, "--seconds", str(seconds), "--side-by-side", str(side_by_side)]
    # One that broke its reader makes the whole end with 1.
    done = subprocess.run([*run, "--found", found, "--logs", logs], stdout=subprocess.PIPE, text=True, check=False)
    runs = {}
    for line in done.stdout.splitlines():
        figures = json.loads(line)
        name = figures.pop("target")
        told = _STATUS.findall((logs / f"{name}.log").read_text(encoding="utf-8", errors="replace"))
        executions, coverage = map(int, told[-1]) if told else (0, 0)
        new = sorted(path.name for path in (found / name).glob("*") if path not in before)
        runs[name] = {"executions": executions, "coverage": coverage, **figures, "found": new}
    if not runs:
        raise SystemExit(f"no target was fuzzed: guided.py ended with {done.returncode}")
    return runs


def markdown(document: dict) -> str:
    """The page beside the JSON."""
    found, runs = document["provenance"], document["runs"]
    rows = [
        [
            name,
            f"{run['executions']:,}",
            f"{run['coverage']:,}",
            f"{run['processor_seconds']:.0f}",
            f"{run['peak_rss_mb']:,.0f}",
            len(run["found"]) or ("none" if run["exit"] == 0 else f"ended with {run['exit']}"),
        ]
        for name, run in runs.items()
    ]
    return (
        "# Fuzzing of every reader\n\n"
        f"Each reader {document['seconds']} seconds, guided by coverage, {document['side_by_side']} side by side. "
        f"Any file gives a result or an error of ours on one line, in less than 10 seconds and 1 GiB; what does not is "
        f"found. {sum(run['executions'] for run in runs.values()):,} files in all. Peak memory is that of the whole "
        "process, with what the fuzzer and its instruments take, which grows with its time; a file that asks for more "
        "than 1 GiB is refused it.\n\n"
        + table(["reader", "files tried", "branches reached", "processor seconds", "peak memory, MiB", "found"], rows)
        + f"\nMeasured on {found['machine']}, {found['cores']} cores, load {found['load']:.1f} at the end, at commit "
        f"{found['commit'][:12]}, {found['time']}, by `{found['command']}`.\n"
    )


if __name__ == "__main__":
    main()
