"""DNA in tokens of several bases: k-mers, and pieces learned by byte-pair encoding; exact in a stream.

Both are files that the `tokenizers` library loads as they are. The alphabet is part of the file: the first ids are its
letters in their order, and the normalizer folds case, reads U as T, and reads other IUPAC codes as N where the
alphabet says so. A letter that is not A, C, G or T is always a token of its own, so that no token reaches over a gap.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longseq.config import require
from longseq.errors import AlphabetError, CheckpointError
from longseq.records import IUPAC, Alphabet
from longseq.tokens.chunk import Chunk
from longseq.tokens.dna import DnaTokenizer

if TYPE_CHECKING:
    from longseq.tokens.stream import StreamTokenizer

LONGEST_KMER = 8
"""4^8 k-mers are 65,536 ids; more would be a table that few bases of a genome ever train."""


class DnaSubwords(ABC):
    """What both kinds share: the file, the alphabet, the bases of each token."""

    def __init__(self, text: str, where: str = "tokenizer"):
        """`text` is the JSON of the file `where`.

        Raises:
            CheckpointError: it is none of ours for DNA.
        """
        self._text = text
        spec = json.loads(text)
        found = alphabet_of(spec)
        if found is None:
            raise CheckpointError(where=where, expected="a tokenizer of DNA", found="another")
        self.alphabet = found
        words = sorted(spec["model"]["vocab"].items(), key=lambda item: item[1])
        self.words = [word.encode() for word, _ in words]
        """Bases of each token, by id."""
        self.lengths = np.array([len(word) for word in self.words], np.int64)
        """(V,) bases of each token."""
        self.by_letter = DnaTokenizer(found)
        """The letters of the same alphabet."""

    @property
    def vocabulary(self) -> int:
        """Number of ids."""
        return len(self.words)

    @abstractmethod
    def chunks(self, pieces: Iterator[bytes], size: int) -> Iterator[Chunk]:
        """Chunks of `size` tokens, the last one shorter, of a record that arrives in any pieces.

        Raises:
            AlphabetError: a byte outside the alphabet, with its 1-based base number in the record.
        """

    def encode(self, letters: bytes) -> np.ndarray:
        """Ids (T,) int32 of a whole record."""
        parts = [chunk.ids for chunk in self.chunks(iter([letters]), 1 << 16)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    def decode(self, ids: np.ndarray) -> bytes:
        """The letters of ids (T,), in upper case."""
        return b"".join([self.words[i] for i in ids.tolist()])

    def digest(self) -> str:
        """sha256 of the file."""
        return hashlib.sha256(self._text.encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the `tokenizer.json`."""
        Path(path).write_text(self._text, encoding="utf-8")

    def _ids(self, pieces: Iterator[bytes]) -> Iterator[np.ndarray]:
        """Ids (T,) uint8 of letters."""
        at = 0
        for piece in pieces:
            yield self.by_letter.encode(piece, at)[0]
            at += len(piece)


class DnaPieces(DnaSubwords):
    """Byte-pair encoding over runs of A, C, G and T, joined across windows as `tokens.stream` proves it."""

    def __init__(self, text: str, where: str = "tokenizer"):
        super().__init__(text, where)
        from tokenizers import Tokenizer

        from longseq.tokens.stream import StreamTokenizer
        from longseq.tokens.stream.engine import guarded

        # Its letters are read as the alphabet says before it sees them.
        plain = json.dumps(json.loads(text) | {"normalizer": None})
        with guarded(where):
            self._stream: StreamTokenizer = StreamTokenizer(Tokenizer.from_str(plain))

    def chunks(self, pieces: Iterator[bytes], size: int) -> Iterator[Chunk]:
        letters = (self.by_letter.decode(ids).decode() for ids in self._ids(pieces))
        return self._stream.chunks(letters, size)


