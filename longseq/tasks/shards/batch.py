"""How a batch stands: which shards are done, failed, slow or left, and which to run again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from longseq.errors import InputError, OutputExistsError
from longseq.formats.jsonfile import read_json
from longseq.formats.lock import hold
from longseq.tasks.shards.folder import RUN, read_shard
from longseq.tasks.shards.gather import shards_in
from longseq.tasks.shards.part import name_of
from longseq.tasks.shards.plan import MOST, read_plan
from longseq.tasks.working import LOCK, beside

SLOW = 2.0
"""Times as slow as the median from which a shard is called slow."""
SHOWN = 20
"""Shards of one state that are listed with how they went."""


def rate_of(folder: str | Path) -> float | None:
    """Letters a second of the finished shards of a batch; None where there is none."""
    if not Path(folder).is_dir():
        return None
    runs = [document["run"] for one in shards_in(Path(folder)) if (document := read_shard(one)) is not None]
    rates = [run["tokens_per_s"] for run in runs if run["tokens_per_s"]]
    return median(rates) if rates else None


def standing(folder: str | Path) -> dict[str, Any]:
    """Facts about a batch by name, ready for JSON; `run_again` is what `sbatch --array=` takes.

    Raises:
        InputError: its plan cannot be read.
    """
    folder = Path(folder)
    plan = read_plan(folder)
    done = {one.name: document for one in shards_in(folder) if (document := read_shard(one)) is not None}
    of = len(plan.shards) if plan is not None else max((document["of"] for document in done.values()), default=0)
    if not 1 <= of <= MOST:
        raise InputError(
            where=str(folder), expected="a batch of shards", found="none that is whole", remedy="plan it again"
        )
    done = {name: document for name, document in done.items() if document["of"] == of}
    rate = rate_of(folder)
    rows: dict[str, list[dict[str, Any]]] = {"failed": [], "stopped": [], "running": [], "killed": [], "left": []}
    slow, letters, again = [], 0, []
    for number in range(1, of + 1):
        name = name_of(number, of)
        planned = None if plan is None else plan.shards[number - 1].letters
        if name in done:
            letters += done[name]["counts"]["length"]
            run = done[name]["run"]
            if rate and run["tokens_per_s"] and SLOW * run["tokens_per_s"] < rate:
                slow.append(_row(name, run))
            continue
        state, run = _state(folder, name)
        rows[state].append(_row(name, run) if run else {"shard": name, "letters": planned})
        if state != "running":
            again.append(number)
    counts = {"done": len(done), "slow": len(slow)} | {state: len(some) for state, some in rows.items()}
    runs = [document["run"] for document in done.values()]
    return {
        "what": "batch",
        "path": str(folder),
        "command": next(iter(done.values()))["command"] if done else None,
        "shards": of,
        **counts,
        "records": sum(document["counts"]["records"] for document in done.values()),
        "records_failed": sum(document["counts"]["failed"] for document in done.values()),
        "letters": letters,
        "letters_planned": None if plan is None else plan.letters,
        "letters_per_s": rate,
        "seconds": sum(run["seconds"] for run in runs),
        "peak_rss_mb": max((run["peak_rss_mb"] for run in runs), default=None),
        "hosts": sorted({run["host"] for run in runs}),
        "run_again": ranges(again) or None,
        "which": {state: some[:SHOWN] for state, some in ({"slow": slow} | rows).items() if some},
    }


def _state(folder: Path, name: str) -> tuple[str, dict[str, Any] | None]:
    """Of a shard that is not done: what an attempt left, if there was one."""
    working = beside(folder / name)
    if working.is_dir():
        return ("running" if _held(working / LOCK) else "killed"), None
    try:
        document = read_json(folder / f"{name}{RUN}")
        run = document["run"]
        _row(name, run)
        return ("stopped" if document["status"] == "stopped" else "failed"), run
    except (OSError, ValueError, LookupError, TypeError):
        return "left", None


def _held(lock: Path) -> bool:
    try:
        handle = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        hold(handle, lock)
    except OutputExistsError:
        return True
    finally:
        os.close(handle)
    return False


def _row(name: str, run: dict[str, Any]) -> dict[str, Any]:
    names = ("host", "seconds", "tokens_per_s", "peak_rss_mb", "exit_code", "error")
    row = {name: run[name] for name in names if name in run}
    row |= {name: round(row[name], 1) for name in ("seconds", "tokens_per_s", "peak_rss_mb")}
    return {"shard": name, **row, **run["slurm"]}


def ranges(numbers: Iterable[int]) -> str:
    """`2,5-7` of ascending numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)
