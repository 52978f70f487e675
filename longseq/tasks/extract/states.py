"""The state that an encoder of tokens leaves of each sentence: the mean of the hidden vectors of its tokens, each of
which knows all that the document said before it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longseq.errors import CheckpointError
from longseq.model import Checkpoint
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.document.collection import Collection
from longseq.tokens.stream import StreamTokenizer

COPIED = 1 << 16
"""Code points read back at a time."""


class SentenceStates:
    """An encoder of documents that reads sentences."""

    def __init__(self, checkpoint: Checkpoint):
        """Raises CheckpointError: it reads DNA."""
        tokenizer = checkpoint.tokenizer
        if not isinstance(tokenizer, StreamTokenizer):
            raise CheckpointError(where=checkpoint.name, expected="a model of documents", found="one of DNA")
        self.checkpoint, self._tokenizer, self._reader = checkpoint, tokenizer, HiddenReader(checkpoint)
        self.width = checkpoint.config.width

    def read(self, collection: Collection, keep: np.ndarray) -> np.ndarray:
        """(n, D) float32 of the rows in `keep` ((rows,) bool); each document is read from its beginning. A row without
        a token is zeros."""
        start, length = (collection.rows.column(name, keep).astype(np.int64) for name in ("start", "length"))
        total, tokens = np.zeros((len(start), self.width)), np.zeros(len(start))
        ends = [*collection.starts[1:], len(collection.text)]
        for first, last in zip(collection.starts, ends, strict=True):
            for at, hidden in self._hidden(collection, first, last):
                row = np.searchsorted(start, at, side="right") - 1
                inside = (row >= 0) & (at < start[row] + length[row])
                np.add.at(total, row[inside], hidden[inside])
                np.add.at(tokens, row[inside], 1)
        return (total / np.maximum(tokens, 1)[:, None]).astype(np.float32)

    def _hidden(self, collection: Collection, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Code point (t,) at which each token of a document ends, less one, and its hidden vector (t, D)."""
        pieces = (collection.text.read(a, min(a + COPIED, last)).text for a in range(first, last, COPIED))
        state = None
        for chunk in self._tokenizer.chunks(pieces, self._reader.chunk):
            if len(chunk):
                assert chunk.offsets is not None
                hidden, state = self._reader.step(chunk.ids[None], state)
                yield first + np.maximum(chunk.offsets[:, 1] - 1, 0), hidden[0].cpu().numpy()
