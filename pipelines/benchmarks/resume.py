"""How soon a killed run steps again where its data are large: resume.json and resume.md.

    python pipelines/benchmarks/resume.py            # 1 GB of FASTA, written and read in a folder that is removed
    python pipelines/benchmarks/resume.py --quick    # 20 MB: does it run? prints, writes nothing

A small model learns from random bases; the run is killed with SIGKILL after a few steps, and gone on with by a new
process. What counts is from the start of that process to the line of its first step, less what a process takes that
does nothing but load the model. Everything is in there: imports, the digest of the data, the store, the checkpoint,
the trial steps of the plan, the step. Beside the time by the clock stands the processor's, which other work on the
machine changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.records import Alphabet
from longseq.training.store import digest

RECORDS, COLUMNS = 10, 80
LIMIT = 10.0
"""Seconds beyond the loading of the model."""
ROUNDS = 3
SETTINGS = {
    "device": "cpu",
    "threads": 1,
    "steps": 1_000_000,
    "batch": 4096,
    "checkpoint.every": 2,
    "evaluation.every": 0,
    "model.width": 64,
    "model.layers": 2,
}


def genome(file: Path, records: int, bases: int) -> None:
    """So many records of so many random bases each, in whole lines of 80."""
    draw, letters = np.random.default_rng(0), np.frombuffer(b"ACGT", np.uint8)
    lines = bases // COLUMNS
    with open(file, "wb") as out:
        for record in range(records):
            out.write(b">chr%d\n" % (record + 1))
            for first in range(0, lines, 100_000):
                rows = np.full((min(100_000, lines - first), COLUMNS + 1), ord("\n"), np.uint8)
                rows[:, :COLUMNS] = letters[draw.integers(0, 4, (len(rows), COLUMNS), np.uint8)]
                out.write(rows.tobytes())


class Seconds(NamedTuple):
    clock: float
    processor: float


class Running(NamedTuple):
    """A process, and when it was started."""

    process: subprocess.Popen
    began: float

    def seconds(self) -> Seconds:
        """Since then."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])  # in user and in system mode
        return Seconds(time.monotonic() - self.began, ticks / os.sysconf("SC_CLK_TCK"))


@contextmanager
def running(fasta: Path, run: Path) -> Iterator[Running]:
    """A process that takes the run up; it is killed at the end."""
    command = [sys.executable, "-c", "from longseq.cli import main; main()", "train", str(fasta), "--out", str(run)]
    settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    began = time.monotonic()
    process = subprocess.Popen([*command, *settings, "--resume"], stderr=subprocess.DEVNULL)
    try:
        yield Running(process, began)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def steps(run: Path) -> int:
    """Steps of the last whole line of the journal."""
    try:
        text = (run / "metrics.jsonl").read_bytes()
    except FileNotFoundError:
        return 0
    whole = text[: text.rfind(b"\n") + 1].splitlines()
    return json.loads(whole[-1])["step"] if whole else 0


def stepped(run: Path, step: int, running: Running) -> Seconds:
    """Seconds until so many steps were done."""
    while steps(run) < step:
        time.sleep(0.01)
        if running.process.poll() is not None:
            raise SystemExit(f"the run ended before step {step}")
    return running.seconds()


def loaded(run: Path) -> Seconds:
    """Seconds of a process that loads the model of the last checkpoint."""
    name = (run / "checkpoints" / "latest").read_text().strip()
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "import sys; from longseq.model import load; load(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(run / "checkpoints" / name)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seconds(time.monotonic() - began, spent)


def measured(folder: Path, size: int, rounds: int) -> dict:
    fasta, run = folder / "genome.fa", folder / "run"
    genome(fasta, RECORDS, size // RECORDS * COLUMNS // (COLUMNS + 1))
    with running(fasta, run) as process:
        first = stepped(run, 5, process)
    resumed = []
    for _ in range(rounds):
        kept = int((run / "checkpoints" / "latest").read_text().removeprefix("step-"))
        model = loaded(run)
        journal = run / "metrics.jsonl"
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(True)[:kept]))  # what a resume keeps of it
        with running(fasta, run) as process:
            again = stepped(run, kept + 1, process)
            stepped(run, kept + 3, process)
        resumed.append({"to_first_step": again._asdict(), "model": model._asdict(), "load": os.getloadavg()[0]})
    began = time.monotonic()
    digest([str(fasta)], Alphabet())
    return {
        "bytes": fasta.stat().st_size,
        "start_to_step_5": first._asdict(),
        "digest_seconds": time.monotonic() - began,
        "limit_seconds": LIMIT,
        "rounds": resumed,
    }


def beyond(row: dict, by: str) -> float:
    """Seconds of a round beyond those of the model."""
    return row["to_first_step"][by] - row["model"][by]


def said(result: dict) -> str:
    """The table, as text."""
    rows = []
    for row in result["rounds"]:
        seconds = [(row["to_first_step"][by], row["model"][by], beyond(row, by)) for by in Seconds._fields]
        rows.append([f"{number:.1f}" for number in (*seconds[0], *seconds[1], row["load"])])
    limit, origin, first = result["limit_seconds"], result["provenance"], result["start_to_step_5"]
    best = {by: min(beyond(row, by) for row in result["rounds"]) for by in Seconds._fields}
    verdicts = [f"{'held' if best[by] < limit else 'NOT HELD'} by the {by} ({best[by]:.1f} s)" for by in best]
    return "\n".join(
        [
            f"{result['bytes'] / 1e9:.2f} GB of FASTA. From nothing to step 5, the data prepared: {first['clock']:.0f} "
            f"s, {first['processor']:.0f} s of the processor. Digest of the data: {result['digest_seconds']:.1f} s, in "
            "each of these. Seconds after a kill:",
            "",
            table(
                [
                    *("to the first step", "a process that loads the model", "beyond it"),
                    *("processor: to the first step", "model", "beyond it"),
                    "load",
                ],
                rows,
            ).rstrip("\n"),
            "",
            f"Limit: {limit:g} s beyond the model, best round: {', '.join(verdicts)}.",
            "",
            f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, {origin['time']}.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20 MB, one round: prints, writes nothing")
    parser.add_argument("--folder", help="where there is room for 2.5 GB; as the system has it")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = measured(Path(folder), 20_000_000 if options.quick else 1_000_000_000, 1 if options.quick else ROUNDS)
    result = {"benchmark": "resume", "settings": SETTINGS, "provenance": provenance(), **found}
    if options.quick:
        print(said(result))
        return
    write_json(options.out, result, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(f"# resume\n\n{said(result)}", encoding="utf-8")


if __name__ == "__main__":
    main()
