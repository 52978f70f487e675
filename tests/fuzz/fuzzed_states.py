"""Readers of saved states and of shards."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stdout, suppress
from pathlib import Path

import torch
from bundles import apart, bundle, folder_of, parts, signed_state, unpack
from fuzzed_models import WEIGHTS, tiny
from fuzzing import Target
from told import JSON, described

from longseq.cli import main
from longseq.cli.talk import Talk
from longseq.errors import LongseqError
from longseq.model import load
from longseq.streaming import Snapshot, Surprisal, load_snapshot, save_snapshot
from longseq.tasks.shards.gather import gathered


def _states() -> list[bytes]:
    checkpoint = load(tiny())
    folder = Path(tempfile.mkdtemp())
    with torch.inference_mode():
        _, state = checkpoint.model.encoder(torch.arange(8)[None] % 4)
    first = Snapshot(state=state, model_sha256=checkpoint.sha256, position=8, carry=b"ACGN", given=9)
    save_snapshot(folder / "a.state", first)
    more = Snapshot(
        state=None,
        model_sha256=checkpoint.sha256,
        position=0,
        carry=b"ACG",
        chunk=8,
        precision="fp32",
        accumulators={"x": torch.ones(2)},
        spools={"rows": 3},
        place={"file": "a.fa", "record": 1},
    )
    save_snapshot(folder / "b.state", more)
    whole = [path.read_bytes() for path in sorted(folder.iterdir())]
    made = []
    for data in whole:
        files = parts(apart(data))
        head = json.loads(files["head"])
        facts = json.loads(head.pop("__metadata__")["facts"])
        del facts["sha256"]
        made.append(
            bundle({"facts": json.dumps(facts).encode(), "head": json.dumps(head).encode(), "body": files["body"]})
        )
    return whole + made


def _state(path: Path) -> None:
    checkpoint = load(tiny())
    with suppress(LongseqError):
        described(path)
    found = load_snapshot(path, checkpoint)
    reader = Surprisal(checkpoint, chunk=8)(found)
    reader.push(b"ACGTACGTACGT")
    reader.finish()


def _lay_state(folder: Path, data: bytes) -> Path:
    path = folder / "a.state"
    path.write_bytes(signed_state(data))
    return path


def _batches() -> list[bytes]:
    folder = Path(tempfile.mkdtemp())
    (folder / "a.fa").write_bytes(b">a\nACGTNNACGT\n>b x\nGGGCC\n")
    (folder / "b.txt").write_bytes(b"One sentence stands here. Another one does as well. A third one ends it.")
    made = []
    for name, options in (("a.fa", ["--no-model"]), ("b.txt", [])):
        for number in (1, 2):
            batch = ["--out", str(folder / f"{name}.batch"), "--shard", f"{number}/2", "-q"]
            with redirect_stdout(io.StringIO()):
                assert main(["summarize", str(folder / name), *options, *batch]) == 0
        made.append(folder_of(folder / f"{name}.batch"))
    return made


def _batch(path: Path) -> None:
    from longseq.cli.summaries import play

    with suppress(LongseqError):
        described(path)
    batch = gathered([path])
    if batch.command == "summarize":
        with redirect_stdout(io.StringIO()):
            play(batch, str(path.parent / "merged.json"), force=True, talk=Talk(["merge"]))


STATES = (
    Target(name="state", examples=40, file="a.state", read=_state, words=JSON + WEIGHTS, made=_states, lay=_lay_state),
    Target(
        name="shards",
        examples=12,
        file="batch",
        read=_batch,
        words=JSON,
        made=_batches,
        lay=lambda folder, data: unpack(folder / "batch", parts(data)),
    ),
)
