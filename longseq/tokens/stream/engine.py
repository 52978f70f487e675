"""The door to `tokenizers`: a tokenizer set up so that a text's tokens depend on nothing but the text."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Encoding, Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

from longseq.errors import CheckpointError, InputError, LongseqError
from longseq.tokens.stream.rules import AddedTokens, Spec, flat, normalizer_rules, pretokenizer_rules
from longseq.tokens.stream.seams import Seams

__all__ = ["Encoding", "Engine", "Tokens", "guarded", "span"]


class Tokens(NamedTuple):
    """T consecutive tokens."""

    ids: np.ndarray
    """(T,) int32."""
    offsets: np.ndarray
    """(T, 2) int64 `[start, end)` in code points of the text."""


class Engine:
    """A Hugging Face tokenizer without truncation, padding, special tokens or dropout.

    Text that spells a special token stays text. Post-processing is kept apart, because it moves offsets away from
    what a token was made of.
    """

    def __init__(self, tokenizer: Tokenizer):
        self.json = tokenizer.to_str()
        self.spec: dict[str, Any] = json.loads(self.json)
        self._tokenizer = _plain(self.spec)
        processors = flat(self.spec["post_processor"])
        moves = any(p["type"] in ("ByteLevel", "RobertaProcessing") for p in processors)
        self._processing = _processing(self.spec) if moves else None

    @classmethod
    def read(cls, path: str | Path) -> Engine:
        """That of a file."""
        return cls(Tokenizer.from_str(Path(path).read_text(encoding="utf-8")))  # the library takes no path of any bytes

    def with_special(self, names: Sequence[str]) -> Tokenizer:
        """A tokenizer of the library with these special tokens too."""
        tokenizer = Tokenizer.from_str(self.json)
        tokenizer.add_special_tokens(list(names))
        return tokenizer

    @cached_property
    def vocabulary(self) -> int:
        """Number of ids up to the last one, added tokens and ids of nothing included."""
        return max(self._tokenizer.get_vocab().values(), default=-1) + 1

    @cached_property
    def merges(self) -> bool:
        """Whether the model is byte-pair encoding that has an id for whatever it meets.

        A letter without one is left out, and moves the offsets of all that follow in its pre-token.
        """
        model = self.spec["model"]
        if model["type"] != "BPE":
            return False
        bytes_first = any(p["type"] == "ByteLevel" for n in ("normalizer", "pre_tokenizer") for p in flat(self.spec[n]))
        complete = bytes_first and all(letter in model["vocab"] for letter in ByteLevel.alphabet())
        fallback = model["byte_fallback"] and all(f"<0x{byte:02X}>" in model["vocab"] for byte in range(256))
        return complete or fallback or model["unk_token"] in model["vocab"]

    def encode(self, text: str) -> Encoding:
        """Tokens with the offsets of the letters they were made of.

        Raises:
            InputError: half a surrogate pair, which is no text; a text that the tokenizer fails at.
        """
        try:
            return self._tokenizer.encode(text, add_special_tokens=False)
        except (TypeError, UnicodeEncodeError):
            raise InputError(expected="Unicode text", found="a lone surrogate") from None
        except BaseException as error:
            if not _its_own(error):
                raise
            raise InputError(f"the tokenizer fails at this text: {_line(error)}") from None

    def tokens(self, encoding: Encoding, first: int, last: int, start: int, opens: bool) -> Tokens:
        """Tokens `[first, last)` of an encoding whose text starts at code point `start`, post-processed.

        `opens`: no token of the whole text comes before them; post-processing treats the first token differently.
        """
        ids, offsets = encoding.ids[first:last], encoding.offsets
        if self._processing is not None and opens:
            offsets = self._processing.post_process(encoding, None, False).offsets
        elif self._processing is not None:
            stand_in = self._processing.encode("x")
            processed = self._processing.post_process(Encoding.merge([stand_in, encoding], True), None, False)
            first, last, start = first + 1, last + 1, start - 1
            offsets = processed.offsets
        spans = np.fromiter(chain.from_iterable(offsets[first:last]), np.int64, 2 * len(ids)).reshape(-1, 2)
        return Tokens(np.array(ids, np.int32), spans + start)

    def decode(self, ids: np.ndarray) -> str:
        """The text of ids (T,) as the tokenizer's decoder writes it."""
        return self._tokenizer.decode(ids.tolist(), skip_special_tokens=False).replace(HIDDEN, "")

    @cached_property
    def seams(self) -> Seams:
        """Where its texts can be cut."""
        normalizer = self._tokenizer.normalizer
        return Seams(
            normalizer_rules(self.spec["normalizer"], _normalizing),
            AddedTokens.of(_sought(self.spec), normalizer.normalize_str if normalizer is not None else str),
            pretokenizer_rules(self.spec["pre_tokenizer"]),
        )


