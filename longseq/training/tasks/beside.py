"""What is told of records without a model: of DNA by k-mers and by GC alone, of documents by TF-IDF."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longseq.metrics.baselines import beside, by_words
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.subwords import DnaSubwords
from longseq.tokens.words import terms_and_pairs
from longseq.training.documents import AnyTokenizer
from longseq.training.records import Records

BASES, WORDS, RECORDS = 4_000_000, 20_000_000, 10_000
"""Bases, tokens of documents, and records, from which is learned at most: some seconds."""
LONGEST = 1 << 20
"""Bases of a record that are read; documents are read whole."""


def without_a_model(
    records: Records,
    tokenizer: AnyTokenizer,
    learned: np.ndarray,
    classes: np.ndarray,
    asked: np.ndarray,
    truth: np.ndarray,
    seed: int,
) -> dict[str, float]:
    """Figures on the records `asked` (M,) of classes `truth`, from some of those `learned` (N,) of `classes`.

    None where these are of one class.
    """
    documents = isinstance(tokenizer, StreamTokenizer)
    order = np.random.default_rng([seed, 7]).permutation(len(learned))[:RECORDS]
    lengths = records.lengths[learned[order]]
    read = np.cumsum(lengths if documents else np.minimum(lengths, LONGEST))
    taken = order[read <= (WORDS if documents else BASES)]
    if len(np.unique(classes[taken])) < 2:
        return {}
    if isinstance(tokenizer, StreamTokenizer):
        texts = (_texts(records, tokenizer, which) for which in (learned[taken], asked))
        told = by_words(next(texts), classes[taken], next(texts), truth, terms_and_pairs)
        return {f"tfidf_{name}": value for name, value in told._asdict().items()}
    codes = ([_codes(records, tokenizer, int(r)) for r in which] for which in (learned[taken], asked))
    return beside(next(codes), classes[taken], next(codes), truth)


def _texts(records: Records, tokenizer: StreamTokenizer, which: np.ndarray) -> Iterator[str]:
    """Documents as their tokens spell them."""
    for record in which.tolist():
        yield tokenizer.decode(records.read(record, 0, int(records.lengths[record])))


def _codes(records: Records, tokenizer: AnyTokenizer, record: int) -> np.ndarray:
    """Bases of the beginning of a record, above 3 what is none of A, C, G and T."""
    ids = records.read(record, 0, min(int(records.lengths[record]), LONGEST))
    if isinstance(tokenizer, DnaSubwords):
        return tokenizer.by_letter.encode(tokenizer.decode(ids))[0]
    return ids