class DnaKmers(DnaSubwords):
    """Words of k bases, side by side from the start of each run of A, C, G and T; what is left at its end, base by
    base."""

    def __init__(self, text: str, where: str = "tokenizer"):
        super().__init__(text, where)
        self.k = int(self.lengths.max())

    def chunks(self, pieces: Iterator[bytes], size: int) -> Iterator[Chunk]:
        require(size >= 1, "tokens.size", size, ">= 1 token")
        return self._chunks(pieces, size)

    def _chunks(self, pieces: Iterator[bytes], size: int) -> Iterator[Chunk]:
        held = np.zeros(0, np.uint8)  # the beginning of a word
        ids, starts = np.zeros(0, np.int32), np.zeros(0, np.int64)
        at = 0  # of the first letter that is in no token yet
        for piece in self._ids(pieces):
            letters = np.concatenate([held, piece])
            held = letters[len(letters) - self._open(letters) :]
            letters = letters[: len(letters) - len(held)]
            new, places = self._words(letters)
            ids, starts = np.concatenate([ids, new]), np.concatenate([starts, places + at])
            at += len(letters)
            ready = len(ids) // size * size
            for first in range(0, ready, size):
                yield self._chunk(ids[first : first + size], starts[first : first + size])
            ids, starts = ids[ready:], starts[ready:]
        ids, starts = np.concatenate([ids, held.astype(np.int32)]), np.append(starts, at + np.arange(len(held)))
        for first in range(0, len(ids), size):
            yield self._chunk(ids[first : first + size], starts[first : first + size])

    def _chunk(self, ids: np.ndarray, starts: np.ndarray) -> Chunk:
        ends = starts + self.lengths[ids]
        return Chunk(ids, int(starts[0]), int(ends[-1]), np.stack([starts, ends], 1))

    def _open(self, letters: np.ndarray) -> int:
        """Letters at the end that more may follow in the same word."""
        other = np.flatnonzero(letters > 3)
        run = len(letters) - (int(other[-1]) + 1 if len(other) else 0)
        return run % self.k

    def _words(self, letters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ids (T,) int32 of whole words and single letters, and where each starts."""
        count = len(letters)
        base = letters < 4
        edges = np.flatnonzero(np.diff(base, prepend=False, append=False)).reshape(-1, 2)
        place = np.arange(count)
        lengths = edges[:, 1] - edges[:, 0]
        begin, length = np.repeat(edges[:, 0], lengths), np.repeat(lengths, lengths)
        within = place[base] - begin
        whole = np.zeros(count, bool)  # in a word of k
        whole[base] = within < length // self.k * self.k
        first = np.zeros(count, bool)
        first[base] = within % self.k == 0
        starts = np.flatnonzero(first & whole)
        number = np.zeros(len(starts), np.int32)
        for i in range(self.k):
            number = number * 4 + letters[starts + i]
        ids = letters.astype(np.int32)
        if self.k > 1:
            ids[starts] = number + len(self.alphabet.letters)
        taken = np.flatnonzero(~whole | first)
        return ids[taken], taken.astype(np.int64)


def kmers(k: int, alphabet: Alphabet) -> DnaKmers:
    """The tokenizer of all words of k bases.

    Raises:
        ConfigError: k is not 2 to 8.
    """
    require(2 <= k <= LONGEST_KMER, "k", k, f"2 to {LONGEST_KMER} bases")
    words = ["".join(word) for word in product("ACGT", repeat=k)]
    vocabulary = {word: i for i, word in enumerate([*alphabet.letters.decode(), *words])}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "N"}
    return DnaKmers(_file(model, f"[ACGT]{{{k}}}|[\\s\\S]", alphabet))


def pieces(merges: list[tuple[str, str]], alphabet: Alphabet) -> DnaPieces:
    """The tokenizer that joins these pairs, in order of rank."""
    words = [*alphabet.letters.decode(), *(a + b for a, b in merges)]
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "N",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {word: i for i, word in enumerate(dict.fromkeys(words))},
        "merges": [list(pair) for pair in merges],
    }
    return DnaPieces(_file(model, "[^ACGT]", alphabet))


def load_subwords(text: str, where: str, alphabet: Alphabet | None = None) -> DnaSubwords:
    """The tokenizer of a file of ours for DNA, whose JSON is `text`.

    Raises:
        CheckpointError: it is none.
        AlphabetError: `alphabet` is another.
    """
    model = json.loads(text)["model"]
    kind = DnaKmers if model.get("type") == "WordLevel" else DnaPieces
    _require_words(model["vocab"], kind, where)
    found = kind(text, where)
    if alphabet is not None and alphabet != found.alphabet:
        raise AlphabetError(
            where=where,
            expected=f"ambiguity {alphabet.ambiguity!r}",
            found=repr(found.alphabet.ambiguity),
            remedy="train a tokenizer with that alphabet",
        )
    return found


def _require_words(words: dict[str, Any], kind: type[DnaSubwords], where: str) -> None:
    """Raise CheckpointError unless each word is spelled in bases and has an id of its own, none between them without
    one, and the words of k bases are all there are, in their order."""
    ids = sorted(words.values()) if all(type(number) is int for number in words.values()) else []
    spelled = all(len(word) == 1 or not set(word) - set("ACGT") for word in words)
    if ids != list(range(len(words))) or not spelled or "" in words:
        raise CheckpointError(where=where, expected="words of bases, numbered from 0", found="others")
    if kind is DnaKmers:
        k = max(map(len, words))
        long = sorted((word for word in words if len(word) > 1), key=words.__getitem__)
        if not 2 <= k <= LONGEST_KMER or len(long) != 4**k or long != sorted(long) or {*map(len, long)} != {k}:
            raise CheckpointError(where=where, expected="all words of one length in their order", found="others")


def alphabet_of(spec: dict[str, Any]) -> Alphabet | None:
    """The alphabet of a tokenizer's JSON; None where it is not one of ours for DNA."""
    model = spec.get("model")
    words = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(words, dict):
        return None
    for ambiguity in ("keep", "N"):
        alphabet = Alphabet(ambiguity=ambiguity)
        letters = alphabet.letters.decode()
        numbered = all(words.get(letter) == i for i, letter in enumerate(letters))
        if numbered and spec.get("normalizer") == _normalizer(alphabet):
            return alphabet
    return None


def _file(model: dict[str, Any], pattern: str, alphabet: Alphabet) -> str:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    spec: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": _normalizer(alphabet),
        "pre_tokenizer": split,
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": model,
    }
    return json.dumps(spec, indent=1) + "\n"


def _normalizer(alphabet: Alphabet) -> dict[str, Any]:
    """Every letter as the alphabet reads it."""
    names: dict[str, str] = {}
    for letter in IUPAC.decode():
        kept = letter if letter.encode() in alphabet.letters else "N"
        names |= {letter: kept, letter.lower(): kept}
    names |= {"U": "T", "u": "T"}
    steps = [
        {"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in names.items() if old != new
    ]
    return {"type": "Sequence", "normalizers": steps}
