"""Texts on disk: the ids of each document's segments and of its sentences, made once for their inputs.

A row is what a model reads by itself: a segment as the tokenizer cuts it, or a sentence, special tokens included. The
ids of all rows stand one behind the other. A document's tokens are held while it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.errors import InputError
from longseq.formats.folders import files
from longseq.log import NullProgress, Progress, count
from longseq.records import Record
from longseq.tokens.sentences import Sentence, Splitter
from longseq.tokens.stream import StreamTokenizer
from longseq.training.cache import made
from longseq.training.columns import LongArray, Names, numbers, opened, writer
from longseq.training.documents import id_type, records_of
from longseq.training.store import fingerprint
from longseq.training.transfer.excluded import Excluded

_SCHEMA = "longseq.texts/1"


class Row(NamedTuple):
    ids: np.ndarray
    """(T,), special tokens included; at most a segment."""
    start: int
    """First letter, in the document."""
    end: int
    sentence: bool
    """Whether it is one; else a segment."""


class Texts:
    """The rows of one set of inputs, N in number, opened for reading."""

    def __init__(self, directory: Path, tokenizer: StreamTokenizer, excluding: bool = False):
        """`excluding`: some texts were to be left out."""
        self._excluding = excluding
        self.digest = directory.name
        self.documents = opened(directory / "documents.arrow")
        """id, source, excluded (rows left out) of each document."""
        table = np.load(directory / "rows.npy")
        self.lengths = table["tokens"]
        self.document, self.sentence = table["document"], table["sentence"]
        """(N,) tokens of each row, special ones included, the document it is of, and whether it is a sentence."""
        self._start, self._end = table["start"], table["end"]
        self._first = np.cumsum(self.lengths) - self.lengths
        self._ids = LongArray(directory / "ids.bin", id_type(tokenizer), int(self.lengths.sum()))

    def ids(self, row: int) -> np.ndarray:
        """(T,) of a row."""
        first = int(self._first[row])
        return self._ids.read(first, first + int(self.lengths[row]))

    def place(self, row: int) -> tuple[str, int, int]:
        """Id of the document of a row, its first letter there, and one past its last."""
        name = Names(self.documents, "id")[int(self.document[row])]
        return name, int(self._start[row]), int(self._end[row])

    @property
    def excluded(self) -> int:
        """Rows left out."""
        return int(numbers(self.documents, "excluded").sum())

    def notes(self) -> list[str]:
        """What the reader should know of them."""
        found = []
        if cut := int(numbers(self.documents, "truncated").sum()):
            found.append(f"note: {count(cut, 'document')} of {len(self.documents):,} cut short by the end of its file")
        if left := self.excluded:
            found.append(f"note: {count(left, 'text')} left out that are excluded, or hold a sentence that is")
        elif self._excluding:
            found.append("note: nothing is left out: no text is excluded, or holds a sentence that is")
        return found


def prepare(
    inputs: Sequence[str],
    directory: Path,
    tokenizer: StreamTokenizer,
    segment: int,
    *,
    column: str | None = None,
    excluded: Excluded | None = None,
    progress: Progress | None = None,
) -> Texts:
    """The texts of these files and folders under `directory`, in a folder named by their digest.

    Args:
        inputs: whatever holds documents.
        directory: of caches.
        tokenizer: that of the teacher, with the special tokens that it sets around each segment.
        segment: tokens of one, special ones included.
        column: of tables, the one that holds the texts.
        excluded: sentences and documents to leave out, with every segment that such a sentence lies in.
        progress: told of tokens.

    Raises:
        InputError: a file that cannot be read or holds DNA, or nothing to learn from.
        UsageError: a stream; a directory that cannot be written.
    """
    names, left_out = files(inputs), excluded or Excluded()

    def make(aside: Path) -> None:
        records = records_of(names, column, tokenizer)
        rows = _write(records, aside, tokenizer, segment, left_out, progress or NullProgress())
        if not rows:
            raise InputError(where=", ".join(inputs), expected="texts to learn from", found="none")

    made_with = f"{_SCHEMA} {tokenizer.digest()} {tokenizer.frame} {segment} {left_out.digest()}"
    return Texts(made(fingerprint(names, made_with, column), directory, make), tokenizer, left_out != Excluded())


def _write(
    records: Iterable[Record],
    directory: Path,
    tokenizer: StreamTokenizer,
    segment: int,
    excluded: Excluded,
    progress: Progress,
) -> int:
    """Write the rows of all records into an existing directory; how many there are."""
    kinds = {"id": "string", "source": "string", "excluded": "int64", "truncated": "bool"}
    about, dtype = writer(directory / "documents.arrow", **kinds), id_type(tokenizer)
    table = list[tuple]()
    progress.start("read", None, "token")
    with open(directory / "ids.bin", "wb") as file:
        for number, record in enumerate(records):
            reading = _Reading(record, tokenizer, segment, excluded)
            for row in reading:
                file.write(row.ids.astype(dtype).tobytes())
                table.append((len(row.ids), number, row.sentence, row.start, row.end))
                progress.advance(len(row.ids))
            about.write(
                {
                    "id": record.id,
                    "source": record.source,
                    "excluded": reading.excluded,
                    "truncated": record.truncated,
                }
            )
    about.finalize()
    columns = [("tokens", "<i4"), ("document", "<i4"), ("sentence", "?"), ("start", "<i8"), ("end", "<i8")]
    np.save(directory / "rows.npy", np.array(table, columns))
    progress.finish()
    return len(table)


class _Reading:
    """The rows of one record: its segments, then its sentences."""

    def __init__(self, record: Record, tokenizer: StreamTokenizer, segment: int, excluded: Excluded):
        self._record, self._tokenizer, self._segment = record, tokenizer, segment
        self._outside = excluded
        self.excluded = 0
        """Rows left out, once it is read."""

    def __iter__(self) -> Iterator[Row]:
        found: list[Sentence] = []
        chunks = list(self._tokenizer.chunks(self._heard(found), self._segment))
        whole = self._record.id in self._outside.ids
        kept = [] if whole else [sentence for sentence in found if sentence.text not in self._outside]
        out = np.array([(s.start, s.end) for s in found if s.text in self._outside], np.int64).reshape(-1, 2)
        for chunk in chunks:
            if not len(chunk):
                continue
            if whole or ((out[:, 0] < chunk.end) & (out[:, 1] > chunk.start)).any():
                self.excluded += 1
            else:
                yield Row(chunk.ids, chunk.start, chunk.end, sentence=False)
        self.excluded += len(found) - len(kept)
        for sentence in kept:
            ids = self._tokenizer.encode(sentence.text)
            for at in range(0, len(ids), self._segment):
                yield Row(ids[at : at + self._segment], sentence.start, sentence.end, sentence=True)

    def _heard(self, found: list[Sentence]) -> Iterator[str]:
        """The record's pieces, as they are; its sentences are in `found` once they have passed."""
        splitter = Splitter()
        for piece in self._record.pieces:
            assert isinstance(piece, str), "a document's"
            found.extend(splitter.feed(piece))
            yield piece
        found.extend(splitter.end_paragraph())
