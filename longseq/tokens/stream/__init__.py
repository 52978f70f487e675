"""Any `tokenizer.json` over a text that is never held whole, with the ids and offsets of the whole text.

The `tokenizers` library encodes whole texts only, at 120 to 190 bytes of memory a letter, and a text cut at the wrong
place gets wrong ids. `fold` says how windows are chosen so that the cuts change nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.config import require
from longseq.tokens.chunk import Chunk
from longseq.tokens.stream.check import agrees, require_soon
from longseq.tokens.stream.engine import Engine, Tokens, guarded
from longseq.tokens.stream.fold import Fold, Sizes
from longseq.tokens.stream.frame import Frame, ends_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WINDOW, OVERLAP, CAP = 8192, 512, 1 << 18
ENDS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "[EOS]", "[SEP]")
"""Names under which published tokenizers keep the end of a document."""
SEPARATOR = "<|separator|>"
"""Special token between a source and its target. A text that spells it stays text."""


class StreamTokenizer:
    """A Hugging Face tokenizer whose `chunks` equal whole-text encoding without special tokens.

    Truncation, padding, dropout and special tokens are off: text that spells a control token stays text. `framed` gives
    one that sets special tokens around each segment.

    Args:
        source: path of a `tokenizer.json`, or a `tokenizers.Tokenizer`.
        window: code points encoded at once.
        overlap: code points at a window's end in which no cut is made, and which the next window repeats where it has
            to; they grow with the window.
        cap: longest window; memory is bounded by it, about 200 bytes a code point.

    Raises:
        CheckpointError: a file that the library does not take.
        ConfigError: sizes that do not hold one another.
    """

    def __init__(self, source: str | Path | Tokenizer, window: int = WINDOW, overlap: int = OVERLAP, cap: int = CAP):
        require(window >= 16, "tokens.window", window, ">= 16 code points")
        require(4 <= overlap <= window // 2, "tokens.overlap", overlap, "from 4 code points to half a window")
        require(cap >= window, "tokens.cap", cap, "at least a window")
        where = str(source) if isinstance(source, str | Path) else "tokenizer"
        self._sizes = Sizes(window, overlap, cap)
        with guarded(where):
            self._engine = Engine.read(source) if isinstance(source, str | Path) else Engine(source)
            require_soon(self._engine, where)
            self.provable = self._engine.seams.known and agrees(self._engine)
        """False: this tokenizer has parts whose reach is not known, or failed the check at load. Texts up to `cap` are
        encoded whole; longer ones are cut, and their streams say `exact = False`."""
        self.frame: Frame | None = None
        """Special tokens around each segment; None: no special tokens."""

    def framed(self, before: int, after: int, segment: int) -> StreamTokenizer:
        """The same tokenizer with these ids in front of and behind the tokens of each segment; `segment` tokens, both
        included."""
        other = copy(self)
        other.frame = Frame(before, after, segment)
        return other

    @property
    def ends(self) -> tuple[int, int] | None:
        """Ids of the special tokens that it was made to set in front of and behind a text, if there are two."""
        return ends_of(self._engine.spec)

    @property
    def vocabulary(self) -> int:
        """Number of ids, added tokens included."""
        return self._engine.vocabulary

    @property
    def kind(self) -> str:
        """Name of the library's model: BPE, WordPiece, Unigram, WordLevel."""
        return self._engine.spec["model"]["type"]

    @property
    def spec(self) -> dict[str, Any]:
        """The tokenizer's JSON."""
        return self._engine.spec

    @property
    def special(self) -> frozenset[int]:
        """Ids of the tokens that no text spells."""
        return frozenset(t["id"] for t in self._engine.spec["added_tokens"] if t["special"])

    @property
    def end(self) -> int | None:
        """Id of the special token that ends a document, by its usual names; None where there is none."""
        special = {t["content"]: t["id"] for t in self._engine.spec["added_tokens"] if t["special"]}
        return next((special[name] for name in ENDS if name in special), None)

    @property
    def separator(self) -> int | None:
        """Id of the special token after which a target follows its source; None where there is none."""
        return next((t["id"] for t in self._engine.spec["added_tokens"] if t["content"] == SEPARATOR), None)

    @property
    def unknown(self) -> int | None:
        """Id of what has none of its own; None where there is no such thing."""
        model = self._engine.spec["model"]
        return model["unk_id"] if model["type"] == "Unigram" else model["vocab"].get(model["unk_token"])

    def with_special(self, *names: str) -> StreamTokenizer:
        """The same tokenizer with special tokens of these names behind its ids, where it has none of the name."""
        return StreamTokenizer(self._engine.with_special(names))

    def chunks(self, pieces: Iterator[str], size: int) -> TokenStream:
        """Chunks of `size` tokens, the last one shorter, of a text that arrives in any pieces."""
        return TokenStream(Fold(self._engine, self._sizes, self.provable), pieces, size, self.frame)

    def encode(self, text: str) -> np.ndarray:
        """Ids (T,) int32 of a text held whole."""
        parts = [chunk.ids for chunk in self.chunks(iter([text]), 1 << 20)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    def decode(self, ids: np.ndarray) -> str:
        """The text of ids (T,), as the tokenizer's own decoder joins it."""
        return self._engine.decode(ids)

    def digest(self) -> str:
        """sha256 of the tokenizer's JSON."""
        return hashlib.sha256(self._engine.json.encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the `tokenizer.json`."""
        Path(path).write_text(self._engine.json, encoding="utf-8")


class TokenStream(Iterator[Chunk]):
    """Chunks of one text, walked once.

    A chunk's letters reach to the end of its last token, so a letter that is spelled by several tokens may have some of
    them in the next chunk. The last chunk reaches to the end of the text; a text without any token gives one empty
    chunk, an empty text none.
    """

    def __init__(self, fold: Fold, pieces: Iterator[str], size: int, frame: Frame | None = None):
        require(size >= 1, "tokens.size", size, ">= 1 token")
        self._fold, self._size = fold, size
        parts = fold.tokens(pieces)
        self._chunks = self._cut(parts if frame is None else frame.around(parts))

    def __next__(self) -> Chunk:
        return next(self._chunks)

    @property
    def exact(self) -> bool:
        """Once the stream has ended: whether its tokens are proven to be those of the whole text."""
        return self._fold.exact

    def _cut(self, parts: Iterator[Tokens]) -> Iterator[Chunk]:
        start = 0
        held = Tokens(np.empty(0, np.int32), np.empty((0, 2), np.int64))
        for part in parts:
            held = Tokens(np.concatenate([held.ids, part.ids]), np.concatenate([held.offsets, part.offsets]))
            ready = max(len(held.ids) - 1, 0) // self._size * self._size  # the last chunk waits for the text's end
            for at in range(0, ready, self._size):
                chunk = self._chunk(held, at, start)
                start = chunk.end
                yield chunk
            held = Tokens(held.ids[ready:], held.offsets[ready:])
        if self._fold.length:
            yield Chunk(held.ids, start, self._fold.length, held.offsets)

    def _chunk(self, tokens: Tokens, at: int, start: int) -> Chunk:
        offsets = tokens.offsets[at : at + self._size]
        return Chunk(tokens.ids[at : at + self._size], start, max(start, int(offsets[:, 1].max())), offsets)
