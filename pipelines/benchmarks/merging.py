"""Seconds and memory of `longseq merge` on a batch of many short records.

    python pipelines/benchmarks/merging.py [--records 100000 --shards 50]

Made-up reads of 150 bases in one FASTA, summarized without a model into shards, one after the other, and then merged
`--times` times, each in a process of its own, which says its own seconds; its processor time and peak of resident
memory are the system's. Beside it stands the same file summarized by one process.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

BASES = 150


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=50)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "reads.fa", options.records)
        asked = ("summarize", "reads.fa", "--no-model")
        for number in range(1, options.shards + 1):
            run(folder, *asked, "--out", "batch", "--shard", f"{number}/{options.shards}")
        runs = {
            "one process": lambda: run(folder, *asked, "--out", "whole", "--force"),
            "merge": lambda: run(folder, "merge", "batch", "--out", "merged", "--force"),
        }
        found = {what: [call() for _ in range(options.times)] for what, call in runs.items()}
        same = all(
            (folder / "whole" / file).read_bytes() == (folder / "merged" / file).read_bytes()
            for file in ("sequences.tsv", "windows.parquet", "regions.bed", "tracks/gc.bw")
        )
    document = {
        "benchmark": "merging",
        "records": options.records,
        "shards": options.shards,
        "same": same,
        "runs": found,
        "provenance": provenance(),
    }
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def write(file: Path, records: int) -> None:
    rng = random.Random(0)
    with open(file, "w", encoding="ascii") as out:
        out.writelines(f">read{i}\n{''.join(rng.choices('ACGT', k=BASES))}\n" for i in range(records))


def run(folder: Path, *arguments: str) -> dict[str, float]:
    """What one command takes, from start to end."""
    code = "import sys; from longseq.cli import main; sys.exit(main())"
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", code, *arguments, "-q"], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    return {
        "seconds": time.monotonic() - began,
        "processor_seconds": used.ru_utime + used.ru_stime,
        "peak_rss_mb": used.ru_maxrss / 1024,  # KiB on Linux
    }


def markdown(document: dict) -> str:
    """The page beside the JSON."""
    found = document["provenance"]
    rows = [[what, *_figures(runs)] for what, runs in document["runs"].items()]
    equal = "the same bytes" if document["same"] else "other bytes"
    return (
        "# Merging many short records\n\n"
        f"{document['records']:,} records of {BASES} bases in {document['shards']} shards, `summarize --no-model`; "
        f"merge and one process wrote {equal}. Median, least and greatest of {len(document['runs']['merge'])} runs.\n\n"
        + table(["", "seconds", "processor seconds", "peak memory, MiB"], rows)
        + f"\nMeasured on {found['machine']}, {found['cores']} cores, load {found['load']:.1f} at the end, at commit "
        f"{found['commit'][:12]}, {found['time']}, by `{found['command']}`.\n"
    )


def _figures(runs: Sequence[dict[str, float]]) -> list[str]:
    columns = [[run[name] for run in runs] for name in ("seconds", "processor_seconds", "peak_rss_mb")]
    return [f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})" for values in columns]


if __name__ == "__main__":
    main()
