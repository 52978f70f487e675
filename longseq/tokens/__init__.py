"""Text and DNA as ids, exact in a stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from longseq.errors import CheckpointError
from longseq.formats.jsonfile import LONGEST, from_json
from longseq.records import Alphabet
from longseq.tokens.chunk import Chunk
from longseq.tokens.dna import SCHEMA, DnaTokenizer

if TYPE_CHECKING:
    from longseq.tokens.stream import StreamTokenizer
    from longseq.tokens.subwords import DnaSubwords

__all__ = ["Chunk", "DnaTokenizer", "load"]

MOST = 1 << 22
"""Ids, several times those of the largest published tokenizers: a model has an embedding for each, used or not, and the
library walks through all of them."""


def load(path: str | Path, alphabet: Alphabet | None = None) -> DnaTokenizer | DnaSubwords | StreamTokenizer:
    """The tokenizer of a `tokenizer.json`: ours for DNA, by letters or words, or any of Hugging Face's for documents.

    Args:
        path: the file.
        alphabet: the alphabet that a DNA tokenizer must have, if any.

    Raises:
        CheckpointError: no such file, no JSON, or neither kind of tokenizer.
        AlphabetError: a DNA tokenizer of another alphabet.
    """
    where = str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise CheckpointError(where=where, expected=f"at most {LONGEST:,} bytes", found="more")
        text = data.decode()
        contract = from_json(text)
    except OSError as error:
        raise CheckpointError(error.strerror or "cannot be read", where=where) from None
    except ValueError as error:  # not JSON, or not UTF-8
        raise CheckpointError(where=where, expected="a tokenizer.json", found=f"no JSON: {error}") from None
    kind = contract.get("schema", "model" in contract) if isinstance(contract, dict) else None
    if kind == SCHEMA:
        return DnaTokenizer.from_contract(contract, where, alphabet)
    if kind is not True:
        expected = f"a tokenizer of schema {SCHEMA} or of Hugging Face's tokenizers"
        raise CheckpointError(where=where, expected=expected, found=f"schema {kind!r}"[:200] if kind else "neither")
    _require_few(contract, where)
    from longseq.tokens.subwords import alphabet_of, load_subwords

    if alphabet_of(contract) is not None:
        return load_subwords(text, where, alphabet)
    from longseq.tokens.stream import StreamTokenizer  # the library behind it is slow to import

    return StreamTokenizer(path)


def _require_few(contract: dict[str, Any], where: str) -> None:
    """Raise CheckpointError where a token has an id beyond `MOST`, before anyone counts up to it."""
    model, added = contract["model"], contract.get("added_tokens")
    words = model.get("vocab") if isinstance(model, dict) else None
    ids = [*words.values()] if isinstance(words, dict) else []
    ids += [token.get("id") for token in added if isinstance(token, dict)] if isinstance(added, list) else []
    if (last := max((i for i in ids if type(i) is int), default=0)) >= MOST:
        raise CheckpointError(where=where, expected=f"ids below {MOST:,}", found=f"{last:,}")
