"""Letters of DNA and their ids: one table look-up a letter, case beside the ids, the contract kept in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from longseq.errors import AlphabetError, CheckpointError, ConfigError
from longseq.records import COMPLEMENT, IUPAC, Alphabet
from longseq.tokens.chunk import Chunk

SCHEMA = "longseq.tokenizer/1"
"""First key of our `tokenizer.json`."""

UNKNOWN = 255
"""What the table gives for a byte outside the alphabet; no alphabet has so many letters."""


class DnaTokenizer:
    """One id a letter, in the order of `alphabet.letters`; lower case is a mask, U is read as T.

    Under ambiguity "N" the eleven codes other than A, C, G, T and N are read as N.
    """

    def __init__(self, alphabet: Alphabet | None = None):
        self.alphabet = alphabet or Alphabet()
        letters = self.alphabet.letters
        ids = {letter: letters.find(letter) for letter in IUPAC}
        ids[ord("U")] = ids[ord("T")]
        table = bytearray([UNKNOWN]) * 256
        for letter, i in ids.items():
            table[letter] = table[letter | 32] = i if i >= 0 else letters.index(b"N")
        self._table = bytes(table)
        self._letters = np.frombuffer(letters, np.uint8)
        self._complement = np.frombuffer(letters.translate(COMPLEMENT).translate(self._table), np.uint8)

    @property
    def vocabulary(self) -> int:
        """Number of ids."""
        return len(self._letters)

    def encode(self, letters: bytes, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Ids (T,) uint8 and lower-case mask (T,) bool of T letters, the first at `start` of its record.

        Raises:
            AlphabetError: a byte outside the alphabet, with its 1-based base number in the record.
        """
        ids = np.frombuffer(bytearray(letters).translate(self._table), np.uint8)
        if len(ids) and ids.max() == UNKNOWN:
            at = int(np.argmax(ids == UNKNOWN))
            raise AlphabetError(
                expected="a DNA letter",
                found=f"{chr(letters[at])!a} at base {start + at + 1}",
            )
        return ids, np.frombuffer(letters, np.uint8) > ord("Z")

    def decode(self, ids: np.ndarray, lower: np.ndarray | None = None) -> bytes:
        """The letters (T,) of ids, in lower case where the mask says so."""
        letters = self._letters[ids]
        if lower is not None:
            letters = letters | (np.asarray(lower, bool).view(np.uint8) << 5)
        return letters.tobytes()

    def complement(self, ids: np.ndarray) -> np.ndarray:
        """Ids (…) of the complementary letters (NC-IUB 1984); `complement(ids[::-1])` is the reverse complement."""
        return self._complement[ids]

    def chunks(self, pieces: Iterator[bytes], size: int) -> Iterator[Chunk]:
        """Cut a record into chunks of `size` letters, the last one shorter; together they tile [0, length).

        How the pieces are cut changes nothing, and no more than a chunk and a piece is held.

        Raises:
            AlphabetError: as in `encode`.
        """
        held, start = bytearray(), 0
        for piece in pieces:
            at = 0
            while len(held) + len(piece) - at >= size:
                end = at + size - len(held)
                held += piece[at:end]
                yield self._chunk(held, start)
                held, start, at = bytearray(), start + size, end
            held += piece[at:]
        if held:
            yield self._chunk(held, start)

    def _chunk(self, letters: bytearray, start: int) -> Chunk:
        ids, lower = self.encode(bytes(letters), start)
        return Chunk(ids, start, start + len(ids), lower=lower)

    def save(self, path: str | Path) -> None:
        """Write the contract as `tokenizer.json`."""
        contract = {"schema": SCHEMA, "alphabet": asdict(self.alphabet)}
        contract |= {"letters": self.alphabet.letters.decode(), "digest": self.alphabet.digest()}
        Path(path).write_text(json.dumps(contract, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def from_contract(cls, contract: dict[str, Any], where: str, alphabet: Alphabet | None = None) -> DnaTokenizer:
        """The tokenizer of a contract read from the file `where`; `alphabet` is the one it must have, if any.

        Raises:
            CheckpointError: the contract lacks a field or holds a wrong one.
            AlphabetError: its digest is not that of its fields as this version reads them, or `alphabet` is another.
        """
        try:
            stored = Alphabet(**contract["alphabet"])
            digest = contract["digest"]
        except (KeyError, TypeError, ConfigError) as error:
            raise CheckpointError(where=where, expected="an alphabet and its digest", found=str(error)) from None
        if digest != stored.digest():
            raise AlphabetError(
                where=where,
                expected=f"the digest of {_name(stored)}, {stored.digest()}",
                found=str(digest),
                remedy="the file was changed, or written by a version that numbers letters differently",
            )
        if alphabet is not None and alphabet.digest() != digest:
            raise AlphabetError(where=where, expected=_name(alphabet), found=_name(stored))
        return cls(stored)


def _name(alphabet: Alphabet) -> str:
    return f"alphabet {alphabet.name}/{alphabet.version} with ambiguity {alphabet.ambiguity!r}"
