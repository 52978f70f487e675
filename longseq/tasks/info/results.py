"""JSON documents that commands write, tokenizers, and settings in TOML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from longseq.config import from_mapping, read_toml
from longseq.errors import ConfigError
from longseq.formats.containers import Container
from longseq.formats.jsonfile import parsed

LONGEST = 1 << 26
"""Bytes of a JSON document that is read whole; of a longer one its beginning tells what it is."""
KINDS = {
    "annotation": "intervals and tracks of longseq annotate",
    "attention": "weights of attention heads, by longseq attention",
    "bench": "speed and memory, measured by longseq bench",
    "check": "laws, proven by longseq check",
    "checkpoint": "the shape of a model",
    "classify": "classes of records",
    "compare": "models side by side, by longseq compare",
    "conversion": "the report card of a conversion",
    "evaluation": "summaries against references",
    "extract": "an extractor's training",
    "generate": "a continued prompt",
    "genes": "genes of longseq annotate",
    "plan": "the plan of a batch",
    "run": "where a result comes from",
    "score": "bits of records",
    "score.run": "bits of records, by longseq score",
    "shard": "a shard of a batch",
    "summary": "a summary",
    "tokenizer": "a tokenizer of DNA",
    "train": "a training run",
    "variants": "scored variants",
    "verify": "sentences of a summary against their source",
}
"""By schema `longseq.NAME/1`; what is none of these is called by its name."""
_KEYS = {"inputs", "task", "start", "steps", "epochs", "minutes", "model", "data", "labels", "optimiser", "layers"}
"""Some of which settings of a training run have."""
_SCHEMA = re.compile(rb'\s*\{\s*(?:"command":\s*"(?:[^"\\]|\\.)*",\s*)?"schema":\s*"longseq\.([a-z.-]+)/(\d+)"')
_RUN = re.compile(r'^"run": (\{.*\}),?$', re.MULTILINE)


def facts(path: str, sample: bytes, container: Container) -> dict[str, Any] | None:
    """Of a file that begins with `sample`; None where it is none of these."""
    if container != "plain":
        return None
    if found := _SCHEMA.match(sample):
        return result(path, found[1].decode(), int(found[2]), sample)
    if sample.lstrip().startswith(b"{") and Path(path).suffix.lower() == ".json":
        return _tokenizer(path)
    if Path(path).suffix.lower() == ".toml":
        return _settings(path)
    return None


def result(path: str, name: str, version: int, sample: bytes) -> dict[str, Any]:
    """Of a document of one of our schemas."""
    size = Path(path).stat().st_size
    what = {"run": "origin", "score.run": "score"}.get(name, name)  # a run is what training made
    known = {"what": what, "is": KINDS.get(name, name), "path": path, "bytes": size, "schema": f"{name}/{version}"}
    if size > LONGEST:
        begun = _RUN.search(sample.decode(errors="replace"))
        return known | _made(_begun(begun[1]) if begun else {})
    if (document := read_document(path)) is None:
        return known | {"problem": "is damaged or ends early"}
    if name == "tokenizer":
        return _tokenizer(path) or known
    return known | _told(document)


def _begun(text: str) -> dict[str, Any]:
    try:
        return parsed(text)
    except ValueError:
        return {}


def read_document(path: str | Path) -> dict[str, Any] | None:
    """A JSON object; None of anything else, and of what is damaged or too long to be read whole."""
    if Path(path).stat().st_size > LONGEST:
        return None
    try:
        document = parsed(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _told(document: dict[str, Any]) -> dict[str, Any]:
    """What every document of ours may say of itself."""
    lists = ("files", "inputs", "records", "rows", "laws", "shards", "claims", "labels")
    found: dict[str, Any] = {name: len(document[name]) for name in lists if isinstance(document.get(name), list)}
    found |= {name: document[name] for name in lists if isinstance(document.get(name), int)}
    if isinstance(document.get("files"), list):
        files = [one for one in document["files"] if isinstance(one, dict)]
        found["kinds"] = sorted({str(one["kind"]) for one in files if one.get("kind")})
    run = document.get("run")
    return found | _made(run if isinstance(run, dict) else document)


def _made(run: dict[str, Any]) -> dict[str, Any]:
    names = ("version", "command", "model", "device", "tokens", "seconds")
    found = {name: run[name] for name in names if run.get(name) not in (None, "")}
    if isinstance(found.get("seconds"), float):
        found["seconds"] = round(found["seconds"], 1)
    return found


def _tokenizer(path: str) -> dict[str, Any] | None:
    """Of a `tokenizer.json`, ours or another's; None of any other JSON."""
    if (document := read_document(path)) is None:
        return None
    ours = str(document.get("schema", "")).startswith("longseq.tokenizer/")
    if not ours and not isinstance(document.get("model"), dict):
        return None
    from longseq.tasks.tokenizer import describe

    known = describe(path)
    known.pop("schema")
    return {"what": "tokenizer", "is": f"a tokenizer of {known['for'].replace('dna', 'DNA')}", **known}


def _settings(path: str) -> dict[str, Any]:
    """Of a TOML file: which command takes it, or what is wrong with it for the one that comes nearest."""
    known = {"what": "settings", "is": "settings (TOML)", "path": path, "bytes": Path(path).stat().st_size}
    try:
        tree = read_toml(path)
    except ValueError as error:
        return known | {"problem": f"no TOML: {error}"}
    if not tree.keys() & _KEYS:
        return known | {"is": "settings of another program (TOML)", "tables": list(tree)}
    from longseq.tasks.extract.config import ExtractConfig
    from longseq.training import TrainConfig

    known["tables"] = [name for name, value in tree.items() if isinstance(value, dict)]
    extract = tree.get("task") == "extract"
    try:
        from_mapping(ExtractConfig if extract else TrainConfig, tree)
    except ConfigError as error:
        return known | {"for": "train", "problem": str(error)}
    return known | {"for": "train", "task": tree.get("task", "next"), "inputs": tree.get("inputs")}