@contextmanager
def guarded(where: str) -> Iterator[None]:
    """What the library, or reading its JSON, makes of a tokenizer that is none, as an error of the file `where`.

    A fault inside the library is told on stderr by its runtime before anyone can catch it: that is left out, and
    whatever else was said there meanwhile is said behind.

    Raises:
        CheckpointError: anything was raised.
    """
    with tempfile.TemporaryFile() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        failed = False
        try:
            yield
        except CheckpointError:
            raise
        except LongseqError as error:
            failed = True
            raise CheckpointError(where=where, expected="a tokenizer", found=str(error)) from None
        except BaseException as error:
            if not (isinstance(error, Exception) or _its_own(error)):
                raise
            failed = _its_own(error)
            raise CheckpointError(where=where, expected="a tokenizer", found=_line(error)) from None
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            said.seek(0)
            if not failed and (rest := said.read()):
                os.write(2, rest)


def _its_own(error: BaseException) -> bool:
    """Whether the library failed by itself: bare Exceptions, and the panics of its language, which are none."""
    return type(error) is Exception or type(error).__name__ == "PanicException"


def _line(error: BaseException) -> str:
    return f"{error}".partition("\n")[0][:200] or type(error).__name__


def span(encoding: Encoding, i: int) -> tuple[int, int]:
    """The letters `[start, end)` of token i in its window."""
    found = encoding.token_to_chars(i)
    assert found is not None, "a token of no text"
    return found


def _plain(spec: Spec) -> Tokenizer:
    plain = {**spec, "model": _unspoken(spec), "post_processor": None, "truncation": None, "padding": None}
    plain["added_tokens"] = _sought(spec) + [{**t, "content": _hidden(t["content"])} for t in _special(spec)]
    plain["added_tokens"].sort(key=lambda token: token["id"])
    tokenizer = Tokenizer.from_str(json.dumps(plain))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


HIDDEN = "\U0010ffff"
"""Stands before the name of a special token where a model or a text could spell it; it is no character."""


def _hidden(content: str) -> str:
    return HIDDEN + content


def _sought(spec: Spec) -> list[dict[str, Any]]:
    """Added tokens that are words of the text."""
    return [token for token in spec["added_tokens"] if not token["special"]]


def _special(spec: Spec) -> list[dict[str, Any]]:
    """Added tokens that control a model; not the bytes on which byte-pair encoding falls back by name."""
    bytes_fall_back = spec["model"].get("byte_fallback", False)
    return [
        t for t in spec["added_tokens"] if t["special"] and not (bytes_fall_back and t["content"].startswith("<0x"))
    ]


def _unspoken(spec: Spec) -> dict[str, Any]:
    """The model without dropout, and with special tokens under names that no text spells.

    Switching special tokens off keeps the library from looking for them, but not a model from finding them among its
    words.
    """
    model = dict(spec["model"])
    names = {token["content"]: _hidden(token["content"]) for token in _special(spec)}
    if model["type"] == "BPE":
        model["dropout"] = None
        model["merges"] = [(a, b) for a, b in model["merges"] if not {a, b, a + b} & names.keys()]
    if model["type"] == "Unigram":
        model["vocab"] = [[names.get(word, word), score] for word, score in model["vocab"]]
    else:
        model["vocab"] = {names.get(word, word): i for word, i in model["vocab"].items()}
        model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
    return model


def _empty(**parts: Any) -> Tokenizer:
    model = {"type": "WordLevel", "vocab": {"": 0}, "unk_token": ""}
    spec: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
    }
    spec |= {"pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model}
    return Tokenizer.from_str(json.dumps(spec | parts))


def _processing(spec: Spec) -> Tokenizer:
    return _empty(post_processor=spec["post_processor"])


def _normalizing(spec: Spec) -> Callable[[str], str]:
    return _empty(normalizer=spec).normalizer.normalize_str
