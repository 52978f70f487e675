"""Shards that are one batch: all there, of one making, and played in the order of the inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from longseq.errors import InputError
from longseq.log import NullProgress, Progress
from longseq.results.run import Run
from longseq.tasks.shards.folder import FACTS, read_shard
from longseq.tasks.shards.order import NAMES, first_difference
from longseq.tasks.shards.part import name_of
from longseq.tasks.shards.plan import FILE as PLAN
from longseq.tasks.shards.plan import MOST
from longseq.tasks.shards.sources import SourcePart, joined
from longseq.tasks.shards.spool import SpoolReader
from longseq.tasks.sources import Source

NAME = re.compile(r"([1-9]\d*)-of-([1-9]\d*)")
NAMED = 12
"""Shards that a message names."""


@dataclass(frozen=True)
class Batch:
    """All shards of one command, in order."""

    folders: tuple[Path, ...]
    documents: tuple[dict[str, Any], ...]
    """`shard.json` of each."""
    progress: Progress = field(default_factory=NullProgress, compare=False)
    """Told of what was read, while `frames` are walked."""

    @property
    def command(self) -> str:
        return self.documents[0]["command"]

    @property
    def version(self) -> str:
        """Of longseq."""
        return self.documents[0]["version"]

    @property
    def request(self) -> dict[str, Any]:
        """As its `Order` holds it."""
        return self.documents[0]["request"]

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.documents[0]["inputs"])

    @property
    def models(self) -> dict[str, str]:
        """sha256 of each, by what it is for."""
        return self.documents[0]["models"]

    @property
    def facts(self) -> dict[str, Any]:
        """What its shards said besides."""
        found: dict[str, Any] = {}
        for document in reversed(self.documents):
            found |= document["facts"]
        return found

    def frames(self, kinds: Sequence[type]) -> Iterator[tuple[SpoolReader, Any]]:
        """The values of all spools in the order in which one process would have had them, each with the spool that has
        its bulk; one shard is open at a time, and one value held.

        Raises:
            InputError: a spool that is damaged.
        """
        self.progress.start("merge", sum(document["spool"]["frames"] for document in self.documents), "part")
        try:
            for folder, document in zip(self.folders, self.documents, strict=True):
                with SpoolReader(folder, kinds, document["spool"]) as reader:
                    for value in reader:
                        yield reader, value
                        self.progress.advance(1, shard=folder.name)
        finally:
            self.progress.finish()

    def sources(self) -> list[Source]:
        """All inputs, in order, as one process would have read them."""
        parts = (SourcePart.read(plain) for document in self.documents for plain in document["sources"])
        return joined(self.inputs, parts)

    def run(self, command: str) -> Run:
        """Where a merged result comes from: seconds are those of the shards in all, memory that of the largest."""
        runs = [document["run"] for document in self.documents]
        seconds = sum(run["seconds"] for run in runs)
        tokens = sum(document["counts"]["length"] for document in self.documents)
        first = next((run for run in runs if run.get("model_sha256")), runs[0])
        known = {name: first[name] for name in ("model", "model_sha256", "device", "precision", "threads")}
        return Run(
            version=self.version,
            command=command,
            **known,
            tokens=tokens,
            seconds=seconds,
            tokens_per_s=tokens / seconds if seconds else 0.0,
            peak_rss_mb=max(run["peak_rss_mb"] for run in runs),
        )


def gathered(paths: Sequence[str | Path], progress: Progress | None = None) -> Batch:
    """The shards in the folder of a batch, or in these folders of shards; `progress` is told of their reading.

    Raises:
        InputError: one that is missing, stands twice, was not finished, or is of another version, model, request,
            plan or input than the first one; it is named.
    """
    folders = [one for path in paths for one in _expanded(Path(path))]
    documents = [_read(folder) for folder in folders]
    found = sorted(zip(folders, documents, strict=True), key=lambda one: one[1]["shard"])
    first = found[0]
    for folder, document in found[1:]:
        _require_same(first, (folder, document))
    for (one, a), (other, b) in pairwise(found):
        if a["shard"] == b["shard"]:
            name = name_of(a["shard"], a["of"])
            raise InputError(f"both are shard {name}: they overlap", where=f"{one}, {other}", remedy="name one of them")
    there, of = {document["shard"] for _, document in found}, first[1]["of"]
    if missing := [number for number in range(1, of + 1) if number not in there]:
        raise InputError(
            where=", ".join(dict.fromkeys(str(folder.parent) for folder in folders)),
            expected=f"{of} shards",
            found=f"{len(there)}: {_named(name_of(number, of) for number in missing)} missing",
            remedy="longseq info DIR says what became of them",
        )
    return Batch(
        folders=tuple(folder for folder, _ in found),
        documents=tuple(document for _, document in found),
        progress=progress or NullProgress(),
    )


def shards_in(folder: Path) -> list[Path]:
    """The finished shards in the folder of a batch."""
    return sorted(one for one in folder.iterdir() if NAME.fullmatch(one.name) and (one / FACTS).is_file())


def is_batch(folder: Path) -> bool:
    """Whether this is the folder of a batch: it has a plan, or shards."""
    return folder.is_dir() and ((folder / PLAN).is_file() or bool(shards_in(folder)))


def _expanded(path: Path) -> list[Path]:
    if (path / FACTS).is_file() or not path.is_dir():
        return [path]
    found = shards_in(path)
    if not found:
        raise InputError(where=str(path), expected="finished shards", found="none in it", remedy="longseq info DIR")
    return found


def _read(folder: Path) -> dict[str, Any]:
    document = read_shard(folder)
    if document is None:
        found = "none, or one that was changed or is of an earlier version" if (folder / FACTS).is_file() else "none"
        raise InputError(
            where=str(folder), expected="a finished shard", found=found, remedy="run the shard again: --force"
        )
    if not 1 <= document["of"] <= MOST or not 1 <= document["shard"] <= document["of"]:
        raise InputError(where=str(folder), expected=f"a shard of {MOST:,} at most", found="another")
    return document


def _require_same(first: tuple[Path, dict[str, Any]], other: tuple[Path, dict[str, Any]]) -> None:
    """Raise where two shards are not of one batch."""
    (one, a), (two, b) = first, other
    for name in ("of", *NAMES):
        if a[name] != b[name]:
            raise InputError(where=str(two), **_differing(name, a[name], b[name], one))
    if a["plan"] != b["plan"]:
        changed = [file for file, mine in b["digests"].items() if a["digests"].get(file, mine) != mine]
        said = f"{_named(changed)} was another file" if changed else "cut by another plan"
        raise InputError(f"{said} than for {one}", where=str(two), remedy="run one of them again")


def _differing(name: str, mine: Any, its: Any, one: Path) -> dict[str, str]:
    """Expected and found, of the first part of a setting that differs."""
    name, mine, its = first_difference(name, mine, its)
    words = {"of": "shards", "command": "the command", "version": "version", "models": "the model"}
    said = words.get(name.split()[0], name)
    return {
        "expected": f"{said} {mine!r}, as {one} has it",
        "found": repr(its),
        "remedy": "shards of one batch are made alike: run one of them again",
    }


def _named(names: Iterable[str]) -> str:
    some = list(names)
    more = f" and {len(some) - NAMED} more" if len(some) > NAMED else ""
    return ", ".join(some[:NAMED]) + more
