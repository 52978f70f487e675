"""Documents on disk: token ids, made once for their inputs and tokenizer.

The tokens of all documents stand one behind the other, uint16 where the vocabulary allows it, else uint32; beside each
token the letters that it came with, so that bits a token can be told in bits a letter. A tokenizer that has an id for
the end of a document gets it behind each. Nothing holds a document, or a list of documents, in memory: a document costs
28 bytes there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from longseq.errors import InputError, place
from longseq.formats import read
from longseq.formats.folders import files
from longseq.log import NullProgress, Progress, Spot, count
from longseq.records import Interval, Record
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.training import store
from longseq.training.cache import made
from longseq.training.columns import LongArray, Names, numbers, opened, writer
from longseq.training.store import Store, Stretches, fingerprint

WordTokenizer = StreamTokenizer | DnaSubwords
"""What cuts letters into words."""
AnyTokenizer = DnaTokenizer | WordTokenizer

CHUNK = 16384
"""Tokens taken from a tokenizer at once."""
_SCHEMA = "longseq.documents/2"
_WIDTH = np.uint32
"""Letters of a token: one may stand for a word of any length."""


class Documents:
    """The documents, or the DNA in words, of one set of inputs, opened for reading."""

    def __init__(self, directory: Path, tokenizer: WordTokenizer):
        self.directory, self.digest, self.tokenizer = directory, directory.name, tokenizer
        self.records = opened(directory / "records.arrow")
        """id, source, letters, tokens, truncated, exact of each document."""
        tokens = numbers(self.records, "tokens")
        before = np.cumsum(tokens) - tokens
        self._ids = LongArray(directory / "ids.bin", id_type(tokenizer), int(tokens.sum()))
        self._letters = LongArray(directory / "letters.bin", _WIDTH, int(tokens.sum()))
        some = np.flatnonzero(tokens)
        zeros = np.zeros(len(some), np.int64)
        self.stretches = Stretches(some.astype(np.int32), zeros, tokens[some], before[some])
        """Each document that has tokens, whole: positions are tokens."""

    @property
    def ids(self) -> Names:
        """(R) names of the documents."""
        return Names(self.records, "id")

    def read(self, start: int, end: int) -> np.ndarray:
        """Ids `[start, end)` in the store's own coordinates."""
        return self._ids.read(start, end)

    def letters(self, start: int, end: int) -> np.ndarray:
        """Letters that each of these tokens came with, white space before it included."""
        return self._letters.read(start, end)

    def place(self, document: int, begin: int, start: int, end: int) -> Interval:
        """The letters of tokens `[start, end)` of a document that begins at `begin`, all three in the store's own
        coordinates."""
        first, length = (int(self.letters(a, b).sum(dtype=np.int64)) for a, b in ((begin, start), (start, end)))
        return Interval(record=self.records[document]["id"], start=first, end=first + length, strand="+")

    def notes(self) -> list[str]:
        """What the reader should know of them."""
        found = [f"note: {place(r['source'], record=r['id'])} ends early" for r in self._some("truncated", True)]
        if empty := int((numbers(self.records, "letters") == 0).sum()):
            found.append(f"note: {count(empty, 'document')} of {len(self.records):,} without a letter")
        unproven = sum(1 for _ in self._some("exact", False))
        if unproven:
            found.append(
                f"warning: the tokens of {unproven:,} long documents are not proven to be those of their whole"
            )
        return found

    def _some(self, column: str, value: bool) -> Iterator[dict]:
        return (self.records[i] for i in np.flatnonzero(numbers(self.records, column) == value).tolist())


def id_type(tokenizer: WordTokenizer) -> np.dtype:
    """The smallest that holds its ids."""
    return np.dtype(np.uint16 if tokenizer.vocabulary <= 1 << 16 else np.uint32)


