"""Values that an option or an argument can have, as far as they can be listed without waking anything heavy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from longseq.cli.completion import settings

READ = 1 << 20
"""Bytes of a file of sequences in which names are looked for."""
NAMED = 500
"""Names of records at most."""


@dataclass(frozen=True)
class Candidate:
    """One thing that could come next."""

    text: str
    help: str = ""
    kind: Literal["word", "part", "file", "dir"] = "word"
    """A whole word; the beginning of one; or the files or folders that the shell knows."""


FILES, FOLDERS = Candidate("", kind="file"), Candidate("", kind="dir")


@dataclass(frozen=True)
class Asked:
    """A value that is asked for, and what stands on the line already."""

    param: click.Parameter
    command: str
    """`tokenizer train`."""
    options: Mapping[str, Sequence[str]]
    operands: Sequence[str]
    current: str
    """The beginning of the value."""

    @property
    def metavar(self) -> str:
        return self.param.metavar or ""


def values(asked: Asked) -> Iterator[Candidate]:
    """All that are known; whether they begin as what was typed is looked at by who asks."""
    param, metavar = asked.param, asked.metavar
    if isinstance(param.type, click.Choice):
        yield from (Candidate(str(choice)) for choice in param.type.choices)
    elif (known := KNOWN.get(param.name or "")) is not None:
        yield from known(asked)
    elif isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
        return
    elif "NAME|" in metavar or "|NAME" in metavar:
        yield from (Candidate(name, "shipped model") for name in settings.shipped())
        yield FOLDERS
    elif re.search(r"DIR|RUN|MODEL", metavar):
        yield FOLDERS
    elif isinstance(param, click.Argument) or re.search(r"FILE|PATH|FASTA|LABELS|VCF", metavar):
        yield FILES


def _model(asked: Asked) -> Iterator[Candidate]:
    """Of `train --from`, `check MODEL` and `--model`; what is converted is none of ours."""
    if asked.command != "convert" and asked.metavar != "DIR":
        yield from (Candidate(name, "shipped model") for name in settings.shipped())
    yield FILES if asked.command == "convert" else FOLDERS


def _path(asked: Asked) -> Iterator[Candidate]:
    yield from (Candidate(name, "shipped model") for name in settings.shipped())
    yield FILES


def _device(asked: Asked) -> Iterator[Candidate]:
    auto = ["auto"] if "auto" in (getattr(asked.param, "help", None) or "") else []
    yield from map(Candidate, [*auto, "cpu", "cuda"])


def _threads(asked: Asked) -> Iterator[Candidate]:
    yield from map(Candidate, ["best"] if asked.command == "bench" else [])


def _task(asked: Asked) -> Iterator[Candidate]:
    yield from map(Candidate, [*settings.fields("train")["task"].choices, "extract"])


def _mixers(asked: Asked) -> Iterator[Candidate]:
    yield from map(Candidate, settings.mixers())
    yield from map(Candidate, settings.references() if asked.command == "bench" else ["all"])


def _models(asked: Asked) -> Iterator[Candidate]:
    yield from _listed(asked, settings.mixers())


def _tasks(asked: Asked) -> Iterator[Candidate]:
    yield from _listed(asked, settings.compared())


def _listed(asked: Asked, names: Sequence[str]) -> Iterator[Candidate]:
    """Names behind the last comma; those in front of it stay."""
    before, comma, _ = asked.current.rpartition(",")
    given = before.split(",")
    yield from (Candidate(f"{before}{comma}{name}") for name in names if name not in given)


def _feature_map(asked: Asked) -> Iterator[Candidate]:
    yield from map(Candidate, settings.feature_maps())


def _layer(asked: Asked) -> Iterator[Candidate]:
    yield from map(Candidate, ["final", "embedding"])


def _nothing(asked: Asked) -> Iterator[Candidate]:
    yield from ()


def _setting(asked: Asked) -> Iterator[Candidate]:
    """`model.` leads to its keys, `model.norm=` to what it may be."""
    of = asked.command
    if of == "convert" and "open_memory" in asked.options:
        of = "convert --open-memory"
    elif of == "train" and "extract" in asked.options.get("task", ()):
        of = "train --task extract"
    known = settings.fields(of)
    key, equals, _ = asked.current.partition("=")
    if equals:
        if key in known:
            yield from (Candidate(f"{key}={choice}") for choice in known[key].choices)
        return
    depth = key.count(".")
    for name, setting in known.items():
        parts = name.split(".")
        if name.startswith(key) and len(parts) > depth:
            whole = len(parts) == depth + 1
            yield Candidate(f"{name}=" if whole else ".".join(parts[: depth + 1]) + ".", whole * setting.help, "part")


def _region(asked: Asked) -> Iterator[Candidate]:
    """Names of records, from the index of samtools beside a file, or from the beginning of a plain file."""
    for source in (*asked.operands, *asked.options.get("reference", ())):
        try:
            if Path(f"{source}.fai").is_file():
                lines = Path(f"{source}.fai").read_text(encoding="utf-8", errors="replace").splitlines()
                names = [line.partition("\t")[0] for line in lines]
            else:
                with open(source, "rb") as file:
                    begun = file.read(READ)
                names = [name.decode(errors="replace") for name in re.findall(rb"^>(\S+)", begun, re.MULTILINE)]
        except OSError:
            continue
        yield from (Candidate(name) for name in names[:NAMED] if name.isprintable())


def _shard(asked: Asked) -> Iterator[Candidate]:
    """Those of the plan in --out that are not done."""
    for folder in asked.options.get("out", ()):
        try:
            of = len(json.loads(Path(folder, "plan.json").read_text(encoding="utf-8"))["shards"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        left = (number for number in range(1, of + 1) if not Path(folder, f"{number}-of-{of}").is_dir())
        yield from (Candidate(f"{number}/{of}") for number in left)


KNOWN: dict[str, Callable[[Asked], Iterator[Candidate]]] = {
    "assignments": _setting,
    "column": _nothing,
    "device": _device,
    "feature_map": _feature_map,
    "layer": _layer,
    "mixers": _mixers,
    "model": _model,
    "models": _models,
    "path": _path,
    "prompt": _nothing,
    "region": _region,
    "shard": _shard,
    "start": _model,
    "task": _task,
    "tasks": _tasks,
    "threads": _threads,
}
"""By the name of the parameter."""
