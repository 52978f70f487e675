"""Which tokens a model may write."""

from __future__ import annotations

from typing import Any

import numpy as np

from longseq.tokens.dna import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords


def writable(tokenizer: Any, size: int, *, any_letter: bool = False) -> np.ndarray:
    """(size,) bool: tokens that may be generated.

    Of DNA the letters A, C, G, T and words of them, with `any_letter` the other codes too; of text all but special
    tokens, the end of a document excepted. What the tokenizer cannot spell never.
    """
    found = np.zeros(size, bool)
    found[: tokenizer.vocabulary] = True
    if isinstance(tokenizer, DnaTokenizer | DnaSubwords):
        if not any_letter:
            found[4 : len(tokenizer.alphabet.letters)] = False
        return found
    for token in tokenizer.special:
        found[token] = token == tokenizer.end
    return found
