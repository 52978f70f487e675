"""Pairs on disk: the ids of each row, source, separator, target and end, one row behind the other.

They are read by memory map; a pair costs 56 bytes of memory beside. The tokenizer lies with them: where none is given,
the units of all pairs, those held out included, are its ids, so that none of them is unknown.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from longseq.errors import ConfigError, InputError
from longseq.formats.folders import files
from longseq.log import NullProgress, Progress
from longseq.tokens import load
from longseq.tokens.stream import SEPARATOR, StreamTokenizer
from longseq.tokens.train import END, UNKNOWN, Learning, counted, unit_tokenizer
from longseq.training.cache import made
from longseq.training.config import PairConfig, TrainConfig
from longseq.training.pairs.reading import Pair, read_pairs
from longseq.training.store import Stretches, fingerprint

_SCHEMA = "longseq.pairs/1"
_COLUMNS = np.dtype(
    [
        ("middle", np.int64),  # where the target begins, in the ids of all pairs
        ("end", np.int64),
        ("file", np.int32),
        ("line", np.int32),
        ("group", np.uint64),
        ("source", np.uint64),
        ("target", np.uint64),
    ]
)


class Pairs:
    """The pairs of one set of inputs, P in number, opened for reading."""

    def __init__(self, directory: Path):
        self.digest = directory.name
        found = load(directory / "tokenizer.json")
        assert isinstance(found, StreamTokenizer)
        self.tokenizer = found
        self.files: list[str] = json.loads((directory / "files.json").read_text(encoding="utf-8"))
        table = np.load(directory / "pairs.npy")
        self.middle, self.end = table["middle"], table["end"]
        self.start = np.concatenate([[0], self.end[:-1]])
        """(P,) first id of a row, of its target (with `middle`), and behind its end."""
        every = np.arange(len(table))
        self.stretches = Stretches(every.astype(np.int32), 0 * every, self.end - self.start, self.start)
        """Each row, whole: positions are tokens."""
        self.group, self.source, self.target = table["group"], table["source"], table["target"]
        """(P,) digests of group, source and target."""
        self._file, self._line = table["file"], table["line"]
        self.ids = np.memmap(directory / "ids.bin", np.uint32, "r")
        """Of all rows."""

    def where(self, pair: int) -> str:
        """`file:line` of a pair."""
        return f"{self.files[self._file[pair]]}:{self._line[pair]}"


def prepare(
    config: TrainConfig,
    directory: Path,
    progress: Progress | None = None,
    look: Path | None = None,
    *,
    fixed: bool = False,
) -> Pairs:
    """The pairs of `config.inputs` under `directory`, or under `look` if they are there already, in a folder named by
    the digest of their bytes and settings. With `fixed` they have to be there.

    Raises:
        ConfigError: `data.tokenizer` is none of documents; they are not there, and `fixed`.
        InputError: a file that cannot be read, a column that is missing, an empty source or target.
        UsageError: a stream, or a path that no text file can hold; a directory that cannot be written.
    """
    names, settings = files(config.inputs), config.pairs
    given = None if config.data.tokenizer is None else _given(config.data.tokenizer)
    units = settings.unit if given is None else given.digest()
    columns = json.dumps([settings.source, settings.target, settings.group])

    def make(aside: Path) -> None:
        tokenizer = given or _learned(names, settings)
        tokenizer.save(aside / "tokenizer.json")
        (aside / "files.json").write_text(json.dumps(names), encoding="utf-8")
        _write(read_pairs(names, settings), names, aside, tokenizer, progress or NullProgress())

    return Pairs(made(fingerprint(names, f"{_SCHEMA} {units} {columns}"), directory, make, look, fixed=fixed))


def _given(path: str) -> StreamTokenizer:
    found = load(path)
    if not isinstance(found, StreamTokenizer):
        raise ConfigError(where="data.tokenizer", expected="a tokenizer of documents", found="one of DNA")
    return paired(found)


def paired(tokenizer: StreamTokenizer) -> StreamTokenizer:
    """With a separator, and an end of its own if it has none."""
    return tokenizer.with_special(*(name for name in (END,) if tokenizer.end is None), SEPARATOR)


def _learned(names: tuple[str, ...], settings: PairConfig) -> StreamTokenizer:
    found: Counter[str] = Counter()
    config = Learning(unit=settings.unit, min_frequency=1)
    for pair in read_pairs(names, settings):
        found += counted([pair.source, pair.target], config)
    special = (END, SEPARATOR, UNKNOWN)
    return unit_tokenizer(found, Learning(unit=settings.unit, min_frequency=1, vocabulary=len(found) + 3), special)


def _write(
    pairs: Iterator[Pair], names: tuple[str, ...], directory: Path, tokenizer: StreamTokenizer, progress: Progress
) -> None:
    place = {name: i for i, name in enumerate(names)}
    table, at = [], 0
    progress.start("read", None, "pair")
    with open(directory / "ids.bin", "wb") as file:
        for pair in pairs:
            source = [*tokenizer.encode(pair.source), tokenizer.separator]
            target = [*tokenizer.encode(pair.target), tokenizer.end]
            file.write(np.array(source + target, np.uint32).tobytes())
            middle, at = at + len(source), at + len(source) + len(target)
            digests = (digest(text) for text in (pair.group, pair.source, pair.target))
            table.append((middle, at, place[pair.file], pair.line, *digests))
            progress.advance(1)
    if not table:
        raise InputError(where=", ".join(names), expected="pairs to learn from", found="none")
    np.save(directory / "pairs.npy", np.array(table, _COLUMNS))
    progress.finish()


def digest(text: str) -> int:
    """64 bits that stand for a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
