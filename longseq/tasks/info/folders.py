"""Folders: what a command left, or files that it could be given."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from longseq.errors import InputError
from longseq.formats.containers import open_bytes
from longseq.formats.detect import detect
from longseq.formats.folders import files
from longseq.tasks.info import results

TOLD = (
    *("shard.json", "genes.json", "annotation.json", "run.json", "summary.json", "report.json"),
    *("bench.json", "check.json", "compare.json", "attention.json"),
)
"""Documents by which a folder of results is known, the one that says most of it first."""
LOOKED_AT = 1000
"""Files whose formats are looked at."""
LISTED = 30
"""Files of a result that are listed."""


def facts(path: str) -> dict[str, Any]:
    """Of a folder.

    Raises:
        InputError: no file is in it.
    """
    place = Path(path)
    for name in TOLD:
        if (place / name).is_file() and (found := _result(place, name)):
            return found
    return _files(path)


def _result(place: Path, name: str) -> dict[str, Any] | None:
    with open(place / name, "rb") as file:
        found = results.facts(str(place / name), file.read(1 << 16), "plain")
    if found is None:
        return None
    inside = sorted(one.name + "/" * one.is_dir() for one in place.iterdir() if not one.name.startswith("."))
    size = sum(one.stat().st_size for one in place.rglob("*") if one.is_file())
    said = found["what"], found["is"]
    if name == "run.json" and (place / "summary.json").is_file():
        said = "summary", "a summary"
    elif name == "run.json" and (place / "records.tsv").is_file():
        said = "classify", results.KINDS["classify"]
    elif name == "shard.json":
        found = {"what": "shard", "is": "a shard of a batch", "path": str(place), "bytes": size}
        document = results.read_document(place / name)
        return found | ({"problem": "shard.json is damaged"} if document is None else _shard(document))
    found.pop("schema", None)
    found |= {"what": said[0], "is": said[1], "path": str(place), "bytes": size}
    return found | {"in_it": inside[:LISTED]}


def _shard(document: dict[str, Any]) -> dict[str, Any]:
    names = ("command", "shard", "of", "version", "status", "counts")
    known = {name: document[name] for name in names if name in document}
    run = document.get("run", {})
    return known | {name: run[name] for name in ("host", "seconds", "tokens_per_s", "peak_rss_mb") if name in run}


def _files(path: str) -> dict[str, Any]:
    inside = files([path])
    formats: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for name in inside[:LOOKED_AT]:
        try:
            with open_bytes(name) as stream:
                found = detect(stream)
        except InputError:
            formats["not read"] += 1
        else:
            formats[found.name] += 1
            kinds[found.kind] += 1
    size = sum(Path(name).stat().st_size for name in inside if os.path.exists(name))
    return {
        "what": "folder",
        "is": "a folder of files",
        "path": path,
        "files": len(inside),
        "bytes": size,
        "formats": dict(formats.most_common()),
        "kinds": sorted(kinds),
    }
