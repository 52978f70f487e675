"""Folders and checked files as one string of bytes, so that they can be changed as a single file can."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load as from_bytes

from longseq.streaming import snapshot

_PART = re.compile(rb"(?:\A|\n)--- ([a-zA-Z0-9_.-]+(?:/[a-zA-Z0-9_.-]+)*)\n")


def bundle(files: Mapping[str, bytes]) -> bytes:
    """Files by name."""
    return b"\n".join(b"--- %s\n%s" % (name.encode(), data) for name, data in files.items())


def folder_of(path: Path) -> bytes:
    """The files of a folder."""
    return bundle({str(one.relative_to(path)): one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()})


def parts(data: bytes) -> dict[str, bytes]:
    """What `bundle` was given."""
    found = _PART.split(data)
    return {name.decode(): body for name, body in zip(found[1::2], found[2::2], strict=True)}


def unpack(place: Path, files: Mapping[str, bytes]) -> Path:
    """A new folder with these files; names that lead out of it are left out."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, data in files.items():
        path = place / name
        if ".." in path.parts or not path.resolve().is_relative_to(place.resolve()):
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError:  # a file where a folder would be
            continue
    return place


def tensors(data: bytes) -> bytes:
    """A file of safetensors from its JSON and what follows, as a bundle; other bytes as they stand."""
    found = parts(data)
    if "head" not in found:
        return data
    head = found["head"]
    return len(head).to_bytes(8, "little") + head + found.get("body", b"")


def apart(data: bytes) -> bytes:
    """What `tensors` takes, of a file of safetensors."""
    end = 8 + int.from_bytes(data[:8], "little")
    return bundle({"head": data[8:end].rstrip(b" "), "body": data[end:]})


def owned(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a checkpoint, with the digest of its tokenizer in its configuration, lest nothing behind it is ever
    read; facts beside it are said to be of its weights."""
    files = {**files}
    if "model.head" in files:
        files["model.safetensors"] = tensors(
            bundle({"head": files.pop("model.head"), "body": files.pop("model.body", b"")})
        )
    config = _object(files.get("config.json", b""))
    if config is not None and "tokenizer.json" in files:
        config["tokenizer_sha256"] = hashlib.sha256(files["tokenizer.json"]).hexdigest()
        files["config.json"] = json.dumps(config).encode()
    whole = [files.get(name, b"") for name in ("config.json", "tokenizer.json", "model.safetensors")]
    of = hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in whole)).hexdigest()
    for name in ("calibration.json", "range.json", "held_out.json"):
        beside = _object(files.get(name, b""))
        if beside is not None and "model_sha256" in beside:
            files[name] = json.dumps(beside | {"model_sha256": of}).encode()
    return files


def signed_state(data: bytes) -> bytes:
    """A saved state from its facts, the JSON of its tensors and their bytes, with the digest that belongs to them;
    other bytes as they stand."""
    found = parts(data)
    facts, head = _object(found.get("facts", b"")), _object(found.get("head", b""))
    if facts is None or head is None:
        return tensors(data)
    try:
        named = from_bytes(tensors(bundle({"head": found["head"], "body": found.get("body", b"")})))
        digest = snapshot._digest(named, facts)
    except Exception:  # no tensors: then they are read as they are
        digest = "none"
    head["__metadata__"] = {"facts": json.dumps(facts | {"sha256": digest}, sort_keys=True)}
    return tensors(bundle({"head": json.dumps(head, separators=(",", ":")).encode(), "body": found.get("body", b"")}))


def _object(data: bytes) -> dict | None:
    try:
        found = json.loads(data)
        json.dumps(found).encode()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
