"""Work of any length, and commands over any number of files, for `long_runs.py`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from longseq.cli import main
from longseq.model import HeadConfig, LanguageModel, ModelConfig, TokenModel, save
from longseq.tokens import DnaTokenizer

PIECE = 10_000
LINE = 80
WORDS = ("tide", "lamp", "keeper", "island", "harbour", "storm", "letter", "ship", "night", "morning", "rope", "window")
CHUNK = 1 << 15
"""Tokens a call: many, so that few calls pass them all."""
SHAPE = {"width": 16, "layers": 1, "heads": 2, "pattern": ("gated",)}
TRAINED = ("--set", "batch=4096", "--set", "data.window=512", "--set", "evaluation.tokens=4096", "--device", "cpu")
SHAPED = ("--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2", "--threads", "1", "-q")

Work = Callable[[int], None]


def command(*words: object) -> int:
    """The exit code of a command in this process; what it prints is dropped."""
    with contextlib.redirect_stdout(io.StringIO()):
        return main([str(word) for word in words])


def well(*words: object) -> None:
    if code := command(*words):
        raise SystemExit(f"{words[0]} ended with {code}")


def letters(size: int) -> Iterator[bytes]:
    """So many bases, in pieces."""
    random = np.random.default_rng(0)
    for at in range(0, size, PIECE):
        yield np.frombuffer(b"ACGT", np.uint8)[random.integers(4, size=min(PIECE, size - at))].tobytes()


def fasta(path: Path, size: int) -> Path:
    with open(path, "wb") as file:
        file.write(b">long\n")
        for piece in letters(size):
            file.writelines(piece[i : i + LINE] + b"\n" for i in range(0, len(piece), LINE))
    return path


def book(path: Path, size: int) -> Path:
    """So many words in sentences, paragraphs and chapters."""
    random = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        for chapter in range(-(-size // 4000)):
            file.write(f"# Chapter {chapter + 1}\n\n")
            chosen = random.integers(len(WORDS), size=(min(4000, size - 4000 * chapter) // 10, 10))
            for number, words in enumerate(chosen.tolist()):
                text = " ".join(WORDS[word] for word in words)
                file.write(f"{text.capitalize()} {number}.{' ' if number % 8 else chr(10) * 2}")
            file.write("\n\n")
    return path


def models(folder: Path) -> Path:
    """A model of the next base and one of each base's class."""
    torch.manual_seed(0)
    place, config, labels = folder / "models", ModelConfig(**SHAPE), ("none", "x+", "x-")
    if not place.exists():
        place.mkdir()
        save(place / "dna", LanguageModel(config), DnaTokenizer())
        head = TokenModel(config, HeadConfig(task="annotate", outputs=len(labels)), labels)
        save(place / "classes", head, DnaTokenizer(), labels=labels)
    return place


def streamed(folder: Path) -> Work:
    import longseq

    checkpoint = longseq.load(models(folder) / "dna")

    def work(size: int) -> None:
        seen = sum(end - start for start, end, _, _ in longseq.stream(checkpoint, letters(size), chunk=CHUNK))
        assert seen == size

    return work


def scored(folder: Path) -> Work:
    import longseq

    surprisal = longseq.Surprisal(longseq.load(models(folder) / "dna"), chunk=CHUNK)

    def work(size: int) -> None:
        reader = surprisal()
        seen = sum(len(reader.push(piece)) for piece in letters(size)) + len(reader.finish())
        assert seen == size

    return work


def over_bases(*words: str, model: str | None = "dna", out: str = "out") -> Callable[[Path], Work]:
    """A command over one record of so many bases."""

    def begun(folder: Path) -> Work:
        reading = ("--no-model",) if model is None else ("--model", models(folder) / model, "--chunk", CHUNK)

        def work(size: int) -> None:
            well(*words, *reading, fasta(folder / "long.fa", size), "--out", folder / out, "--force", "-q")

        return work

    return begun


def over_words(*words: str) -> Callable[[Path], Work]:
    """A command over one document of so many words."""

    def begun(folder: Path) -> Work:
        def work(size: int) -> None:
            well(*words, book(folder / "long.md", size), "--out", folder / "out", "--force", "-q")

        return work

    return begun


def trained(folder: Path) -> Work:
    def work(steps: int) -> None:
        source = fasta(folder / "train.fa", 200_000)
        more = ("--set", f"steps={steps}", "--out", folder / "run", "--force")
        well("train", source, *TRAINED, *SHAPED, *more)

    return work


LONG: dict[str, Callable[[Path], Work]] = {
    "stream": streamed,
    "Surprisal": scored,
    "summarize, counts": over_bases("summarize", model=None),
    "summarize, model": over_bases("summarize", "--strands", "forward"),
    "score --track": over_bases("score", "--track"),
    "annotate": over_bases("annotate", model="classes"),
    "embed --window": over_bases("embed", "--window", "5000", "--strands", "forward", out="vectors.parquet"),
    "summarize, a book": over_words("summarize"),
    "train": trained,
}
"""By name: of a folder, the work of a size."""


class Many(NamedTuple):
    """A command over many files: what is made first, and the command's exit code."""

    prepare: Callable[[int], None]
    run: Callable[[int], int]


def short_records(size: int) -> None:
    models(Path())
    folder = Path("in")
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(size):
        bases = np.frombuffer(b"ACGT", np.uint8)[random.integers(4, size=300)].tobytes()
        (folder / f"{number:06}.fa").write_bytes(b">r%d\n%s\n" % (number, bases))


def short_texts(size: int) -> None:
    Path("in").mkdir()
    for number in range(size):
        book(Path("in", f"{number:06}.md"), 30)


def shards(size: int) -> None:
    """A tenth as many shards as files."""
    short_records(size)
    of = size // 10
    well("plan", "in", "--shards", of, "--out", "batch", "-q")
    for number in range(1, of + 1):
        well("summarize", "in", "--no-model", "--shard", f"{number}/{of}", "--out", "batch", "-q")


def dna(*words: str) -> Many:
    return Many(short_records, lambda _: command(*words, "in", "-q"))


def training(size: int) -> None:
    """A fifth as many files."""
    short_records(size // 5)


MANY: dict[str, Many] = {
    "summarize": dna("summarize", "--no-model", "--out", "out"),
    "summarize with a model": dna("summarize", "--model", "models/dna", "--out", "out"),
    "embed": dna("embed", "--model", "models/dna", "--out", "out.parquet"),
    "merge": Many(shards, lambda _: command("merge", "batch", "--out", "whole", "-q")),
    "documents": Many(short_texts, lambda _: command("summarize", "in", "--out", "out", "-q")),
    "info": Many(short_records, lambda _: command("info", "in")),
    "train on a fifth of them": Many(
        training, lambda _: command("train", "in", *TRAINED, *SHAPED, "--set", "steps=5", "--out", "run")
    ),
}
