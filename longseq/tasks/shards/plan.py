"""`plan.json`: the inputs of a batch as they were, and which records of them each shard has.

It depends on the inputs, on how they are read and on the number of shards alone, so that every shard would make the
same one.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longseq.config import from_mapping
from longseq.errors import InputError, LongseqError, OutputExistsError, UsageError, place
from longseq.formats.atomic import no_directory
from longseq.formats.jsonfile import read_json, write_json
from longseq.log import Progress
from longseq.tasks.shards.cut import OVERHEAD, InputFacts, bounds, input_digest, measured, spans
from longseq.tasks.shards.order import Reading
from longseq.tasks.shards.part import Part, Span, name_of

SCHEMA = "longseq.plan/1"
FILE = "plan.json"
MOST = 100_000
"""Shards."""


@dataclass(frozen=True, kw_only=True)
class ShardFacts:
    """A shard, as it was planned."""

    records: int
    letters: int
    """About: those of its records, as `InputFacts` counts them."""
    spans: tuple[tuple[int, ...], ...]
    """(input, first, last) of its records, inputs and records from 0."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A batch, cut."""

    reading: Reading
    inputs: tuple[InputFacts, ...]
    shards: tuple[ShardFacts, ...]

    def part(self, number: int) -> Part:
        """Of the shard of this number, from 1."""
        own = {k: Span(first, last, last == self.inputs[k].records) for k, first, last in self.shards[number - 1].spans}
        return Part(number, len(self.shards), own)

    @property
    def letters(self) -> int:
        return sum(one.letters for one in self.inputs)

    @property
    def longest(self) -> int:
        """Letters of the shard that has most."""
        return max(shard.letters for shard in self.shards)

    def digest(self) -> str:
        """sha256 of all that it says."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        named = [{"shard": name_of(i, len(self.shards)), **asdict(one)} for i, one in enumerate(self.shards, 1)]
        return {"schema": SCHEMA, "digest": self.digest(), **asdict(self), "shards": named}


def make_plan(files: Sequence[str], of: int, reading: Reading, progress: Progress) -> Plan:
    """Read all inputs once and cut them into `of` parts.

    Raises:
        UsageError: standard input, or another that cannot be read twice; a number of shards out of range.
    """
    if not 1 <= of <= MOST:
        raise UsageError(where="--shards", expected=f"1 to {MOST:,}", found=str(of))
    facts: list[InputFacts] = []
    costs = array("q")
    progress.start("plan", None, "letter")
    try:
        for file in files:
            once = UsageError("cannot be cut into shards", where=place(file), remedy="write it to a file first")
            if file == "-":
                raise once  # before it is waited for
            found, some = measured(file, reading, progress)
            if found.records and found.sha256 is None:
                raise once
            facts.append(found)
            costs += some
    finally:
        progress.finish()
    values = np.frombuffer(costs, np.int64) if costs else np.zeros(0, np.int64)
    cuts = bounds(values, of)
    shards = []
    for part, start, end in zip(spans([one.records for one in facts], cuts), cuts, cuts[1:], strict=False):
        letters = int(values[start:end].sum()) - OVERHEAD * (end - start)
        own = tuple((k, span.first, span.last) for k, span in sorted(part.items()))
        shards.append(ShardFacts(records=end - start, letters=letters, spans=own))
    return Plan(reading=reading, inputs=tuple(facts), shards=tuple(shards))


def read_plan(folder: str | Path) -> Plan | None:
    """That of a batch; None where there is none yet.

    Raises:
        InputError: it is something else, or was changed.
    """
    path = Path(folder, FILE)
    try:
        document = read_json(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _no_plan(path, str(error)) from None
    try:
        shards = [{k: v for k, v in shard.items() if k != "shard"} for shard in document["shards"]]
        plain = {"reading": document["reading"], "inputs": document["inputs"], "shards": shards}
        for shard in shards:
            shard["spans"] = [list(span) for span in shard["spans"]]
        plan = from_mapping(Plan, plain)
        if document["schema"] != SCHEMA or document["digest"] != plan.digest():
            raise _no_plan(path, "one of another version, or one that was changed")
    except (KeyError, TypeError, AttributeError, LongseqError) as error:
        raise error if isinstance(error, InputError) else _no_plan(path, f"something else ({error})") from None
    return plan


def _no_plan(path: Path, found: str) -> InputError:
    remedy = "remove it, and plan again"
    return InputError(where=str(path), expected="a plan of shards", found=found, remedy=remedy)


def planned(folder: str | Path, files: Sequence[str], of: int, reading: Reading, progress: Progress) -> Plan:
    """The plan in the folder of a batch; where there is none, it is made and written there.

    Raises:
        UsageError: that of other inputs, of another number of shards, or read otherwise; a folder that cannot be made.
    """
    folder = Path(folder)
    if not folder.parent.is_dir():
        raise no_directory(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", where=str(folder), remedy="name another") from None
    plan = read_plan(folder)
    if plan is None:
        plan = make_plan(files, of, reading, progress)
        try:
            write_json(folder / FILE, plan.to_json(), given=False)
        except OutputExistsError:  # another shard was first
            plan = read_plan(folder)
            if plan is None:
                raise
    _require(plan, folder, files, of, reading)
    return plan


def _require(plan: Plan, folder: Path, files: Sequence[str], of: int, reading: Reading) -> None:
    where, remedy = str(folder / FILE), "give --out another name, or remove the batch"
    then = [one.file for one in plan.inputs]
    if len(plan.shards) != of:
        raise UsageError(where=where, expected=f"a plan of {of} shards", found=f"of {len(plan.shards)}", remedy=remedy)
    if then != list(files):
        for mine, its in zip([*files, "nothing"], [*then, "nothing"], strict=False):
            if mine != its:
                raise UsageError(where=where, expected=f"a plan with {mine}", found=its, remedy=remedy)
    if plan.reading != reading:
        raise UsageError(where=where, expected=f"a plan by {_said(reading)}", found=_said(plan.reading), remedy=remedy)


def _said(reading: Reading) -> str:
    return ", ".join(f"{name} {value}" for name, value in vars(reading).items() if value is not None)


def require_unchanged(plan: Plan, part: Part) -> None:
    """Raise where an input of the shard is not what it was when it was planned.

    Raises:
        InputError: names the first one.
    """
    for number in part.spans:
        facts = plan.inputs[number]
        if input_digest(facts.file) != facts.sha256:
            raise InputError(
                "is not what it was when the batch was planned",
                where=place(facts.file),
                remedy="bring it back, or begin a new batch: give --out another name",
            )
