"""Documents on disk: token ids in an Arrow file that is read by memory map, made once for its inputs and tokenizer.

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
from longseq.formats.atomic import output_directory
from longseq.formats.folders import files
from longseq.log import NullProgress, Progress
from longseq.records import Interval, Record
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.training import store
from longseq.training.store import Store, Stretches, fingerprint, opened, writer

WordTokenizer = StreamTokenizer | DnaSubwords
"""What cuts letters into words."""
AnyTokenizer = DnaTokenizer | WordTokenizer

ROW = 65536
"""Tokens of a row."""
CHUNK = 16384
"""Tokens taken from a tokenizer at once."""
_SCHEMA = "longseq.documents/1"
_WIDTH = np.uint32
"""Letters of a token: one may stand for a word of any length."""


class Documents:
    """The documents, or the DNA in words, of one set of inputs, opened for reading."""

    def __init__(self, directory: Path, tokenizer: WordTokenizer):
        self.digest, self.tokenizer = directory.name, tokenizer
        self.records = opened(directory / "records.arrow")
        """id, source, letters, tokens, truncated, exact of each document."""
        self._rows = opened(directory / "ids.arrow").with_format("arrow")
        self._dtype = id_type(tokenizer)
        tokens = np.array(self.records["tokens"], np.int64)
        before = np.concatenate([[0], np.cumsum(tokens)[:-1]])
        some = np.flatnonzero(tokens)
        zeros = np.zeros(len(some), np.int64)
        self.stretches = Stretches(some.astype(np.int32), zeros, tokens[some], before[some])
        """Each document that has tokens, whole: positions are tokens."""

    def read(self, start: int, end: int) -> np.ndarray:
        """Ids `[start, end)` in the store's own coordinates."""
        return self._column("ids", self._dtype, start, end)

    def letters(self, start: int, end: int) -> np.ndarray:
        """Letters that each of these tokens came with, white space before it included."""
        return self._column("letters", np.dtype(_WIDTH), start, end)

    def place(self, document: int, begin: int, start: int, end: int) -> Interval:
        """The letters of tokens `[start, end)` of a document that begins at `begin`, all three in the store's own
        coordinates."""
        first, length = (int(self.letters(a, b).sum(dtype=np.int64)) for a, b in ((begin, start), (start, end)))
        return Interval(record=self.records[document]["id"], start=first, end=first + length, strand="+")

    def _column(self, name: str, dtype: np.dtype, start: int, end: int) -> np.ndarray:
        parts = []
        for row in range(start // ROW, -(-end // ROW)):
            values = np.frombuffer(self._rows[row].column(name)[0].as_buffer(), dtype)
            parts.append(values[max(start - row * ROW, 0) : end - row * ROW])
        return np.concatenate(parts) if parts else np.zeros(0, dtype)

    def notes(self) -> list[str]:
        """What the reader should know of them."""
        found = [f"note: {place(r['source'], record=r['id'])} ends early" for r in self._some("truncated", True)]
        unproven = sum(1 for _ in self._some("exact", False))
        if unproven:
            found.append(
                f"warning: the tokens of {unproven:,} long documents are not proven to be those of their whole"
            )
        return found

    def _some(self, column: str, value: bool) -> Iterator[dict]:
        return (self.records[i] for i in np.flatnonzero(np.array(self.records[column]) == value).tolist())


def id_type(tokenizer: WordTokenizer) -> np.dtype:
    """The smallest that holds its ids."""
    return np.dtype(np.uint16 if tokenizer.vocabulary <= 1 << 16 else np.uint32)


def prepare(
    inputs: Sequence[str], directory: Path, tokenizer: AnyTokenizer, progress: Progress | None = None
) -> Documents | Store:
    """The store of these files and folders under `directory`, in one named by the digest of their bytes.

    Of letters of DNA it is `store.prepare`'s.

    Raises:
        InputError: a file that cannot be read, DNA where the tokenizer is for documents or the other way, no token.
        UsageError: a stream, or a path that no text file can hold.
    """
    names = files(inputs)
    if isinstance(tokenizer, DnaTokenizer):
        return store.prepare(names, directory, tokenizer, progress)
    target = directory / fingerprint(names, f"{_SCHEMA} {tokenizer.digest()} {ROW}")
    if not target.exists():
        directory.mkdir(parents=True, exist_ok=True)
        with output_directory(target) as aside:
            write(_records(names, tokenizer), aside, tokenizer, progress or NullProgress())
            if not len(Documents(aside, tokenizer).stretches.length):
                raise InputError(where=", ".join(inputs), expected="letters to learn from", found="none")
    return Documents(target, tokenizer)


def write(records: Iterable[Record], directory: Path, tokenizer: WordTokenizer, progress: Progress) -> None:
    """Write documents and their tokens, as they come, into an existing directory."""
    about = writer(
        directory / "records.arrow",
        1000,
        id="string",
        source="string",
        letters="int64",
        tokens="int64",
        truncated="bool",
        exact="bool",
    )
    rows = writer(directory / "ids.arrow", 16, ids="large_binary", letters="large_binary")
    ids, letters = np.zeros(0, id_type(tokenizer)), np.zeros(0, _WIDTH)
    progress.start("read", None, "token")
    for record in records:
        count = length = 0
        reading = _Reading(record, tokenizer)
        for new, widths in reading:
            ids, letters = np.concatenate([ids, new.astype(ids.dtype)]), np.concatenate([letters, widths])
            full = len(ids) // ROW * ROW
            for row in range(0, full, ROW):
                rows.write({"ids": ids[row : row + ROW].tobytes(), "letters": letters[row : row + ROW].tobytes()})
            ids, letters = ids[full:], letters[full:]
            count, length = count + len(new), length + int(widths.sum())
            progress.advance(len(new))
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
    if len(ids):
        rows.write({"ids": ids.tobytes(), "letters": letters.tobytes()})
    for file in (about, rows):
        file.finalize()
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


def _records(names: Sequence[str], tokenizer: WordTokenizer) -> Iterator[Record]:
    wanted = "dna" if isinstance(tokenizer, DnaSubwords) else "document"
    for name in names:
        with read(name) as reading:
            for record in reading:
                if record.kind != wanted:
                    raise InputError(
                        where=record.where,
                        expected=f"{'DNA' if wanted == 'dna' else 'documents'}, which data.tokenizer is for",
                        found=record.kind,
                    )
                yield record
