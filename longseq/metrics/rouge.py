"""ROUGE: how much of a reference's wording a summary holds. The only door to rouge-score, which is slow to wake.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries". The counting, the words and their Porter stems are
rouge-score's own, so that figures compare with published ones. That package knows the letters a to z only and gives 0
to two equal Chinese texts: where a reference is mostly in other letters, each Chinese, Japanese, Thai … letter is a
token and so is each case-folded word of the other scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from longseq.tokens.words import letters_and_words

KINDS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
"""Single tokens, pairs of neighbours, the longest common subsequence of the texts, and that of their sentences."""

_WORD = re.compile(r"[^\W_]")
_LATIN = re.compile(r"[a-z0-9]", re.I | re.A)


class Overlap(NamedTuple):
    """What two texts share, each a share from 0 to 1."""

    precision: float
    """Of the summary."""
    recall: float
    """Of the reference."""
    f: float
    """Harmonic mean of the two; 0 where both are."""


def rouge(reference: Sequence[str], summary: Sequence[str], kinds: Sequence[str] = KINDS) -> dict[str, Overlap]:
    """ROUGE of a summary against a reference, both as their sentences in order; only `rougeLsum` looks at the seams.

    Args:
        reference: Sentences of the reference; they decide what a token is, see `tokenizer`.
        summary: Sentences of the summary.
        kinds: Some of `KINDS`; the two subsequences take time in proportion to the product of the lengths.
    """
    target, found = (_lines(text) for text in (reference, summary))
    scorer = _scorer(tuple(kinds), by_words(target))
    return {kind: Overlap(*map(float, score)) for kind, score in scorer.score(target, found).items()}


def by_words(reference: str) -> bool:
    """Whether rouge-score's own words are counted: at least half of the letters and digits are from a to z, 0 to 9."""
    letters = len(_WORD.findall(reference))
    return 2 * len(_LATIN.findall(reference)) >= letters


def tokenizer(reference: str) -> Callable[[str], list[str]]:
    """Text to the tokens that are counted against this reference."""
    return _stemmed() if by_words(reference) else letters_and_words


def _lines(sentences: Sequence[str]) -> str:
    return "\n".join(" ".join(sentence.split()) for sentence in sentences)


@cache
def _scorer(kinds: tuple[str, ...], words: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(list(kinds), tokenizer=_Tokens(_stemmed() if words else letters_and_words))


class _Tokens:
    """What rouge-score asks of a tokenizer."""

    def __init__(self, tokenize: Callable[[str], list[str]]):
        self.tokenize = tokenize


@cache
def _stemmed() -> Callable[[str], list[str]]:
    """rouge-score's tokenizer; a word is stemmed once, which is most of its time."""
    from rouge_score.tokenize import tokenize
    from rouge_score.tokenizers import DefaultTokenizer

    stem = cache(DefaultTokenizer(use_stemmer=True).tokenize)
    return lambda text: [token for word in tokenize(text, None) for token in stem(word)]
