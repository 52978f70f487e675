"""Hidden vectors of one record as they come, and a state that a later reading goes on from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from torch import Tensor

from longseq.errors import UsageError
from longseq.model import Checkpoint, State
from longseq.records import Record
from longseq.streaming.hidden import FINAL, HiddenReader
from longseq.streaming.snapshot import Snapshot, require_model, require_same, save_snapshot
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import StreamTokenizer

Letters = bytes | str | Record | Iterable[bytes] | Iterable[str]
"""A record of `longseq.read`, its letters, or these in pieces."""


class Passage(NamedTuple):
    """T consecutive tokens of a record."""

    start: int
    """First letter, 0-based: bases or code points of the record."""
    end: int
    """One past the last letter."""
    offsets: np.ndarray | None
    """(T, 2) int64 letters `[start, end)` of each token; None where token i is the one letter start + i."""
    hidden: Tensor
    """(T, D) float32, on the model's device, without history."""


class Stream(Iterator[Passage]):
    """One record on its way through a model, chunk after chunk; memory in use: a chunk, a piece and a state.

    However the letters are cut into pieces, and wherever a reading stops and another one goes on from its state, the
    vectors are those of one reading, to rounding. Of a model that looks ahead inside segments, those of the last
    segment before a stop have not seen what comes after it.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        letters: Letters,
        *,
        start: Snapshot | None = None,
        layer: str = FINAL,
        chunk: int | None = None,
        precision: str = "fp32",
    ):
        """`start` is an earlier stream's `state`: `letters` are those that come after. The others are those of
        `longseq.streaming.hidden.HiddenReader`.

        Raises:
            ConfigError: a layer, chunk or precision that cannot be.
            StateError: `start` is of another model, chunk or precision.
            UsageError: letters of another kind than the model reads; `start` with a model of words.
        """
        self._reader = HiddenReader(checkpoint, layer=layer, chunk=chunk, precision=precision)
        self._checkpoint, self._tokenizer = checkpoint, checkpoint.tokenizer
        self._text = isinstance(self._tokenizer, StreamTokenizer)
        pieces = self._pieces(letters)
        self._state: State | None = None
        self._position = self._given = 0
        self._held = bytearray()
        """Letters behind `_position`, of a model of letters."""
        if not isinstance(self._tokenizer, DnaTokenizer):
            if start is not None:
                raise self._no_state()
            self._passages = self._words(pieces)
            return
        if start is not None:
            require_model(start.model_sha256, checkpoint)
            require_same(start, self._reader.chunk, precision)
            self._state, self._position, self._given = start.state, start.position, start.given
            self._held += start.carry
        self._passages = self._letters(self._tokenizer, pieces)

    def __next__(self) -> Passage:
        return next(self._passages)

    @property
    def state(self) -> Snapshot:
        """All that a later stream needs to go on from here: after the last passage, with letters appended.

        Raises:
            UsageError: of a model of words, whose last word might go on.
        """
        if not isinstance(self._tokenizer, DnaTokenizer):
            raise self._no_state()
        return Snapshot(
            state=self._state,
            model_sha256=self._checkpoint.sha256,
            position=self._position,
            carry=bytes(self._held),
            given=max(self._given, self._position),
            chunk=self._reader.chunk,
            precision=self._reader.precision,
        )

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write `state` to a file, whole or not at all; `longseq.stream(…, state=path)` goes on from it.

        Raises:
            OutputExistsError: it stands already, and `force` is not set. UsageError: as `state`.
        """
        save_snapshot(path, self.state, force)

    def _no_state(self) -> UsageError:
        return UsageError(
            where=self._checkpoint.name,
            expected="a model of letters of DNA to go on with a record",
            found="one of words, the last of which might go on",
            remedy="longseq.streaming.Conversation goes on with texts, turn by turn",
        )

    def _pieces(self, letters: Letters) -> Iterator[bytes] | Iterator[str]:
        found = letters.pieces if isinstance(letters, Record) else letters
        whole: Iterable[object] = [found] if isinstance(found, bytes | str | bytearray | memoryview) else found
        if isinstance(letters, Record):
            self._require("a document" if letters.kind == "document" else "DNA", letters.kind == "document")
        return (self._piece(piece) for piece in whole)  # type: ignore[return-value]

    def _piece(self, piece: object) -> bytes | str:
        if self._text:
            self._require(type(piece).__name__, isinstance(piece, str))
            return str(piece)
        if isinstance(piece, str):
            return piece.encode("ascii", "replace")
        self._require(type(piece).__name__, not isinstance(piece, bytes | bytearray | memoryview))
        return bytes(piece)  # type: ignore[call-overload, no-any-return]

    def _require(self, found: str, text: bool) -> None:
        if text != self._text:
            expected = "text as str" if self._text else "letters of DNA"
            raise UsageError(where=self._checkpoint.name, expected=expected, found=found)

    def _words(self, pieces: Iterator[bytes] | Iterator[str]) -> Iterator[Passage]:
        state: State | None = None
        for chunk in self._tokenizer.chunks(pieces, self._reader.chunk):  # type: ignore[arg-type]
            if len(chunk):
                hidden, state = self._reader.step(chunk.ids[None], state)
                yield Passage(chunk.start, chunk.end, chunk.offsets, hidden[0])

    def _letters(self, tokenizer: DnaTokenizer, pieces: Iterator[bytes] | Iterator[str]) -> Iterator[Passage]:
        size = self._reader.chunk
        for piece in pieces:
            assert isinstance(piece, bytes)
            tokenizer.encode(piece, self._position + len(self._held))  # a wrong letter is named before it is kept
            self._held += piece
            while len(self._held) >= size:
                ids = tokenizer.encode(bytes(self._held[:size]))[0]
                hidden, self._state = self._reader.step(ids[None], self._state)
                del self._held[:size]
                self._position += size
                yield from self._new(self._position - size, hidden[0])
        if self._held:
            # What is read here stays in hand, and the state in front of it: should more come, it is read again.
            ids = tokenizer.encode(bytes(self._held))[0]
            yield from self._new(self._position, self._reader.step(ids[None], self._state)[0][0])

    def _new(self, start: int, hidden: Tensor) -> Iterator[Passage]:
        """What was not given before of vectors (T, D) from `start` on."""
        end, old = start + len(hidden), max(self._given - start, 0)
        self._given = max(self._given, end)
        if old < len(hidden):
            yield Passage(start + old, end, None, hidden[old:])
