"""Which records of a file are read: those long enough, and of them all or a sample."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from longseq.config import require
from longseq.errors import InputError
from longseq.records import Record


class Sieve:
    """Lets records of DNA through, in input order, and keeps what is known of the others.

    A sample takes the first record, and each other one with probability `fraction`, by a hash of `seed` and its
    position in the file: the same records however the file is packed, or read together with others.

    Args:
        shortest: Letters below which a record is left out; no more of a record than that is held.
        fraction: Above 0, at most 1. Of a record that is not in the sample the length is found, the letters not kept.
        seed: Of the sample.
        on_failure: Told of a record outside of the sample that cannot be read to its end; None raises.

    Raises:
        ConfigError: a figure out of range.
    """

    def __init__(
        self,
        *,
        shortest: int = 0,
        fraction: float = 1.0,
        seed: int = 0,
        on_failure: Callable[[Record, InputError], None] | None = None,
    ):
        require(0 <= shortest <= 1_000_000, "min_contig", shortest, "0 to 1,000,000 letters")
        require(0 < fraction <= 1, "sample_fraction", fraction, "above 0, at most 1")
        self.fraction = fraction
        self._shortest, self._seed, self._on_failure = shortest, seed, on_failure
        self.short = self.short_len = 0
        """Records left out as too short, and letters in them."""
        self.unread = array("q")
        """Lengths of the records outside of the sample, in input order."""

    def through(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records to read; each is to be walked before the next one is asked for."""
        for record in records:
            if self._shortest and not self._long_enough(record):
                continue
            if self.fraction < 1 and not self._drawn(record.index):
                self._measure(record)
                continue
            yield record

    def _long_enough(self, record: Record) -> bool:
        held: list[bytes] = []
        length, fault = 0, None
        try:
            while length < self._shortest and (piece := next(record.pieces, None)) is not None:
                assert isinstance(piece, bytes)
                held.append(piece)
                length += len(piece)
        except InputError as error:  # told by whoever walks the record
            fault = error
        if length < self._shortest and fault is None:
            self.short, self.short_len = self.short + 1, self.short_len + length
            return False
        rest = record.pieces if fault is None else _raising(fault)
        record.pieces = chain(held, rest)  # type: ignore[assignment]
        return True

    def _drawn(self, index: int) -> bool:
        number = hashlib.blake2b(b"%d:%d" % (self._seed, index), digest_size=8).digest()
        return index == 0 or int.from_bytes(number, "little") < self.fraction * 2**64

    def _measure(self, record: Record) -> None:
        try:
            self.unread.append(sum(len(piece) for piece in record.pieces))
        except InputError as error:
            if self._on_failure is None:
                raise
            self._on_failure(record, error)


def _raising(error: InputError) -> Iterator[bytes]:
    raise error
    yield b""
