"""Tokenizers made from files, and what there is to say about one."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from longseq.errors import UsageError
from longseq.formats import read
from longseq.formats.folders import files
from longseq.formats.letters import OnUnknown
from longseq.log import Progress
from longseq.records import Kind, Record
from longseq.tokens import Chunk, DnaTokenizer, load
from longseq.tokens.subwords import DnaKmers, DnaSubwords, kmers
from longseq.tokens.train import Learned, Learning, learn

log = logging.getLogger("longseq")

EXAMPLES = 10
"""Words that are shown."""
SHOWN = 40
"""Tokens of a text that are shown."""
CHUNK = 1 << 16


def learned(
    inputs: Iterable[str],
    config: Learning,
    *,
    kind: Kind | None = None,
    column: str | None = None,
    on_unknown: OnUnknown = "error",
    progress: Progress | None = None,
) -> Learned:
    """A tokenizer of the records of these files and folders, all DNA or all documents.

    A file that ends early is said and used as far as it goes. `column` is the one of tables that holds the texts.

    Raises:
        InputError: a file that cannot be read, or nothing to learn from.
        ConfigError: a vocabulary too small to begin with.
    """
    return learn(_records(inputs, kind, column, on_unknown), config, progress)


def counted_out(k: int, config: Learning) -> DnaKmers:
    """The tokenizer of all words of k bases."""
    return kmers(k, config.alphabet)


def describe(
    path: str,
    *,
    text: str | None = None,
    inputs: Iterable[str] = (),
    kind: Kind | None = None,
    column: str | None = None,
    on_unknown: OnUnknown = "error",
) -> dict[str, Any]:
    """Facts about a `tokenizer.json` by name, and with a text or files how it cuts them.

    `bits_per_token` is the entropy of the tokens' frequencies in what was read, `bits_per_letter` the same for each
    letter: what the best code without context takes.

    Raises:
        CheckpointError: no tokenizer.
        InputError: a file that cannot be read, or holds what the tokenizer is not for.
    """
    tokenizer = load(path)
    facts: dict[str, Any] = {"schema": "longseq.tokenizer-facts/1", "path": path, **_about(tokenizer)}
    names = tuple(inputs)
    if text is not None and names:
        raise UsageError("a text and files exclude each other", remedy="give one of them")
    if text is not None:
        record = Record(
            id="text",
            kind="dna" if facts["for"] == "dna" else "document",
            source="TEXT",
            index=0,
            pieces=iter([text.encode() if facts["for"] == "dna" else text]),  # type: ignore[arg-type]
        )
        facts |= _cut(tokenizer, [record], facts["for"], shown=True)
    elif names:
        facts |= _cut(tokenizer, _records(names, kind, column, on_unknown), facts["for"], shown=False)
    return facts


def _records(inputs: Iterable[str], kind: Kind | None, column: str | None, on_unknown: OnUnknown) -> Iterator[Record]:
    for name in files(inputs):
        with read(name, kind=kind, text=column, on_unknown=on_unknown) as reading:
            yield from reading
            if reading.truncated:
                log.warning("%s: ended too early; what was read of it counts", name)


def _about(tokenizer: Any) -> dict[str, Any]:
    if isinstance(tokenizer, DnaTokenizer):
        letters = list(tokenizer.alphabet.letters.decode())
        return _dna(tokenizer.alphabet.ambiguity, "letters", tokenizer.vocabulary) | {"longest": letters[-1:]}
    if isinstance(tokenizer, DnaSubwords):
        words = sorted((word.decode() for word in tokenizer.words), key=lambda word: (-len(word), word))
        what = f"{tokenizer.k}-mers" if isinstance(tokenizer, DnaKmers) else "byte-pair encoding"
        return _dna(tokenizer.alphabet.ambiguity, what, tokenizer.vocabulary) | {"longest": words[:EXAMPLES]}
    words = [tokenizer.decode(np.array([i])) for i in range(tokenizer.vocabulary)]
    longest = sorted(words, key=lambda word: (-len(word), word))[:EXAMPLES]
    facts = {"for": "documents", "kind": tokenizer.kind, "vocabulary": tokenizer.vocabulary}
    return facts | {"end": tokenizer.end, "exact": tokenizer.provable, "longest": longest}


def _dna(ambiguity: str, kind: str, vocabulary: int) -> dict[str, Any]:
    return {"for": "dna", "kind": kind, "vocabulary": vocabulary, "ambiguity": ambiguity, "exact": True}


def _cut(tokenizer: Any, records: Iterable[Record], wanted: str, *, shown: bool) -> dict[str, Any]:
    counts = np.zeros(tokenizer.vocabulary, np.int64)
    letters, pieces = 0, []  # type: tuple[int, list[str]]
    for record in records:
        if (record.kind == "dna") != (wanted == "dna"):
            raise UsageError(where=record.where, expected=f"{wanted}, which the tokenizer is for", found=record.kind)
        chunk: Chunk
        for chunk in tokenizer.chunks(iter(record.pieces), CHUNK):
            counts += np.bincount(chunk.ids, minlength=len(counts))
            letters += chunk.end - chunk.start
            if shown:
                pieces += [_said(tokenizer.decode(chunk.ids[i : i + 1])) for i in range(min(len(chunk), SHOWN))]
    tokens = int(counts.sum())
    share = counts[counts > 0] / max(tokens, 1)
    bits = float(-(share * np.log2(share)).sum()) if tokens else math.nan
    facts = {
        "letters": letters,
        "tokens": tokens,
        "letters_per_token": letters / tokens if tokens else None,
        "bits_per_token": bits,
        "bits_per_letter": bits * tokens / letters if letters else None,
        "ids_used": int((counts > 0).sum()),
    }
    return facts | ({"pieces": pieces[:SHOWN]} if shown else {})


def _said(word: str | bytes) -> str:
    return word if isinstance(word, str) else word.decode()