def prepare(
    inputs: Sequence[str],
    directory: Path,
    tokenizer: AnyTokenizer,
    progress: Progress | None = None,
    look: Path | None = None,
    text: str | None = None,
    *,
    fixed: bool = False,
) -> Documents | Store:
    """The store of these files and folders under `directory`, or under `look` if it is there already, in one named by
    the digest of their bytes; `text` is the column of tables that holds the texts.

    Of letters of DNA it is `store.prepare`'s. With `fixed` it has to be there.

    Raises:
        ConfigError: it is not there, and `fixed`.
        InputError: a file that cannot be read, DNA where the tokenizer is for documents or the other way, no token.
        UsageError: a stream, or a path that no text file can hold; a directory that cannot be written.
    """
    names = files(inputs)
    if isinstance(tokenizer, DnaTokenizer):
        return store.prepare(names, directory, tokenizer, progress, look, text, fixed=fixed)

    def make(aside: Path) -> None:
        write(records_of(names, text, tokenizer), aside, tokenizer, progress or NullProgress())
        if not len(Documents(aside, tokenizer).stretches.length):
            raise InputError(where=", ".join(inputs), expected="letters to learn from", found="none")

    digest = fingerprint(names, f"{_SCHEMA} {tokenizer.digest()}", text)
    return Documents(made(digest, directory, make, look, fixed=fixed), tokenizer)


def write(records: Iterable[Record], directory: Path, tokenizer: WordTokenizer, progress: Progress) -> None:
    """Write documents and their tokens, as they come, into an existing directory."""
    about = writer(
        directory / "records.arrow",
        id="string",
        source="string",
        letters="int64",
        tokens="int64",
        truncated="bool",
        exact="bool",
    )
    dtype = id_type(tokenizer)
    progress.start("read", None, "token")
    with open(directory / "ids.bin", "wb") as ids, open(directory / "letters.bin", "wb") as letters:
        for record in records:
            count = length = 0
            reading, spot = _Reading(record, tokenizer), Spot(record.id, record.length, "letters")
            for new, widths in reading:
                ids.write(new.astype(dtype).tobytes())
                letters.write(widths.tobytes())
                count, length = count + len(new), length + int(widths.sum())
                progress.advance(len(new), record=spot.on(int(widths.sum())))
            about.write(
                {
                    "id": record.id,
                    "source": record.source,
                    "letters": length,
                    "tokens": count,
                    "truncated": record.truncated,
                    "exact": reading.exact,
                }
            )
    about.finalize()
    progress.finish()


class _Reading:
    """Ids and letters of the tokens of one record; the letters add up to the record's."""

    def __init__(self, record: Record, tokenizer: WordTokenizer):
        self._record, self._tokenizer = record, tokenizer
        self.exact = True

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        stream = self._tokenizer.chunks(iter(self._record.pieces), CHUNK)  # type: ignore[arg-type]
        reached = end = 0  # letters in tokens, and in all
        for chunk in stream:
            assert chunk.offsets is not None
            ends = np.maximum.accumulate(np.concatenate([[reached], chunk.offsets[:, 1]]))
            widths = np.diff(ends)
            reached, end = int(ends[-1]), chunk.end
            if len(chunk) and self._last is None:
                widths[-1] += end - reached if end > reached else 0
                reached = max(end, reached)
            yield chunk.ids, widths.astype(_WIDTH)
        if self._last is not None and end:
            yield np.array([self._last]), np.array([end - reached], _WIDTH)
        self.exact = getattr(stream, "exact", True)

    @property
    def _last(self) -> int | None:
        """Id behind the last token."""
        return self._tokenizer.end if isinstance(self._tokenizer, StreamTokenizer) else None


def records_of(names: Sequence[str], text: str | None, tokenizer: WordTokenizer) -> Iterator[Record]:
    """The records of these files, of the kind that the tokenizer is for.

    Raises:
        InputError: a file that cannot be read, or a record of the other kind.
    """
    wanted = "dna" if isinstance(tokenizer, DnaSubwords) else "document"
    for name in names:
        with read(name, text=text) as reading:
            for record in reading:
                if record.kind != wanted:
                    raise InputError(
                        where=record.where,
                        expected=f"{'DNA' if wanted == 'dna' else 'documents'}, which data.tokenizer is for",
                        found=record.kind,
                    )
                yield record
