"""A snapshot: the state of a reading on disk, from which it goes on as if it had never stopped.

The state is always that of a point where the model would have paused anyway: the record's start, or the chunk grid.
Letters behind that point are kept as they are and read again, so that going on, with the rest of the record or with
letters appended to a finished one, computes what one undisturbed reading computes, to the bit. `given` says how many
readings were handed out already: those come no second time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from longseq.errors import StateError
from longseq.formats.atomic import write_aside
from longseq.formats.paths import unicode_path
from longseq.model import Checkpoint, State
from longseq.model.state import map_tensors, named_tensors

SCHEMA = "longseq.state/1"
AGAIN = "read the record again"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What a reading has left so far."""

    state: State | None
    """What the first `position` symbols left behind; None at the record's start."""
    model_sha256: str
    """Digest of the checkpoint that made it; another model refuses it."""
    position: int
    """Symbols of the record that `state` has seen."""
    carry: bytes = b""
    """Letters behind `position`, at most a chunk or a record that is read as one of many."""
    given: int = 0
    """Symbols of the record whose readings were handed out, from `position` on to the end of `carry`."""
    accumulators: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Running readings of heads, by name."""
    spools: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each spool that belong to this moment; what lies behind is cut off on resuming."""
    place: Mapping[str, str | int] = field(default_factory=dict)
    """How the records' reader finds its place again."""
    chunk: int | None = None
    """Symbols a call of the reading that made it; None: one that any reading may go on from."""
    precision: str | None = None
    """fp32 or bf16, of that reading."""


def save_snapshot(path: str | Path, snapshot: Snapshot, force: bool = False) -> None:
    """Write a snapshot, whole or not at all, in safetensors with its facts and a digest as metadata."""
    state = () if snapshot.state is None else snapshot.state
    tensors = {f"state.{name}": tensor for name, tensor in named_tensors(state)}
    tensors |= {f"accumulator.{name}": tensor for name, tensor in snapshot.accumulators.items()}
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    facts: dict[str, object] = {
        "schema": SCHEMA,
        "model_sha256": snapshot.model_sha256,
        "position": snapshot.position,
        "carry": snapshot.carry.hex(),
        "given": snapshot.given,
        "spools": dict(snapshot.spools),
        "place": dict(snapshot.place),
    }
    # Optional: a state that does not say them has no such entries.
    facts |= {name: value for name, value in _reading(snapshot).items() if value is not None}
    facts["sha256"] = _digest(tensors, facts)
    metadata = {"facts": json.dumps(facts, sort_keys=True)}  # one entry: safetensors writes several in any order
    with write_aside(path, force=force) as aside:
        Path(aside).write_bytes(to_bytes(tensors, metadata=metadata))


def load_snapshot(path: str | Path, checkpoint: Checkpoint) -> Snapshot:
    """Read a snapshot back for the model that made it.

    Raises:
        StateError: not a snapshot, another schema, another model, or bytes that changed since it was written.
    """
    facts, tensors = read_snapshot(path)
    require_model(facts["model_sha256"], checkpoint, str(path))
    device = next(checkpoint.model.parameters()).device
    prefix = "accumulator."
    return Snapshot(
        state=_state(path, checkpoint, tensors, device) if facts["position"] else None,
        model_sha256=facts["model_sha256"],
        position=facts["position"],
        carry=bytes.fromhex(facts["carry"]),
        given=facts["given"],
        accumulators={n.removeprefix(prefix): t.to(device) for n, t in tensors.items() if n.startswith(prefix)},
        spools=facts["spools"],
        place=facts["place"],
        chunk=facts.get("chunk"),
        precision=facts.get("precision"),
    )


def require_model(found: str, checkpoint: Checkpoint, where: str | None = None) -> None:
    """Raise StateError where a model of another digest than the checkpoint's made the snapshot `where`."""
    if found != checkpoint.sha256:
        raise StateError(
            where=where,
            expected=f"a state of model {checkpoint.name} ({checkpoint.sha256[:12]})",
            found=f"one of another model ({found[:12]})",
            remedy=f"load the model that made it, or {AGAIN}",
        )


def require_same(snapshot: Snapshot, chunk: int, precision: str, where: str | None = None) -> None:
    """Raise StateError where a reading of another chunk or precision made the snapshot `where`: its bits would differ
    from those of one reading."""
    for name, now in (("chunk", chunk), ("precision", precision)):
        then = _reading(snapshot)[name]
        if then is not None and then != now:
            raise StateError(
                where=where,
                expected=f"{name} {then}, with which the state was made",
                found=str(now),
                remedy=f"go on with {name} {then}, or {AGAIN}",
            )


def _reading(snapshot: Snapshot) -> dict[str, int | str | None]:
    return {"chunk": snapshot.chunk, "precision": snapshot.precision}


def _state(
    path: str | Path, checkpoint: Checkpoint, tensors: Mapping[str, torch.Tensor], device: torch.device
) -> State:
    with torch.inference_mode():
        # One token through the encoder shows which tensors a state of this model has.
        shape: State = checkpoint.model.encoder(torch.zeros(1, 1, dtype=torch.long, device=device))[1]
    names = iter([name for name, _ in named_tensors(shape)])

    def stored(_: torch.Tensor) -> torch.Tensor:
        return tensors[f"state.{next(names)}"].to(device)

    try:
        return map_tensors(shape, stored)
    except KeyError as error:
        raise StateError(where=str(path), expected=f"tensor {error.args[0]}", found="none") from None


def read_snapshot(path: str | Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The facts and tensors of a snapshot, schema and digest checked, whatever model it belongs to."""
    try:
        with unicode_path(path) as known, safe_open(known, "pt") as found:
            text = (found.metadata() or {}).get("facts", "null")
            tensors = {name: found.get_tensor(name) for name in found.keys()}  # noqa: SIM118 - not a mapping
        facts = json.loads(text)
    except (OSError, SafetensorError, ValueError) as error:
        raise StateError(where=str(path), expected="a saved state", found=str(error)) from None
    if not isinstance(facts, dict):
        raise StateError(where=str(path), expected="a saved state", found="tensors of another kind")
    if facts.get("schema") != SCHEMA:
        raise StateError(where=str(path), expected=f"schema {SCHEMA}", found=repr(facts.get("schema")))
    if facts.pop("sha256", None) != _digest(tensors, facts):
        raise StateError(where=str(path), expected="the bytes that were written", found="others", remedy=AGAIN)
    for name in ("model_sha256", "position", "carry", "given", "spools", "place"):
        if name not in facts:
            raise StateError(where=str(path), expected=f"the fact {name}", found="none", remedy=AGAIN)
    return facts, tensors


def _digest(tensors: Mapping[str, torch.Tensor], facts: Mapping[str, object]) -> str:
    total = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        total.update(f"{name}:{tensor.dtype}:{tuple(tensor.shape)}".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return total.hexdigest()
