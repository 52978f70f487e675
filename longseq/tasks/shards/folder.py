"""A shard on disk: `DIR/3-of-8`, whole or not there; while it is made, a hidden folder with a lock beside it.

What a job that failed leaves is `DIR/3-of-8.run.json`, until the next attempt.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longseq.errors import OutputExistsError
from longseq.formats.atomic import flush, no_directory, umask
from longseq.formats.exchange import exchange
from longseq.formats.jsonfile import read_json, to_json, write_json
from longseq.results.source import SourceRow
from longseq.tasks.shards import spool
from longseq.tasks.shards.order import SCHEMA, Order, first_difference
from longseq.tasks.shards.part import Part
from longseq.tasks.shards.plan import Plan
from longseq.tasks.shards.sources import SourcePart
from longseq.tasks.sources import Source
from longseq.tasks.working import LOCK, Folder, Owner, beside

FACTS, DIGEST = "shard.json", "sha256"
RUN = ".run.json"
"""Behind the name of a shard: what an attempt left that did not end well."""
SHARD = Owner("a shard", SCHEMA, (FACTS, *spool.FILES))


@dataclass
class Shard:
    """A shard that is being made."""

    folder: Path
    """Where its files go."""
    part: Part
    spool: spool.SpoolWriter
    facts: dict[str, Any] = field(default_factory=dict)
    """What `merge` should know besides, in plain types; equal in all shards that have it."""
    sources: Sequence[Source] = ()
    """The inputs of its part, once they were read."""
    run: dict[str, Any] = field(default_factory=dict)
    """How it went: host, device, seconds, …; see `attempt.Attempt`."""

    @property
    def rows(self) -> list[SourceRow]:
        """What it says of its inputs."""
        return [source.row() for source in self.sources]


def identity(order: Order, plan: Plan, part: Part) -> dict[str, Any]:
    """All that a shard's bytes depend on."""
    digests = {plan.inputs[number].file: plan.inputs[number].sha256 for number in part.spans}
    known = {"shard": part.number, "of": part.of, **order.plain(), "digests": digests, "plan": plan.digest()}
    return {"schema": SCHEMA, **known}


def is_done(batch: str | Path, part: Part, known: Mapping[str, Any]) -> bool:
    """Whether the shard stands there, made for this very order.

    Raises:
        OutputExistsError: made for another one, or something else; it names what differs.
    """
    target = Path(batch, part.name)
    if not target.exists():
        return False
    document = read_shard(target)
    remedy = "give --out another name, or --force to make it anew"
    if document is None:
        raise OutputExistsError("is no shard", where=str(target), remedy=remedy)
    for name, now in known.items():
        if (then := document.get(name)) != now:
            name, then, now = first_difference(name, then, now)
            problem = f"is there already, made with {name} {then!r} instead of {now!r}"
            raise OutputExistsError(problem, where=str(target), remedy=remedy)
    return True


def read_shard(folder: Path) -> dict[str, Any] | None:
    """`shard.json` of a finished shard; None where there is none, or one that was changed since it was written."""
    try:
        document = read_json(folder / FACTS)
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or document.get("status") != "done":
        return None
    found = document.pop(DIGEST, None)
    return document if found == signed(document)[DIGEST] else None


def signed(document: Mapping[str, Any]) -> dict[str, Any]:
    """With a digest of all that it says."""
    plain = json.loads(to_json(document))
    return plain | {DIGEST: hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()}


@contextmanager
def making(
    batch: str | Path, part: Part, known: Mapping[str, Any], kinds: Sequence[type], *, force: bool = False
) -> Iterator[Shard]:
    """The shard to fill: it takes its name when the block ends well, else nothing is left of it.

    Args:
        batch: Folder of the batch, which stands.
        known: Its `identity`.
        kinds: Classes of the frames of its spool.
        force: Replace one that stands there.

    Raises:
        OutputExistsError: another process is making it.
        UsageError: what stands in its place is not ours.
        LongseqError: the disk takes no more.
    """
    target = Path(batch, part.name)
    folder = Folder(beside(target), SHARD)
    try:
        folder.take()
    except FileNotFoundError:
        raise no_directory(target) from None
    try:
        folder.clear()
        with spool.SpoolWriter(folder.path, kinds) as writer:
            shard = Shard(folder.path, part, writer)
            yield shard
        document = signed(_document(shard, known))
        # a name need not be Unicode: what UTF-8 cannot spell is an escape, which JSON reads back
        with open(folder.path / FACTS, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(to_json(document) + "\n")
        _publish(folder.path, target, force)
    except BaseException:
        folder.remove()
        raise
    folder.release()
    target.with_name(part.name + RUN).unlink(missing_ok=True)


def _document(shard: Shard, known: Mapping[str, Any]) -> dict[str, Any]:
    parts = [SourcePart.of(source) for source in shard.sources]
    counts = {name: sum(getattr(part, name) for part in parts) for name in ("records", "length", "failed")}
    return {
        **known,
        "status": "done",
        "part": {str(number): list(span) for number, span in shard.part.spans.items()},
        "counts": counts,
        "run": shard.run,
        "sources": [part.plain() for part in parts],
        "facts": shard.facts,
        "spool": shard.spool.facts(),
    }


def _publish(made: Path, target: Path, force: bool) -> None:
    for name in (FACTS, *spool.FILES):
        flush(made / name)
    flush(made)
    mask = umask()
    os.chmod(made, 0o777 & ~mask)
    for name in (FACTS, *spool.FILES):
        os.chmod(made / name, 0o666 & ~mask)
    if force and target.exists():
        (target / LOCK).touch()  # what it was is a working folder then, which the next attempt clears
        exchange(made, target)
        shutil.rmtree(made, ignore_errors=True)
    else:
        os.rename(made, target)  # over an empty folder at most: who is second fails, and nothing is lost
    (target / LOCK).unlink()
    flush(target.parent)


def leave(batch: str | Path, part: Part, known: Mapping[str, Any], status: str, run: Mapping[str, Any]) -> None:
    """Keep what is known of an attempt that did not end well; `status` is "failed" or "stopped"."""
    path = Path(batch, part.name + RUN)
    write_json(path, {**known, "status": status, "run": run}, force=True, given=False)
