"""Readers of saved states and of shards."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

import torch
from bundles import apart, bundle, folder_of, parts, signed_state, unpack
from fuzzed_models import WEIGHTS, tiny
from fuzzing import Target
from told import JSON, described

from longseq.cli import main
from longseq.cli.talk import Talk
from longseq.errors import LongseqError
from longseq.formats.digest import file_digest
from longseq.model import load
from longseq.streaming import Snapshot, Surprisal, load_snapshot, save_snapshot
from longseq.tasks.shards.gather import gathered
from longseq.training.checkpoint import Position, load_step, same_run, save_step
from longseq.training.config import TrainConfig

WORDS = (b"position", b"best", b"optimiser", b"states", b"ctorch\n_utils\n", b"ccollections\n", b"\x80\x02")
"""Of what torch packs, and of instructions for it."""


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


@cache
def _step(carried: bool) -> Path:
    """What a run goes on from."""
    torch.manual_seed(0)
    checkpoint = load(tiny())
    model = checkpoint.model.train()
    optimiser = torch.optim.AdamW(model.parameters(), fused=False)
    model.encoder(torch.arange(8)[None] % 4)[0].sum().backward()
    optimiser.step()
    position = Position(step=3, tokens=24, seconds=0.5, data="ab", figures={"bits": 1.9}, best_step=3, best=1.9)
    states = [{"layers.0": torch.ones(2, 3)}] if carried else []
    moments = optimiser.state_dict()
    return save_step(Path(tempfile.mkdtemp()), position, model, checkpoint.tokenizer, None, moments, states, {}, keep=1)


def _runs() -> list[bytes]:
    """As torch packs it, and apart."""
    made = []
    for carried in (False, True):
        whole = (_step(carried) / "training" / "state.pt").read_bytes()
        with zipfile.ZipFile(io.BytesIO(whole)) as file:
            made += [whole, bundle({name.partition("/")[2]: file.read(name) for name in file.namelist()})]
    return made


def _lay_run(folder: Path, data: bytes) -> Path:
    path = folder / "step-00000003"
    if not path.exists():
        shutil.copytree(_step(False), path)
    with open(path / "training" / "state.pt", "wb") as file:
        if files := parts(data):
            with zipfile.ZipFile(file, "w") as packed:
                for name, body in files.items():
                    packed.writestr(f"archive/{name}", body)
        else:
            file.write(data)
    state = path / "training" / "state.pt"
    state.with_name("state.sha256").write_text(f"{file_digest(str(state))}  state.pt\n")
    return path


def _run(path: Path) -> None:
    with suppress(LongseqError):
        described(path)
    _, position, _ = load_step(path)
    same_run(position, TrainConfig(), "ab", 1, movable=True)


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
    Target(name="run", examples=40, file="step-00000003", read=_run, words=WORDS, made=_runs, lay=_lay_run),
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
