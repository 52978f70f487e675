"""Kills at random moments: what commands left, and what came of them when they were run again.

    python pipelines/benchmarks/faults.py [--kills 200 --seed 0]

`tests/faults` has the commands and judges them; of a fifth of the kills each process begins with Python's first line.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

sys.path.append(str(Path(__file__).parents[2] / "tests" / "faults"))

from disturbed_commands import commands
from disturbed_runs import Fresh, Warm
from fault_trials import Trials, tally

COUNTED = ("kills", "too late", "partial", "different", "other")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = killed(options.kills, options.seed, Path(folder))
    rows = [
        {"command": name, "signal": act} | {what: row[what] for what in COUNTED}
        for (name, act), row in tally(done).items()
    ]
    document = {
        "benchmark": "faults",
        "kills": options.kills,
        "seed": options.seed,
        "rows": rows,
        "faults": [{"command": name, "signal": act, **vars(trial)} for name, act, trial in done if trial.wrong],
        "seconds": time.monotonic() - began,
        "provenance": provenance(),
    }
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def killed(kills: int, seed: int, folder: Path) -> list[tuple]:
    """Command, signal and trial of each kill."""
    warm = Warm("learning")
    try:
        return list(Trials(warm, commands(folder), folder / "trials").killed(kills, seed, other=Fresh()))
    finally:
        warm.close()


def markdown(document: dict) -> str:
    """The page beside the JSON."""
    found, rows = document["provenance"], document["rows"]
    total = {name: sum(row[name] for row in rows) for name in COUNTED}
    names = [
        "command",
        "signal",
        "sent",
        "ended before",
        "partial outputs",
        "differences after a re-run",
        "other faults",
    ]
    return (
        "# Kills at random moments\n\n"
        f"{total['kills']} signals at moments spread evenly over the time that a command takes; "
        f"{total['kills'] - total['too late']} of them met it while it ran. What it left is compared with what an "
        "undisturbed run leaves, the command is given again (with `--resume` where it has that), and compared once "
        "more. Other faults: a wrong exit code, more or less than one line said, a file left behind.\n\n"
        + table(names, [[row["command"], row["signal"], *(row[name] for name in COUNTED)] for row in rows])
        + f"\nIn all: {total['partial']} partial outputs, {total['different']} differences, {total['other']} other "
        f"faults.\n\nMeasured on {found['machine']}, {found['cores']} cores, {document['seconds']:.0f} s, at commit "
        f"{found['commit'][:12]}, {found['time']}, by `{found['command']}`.\n"
    )


if __name__ == "__main__":
    main()
