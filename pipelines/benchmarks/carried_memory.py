"""Memory of training on long records with the state carried: carried_memory.json and carried_memory.md.

    python pipelines/benchmarks/carried_memory.py            # 4 million bases twice, minutes
    python pipelines/benchmarks/carried_memory.py --quick    # short records: does it run? prints, writes nothing

A small model reads the same number of bases in records of 65,536 and of 1,000,000 (in whole lines of 80), the state
carried over windows of 2,048 from end to end of each. The data are prepared by another process before. What counts is
the peak of the resident memory of the process that trains, its imports included.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from provenance import provenance
from resume import genome

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

WINDOW, BASES = 2048, 4_000_000
LENGTHS = (65_536, 1_000_000)
LIMIT = 1.1
"""Times the memory of the shorter records."""
SETTINGS = {
    "device": "cpu",
    "threads": 1,
    "batch": WINDOW,
    "evaluation.every": 0,
    "checkpoint.every": 0,
    "model.width": 32,
    "model.layers": 2,
    "model.heads": 2,
    "model.pattern": '["gated", "delta"]',
    "data.window": WINDOW,
}


def trained(folder: Path, length: int, steps: int) -> float:
    """MiB at most of a process that makes so many steps."""
    out = folder / f"run{steps}"
    own = {"data.carry": math.ceil(length / WINDOW), "data.cache": f'"{folder / "cache"}"', "steps": steps}
    settings = [word for key, value in (SETTINGS | own).items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-c", "from longseq.cli import main; main()", "train", str(folder / "genome.fa")]
    subprocess.run([*command, "--out", str(out), *settings, "-q"], check=True, stdout=subprocess.DEVNULL)
    lines = (json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    return max(line.get("memory_mib", 0.0) for line in lines)


def measured(folder: Path, length: int, steps: int) -> dict:
    folder.mkdir()
    genome(folder / "genome.fa", BASES // length, length)
    trained(folder, length, 1)  # prepares the data
    return {"length": length, "records": BASES // length, "steps": steps, "mib": trained(folder, length, steps)}


def said(result: dict) -> str:
    """The table, as text."""
    rows = [[f"{row['length']:,}", row["records"], row["steps"], f"{row['mib']:.1f}"] for row in result["rows"]]
    short, long = (row["mib"] for row in result["rows"])
    held = "held" if long <= result["limit"] * short else "NOT HELD"
    origin = result["provenance"]
    return "\n".join(
        [
            table(["bases of a record", "records", f"steps of {WINDOW:,}", "MiB"], rows).rstrip("\n"),
            "",
            f"{long / short:.3f} times, limit {result['limit']:g}: {held}.",
            "",
            f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, {origin['time']}.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short records: prints, writes nothing")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    lengths = tuple(length // 20 for length in LENGTHS) if options.quick else LENGTHS
    steps = math.ceil(lengths[-1] / WINDOW)
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(Path(folder, str(length)), length, steps) for length in lengths]
    result = {
        "benchmark": "carried_memory",
        "settings": SETTINGS,
        "limit": LIMIT,
        "provenance": provenance(),
        "rows": rows,
    }
    if options.quick:
        print(said(result))
        return
    write_json(options.out, result, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(f"# carried_memory\n\n{said(result)}", encoding="utf-8")


if __name__ == "__main__":
    main()
