"""Where words begin among the tokens of a text, as far as the strings of a tokenizer tell.

| tokenizer | a word begins at |
|---|---|
| marks pieces that end a word (`</w>`) | each token behind such a one |
| marks pieces that go on (`##`) | each token that is not one |
| has white space in its tokens (bytes as letters, `▁`, or as it is) | white space |
| none of these | each token |

In the third case a word is white space and all behind it up to the next, punctuation included; white space of several
bytes is none where bytes stand as letters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.stream.rules import Spec, flat

BLANKS = "\t\n\v\f\r "
"""White space of one byte."""
MARK = "\u2581"
"""A blank as SentencePiece writes it."""


class Boundaries:
    """The beginnings of words."""

    def __init__(self, tokenizer: StreamTokenizer):
        spec, size = tokenizer.spec, tokenizer.vocabulary
        self._opens, self._closes, self._blank = (np.zeros(size, bool) for _ in range(3))
        """(V,) ids at which a word begins, behind which one begins, and that are white space alone."""
        suffix, prefix = (spec["model"].get(name) for name in ("end_of_word_suffix", "continuing_subword_prefix"))
        blank = _blanks(spec)
        for i, string in _strings(spec):
            if suffix:
                self._closes[i] = string.endswith(suffix)
            elif prefix:
                self._opens[i] = not string.startswith(prefix)
            elif string:
                self._opens[i], self._closes[i] = string[0] in blank, string[-1] in blank
                self._blank[i] = set(string) <= blank
        if not (self._opens.any() or self._closes.any()):
            self._opens[:] = True

    def starts(self, ids: np.ndarray) -> np.ndarray:
        """ids (T,) of a text → (T,) bool, True where a word begins: at its first token in any case."""
        found = np.ones(len(ids), bool)
        before = ids[:-1]
        found[1:] = (self._opens[ids[1:]] | self._closes[before]) & ~self._blank[before]
        return found


def _strings(spec: Spec) -> Iterator[tuple[int, str]]:
    """Ids and strings of a tokenizer, as its file spells them."""
    words = spec["model"]["vocab"]
    if isinstance(words, dict):
        yield from ((i, string) for string, i in words.items())
    else:  # with scores, in order
        yield from ((i, string) for i, (string, _) in enumerate(words))
    yield from ((token["id"], token["content"]) for token in spec["added_tokens"])


def _blanks(spec: Spec) -> set[str]:
    """How white space is written in its tokens."""
    parts = [part["type"] for name in ("normalizer", "pre_tokenizer") for part in flat(spec[name])]
    if "ByteLevel" in parts:  # bytes up to 32 are written as the letters 256 places on (Radford et al. 2019)
        return {chr(256 + ord(blank)) for blank in BLANKS}
    return {MARK, *BLANKS, "\u00a0", "\u2028", "\u2029", "\u3000"}
