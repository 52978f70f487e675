"""A mixture of adaptive Markov models of many orders, on both strands: what compressors of genomes do.

Each order k predicts from counts of what was read before, p_k(b | c) = (n(c, b) + a_k) / (n(c) + 4 a_k). A word of
k + 1 bases is counted together with its reverse complement, so an inverted repeat is a repeat. The orders are mixed by
weights that follow how well each did of late: w_k ← w_k^g p_k(the base), normalised (Pratas, Pinho and Ferreira 2016,
"Efficient compression of genomic sequences", DCC; without its models that tolerate substitutions).

Codes are those of `longseq.metrics.markov`: 0-3 are A, C, G, T, anything above is neither learned nor scored. An order
with an unknown letter among the k bases before predicts 1/4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longseq.config import require

ORDERS = range(1, 19)
MAX_ORDER, MAX_BASES = 18, 1 << 25
"""A context of 18 bases, one more, and the place of a word or its complement among 2^25 fill 64 bits."""
LONG = 11
"""From this order on, what followed a context once is likely to follow it again."""
ALPHA, ALPHA_LONG = 1.0, 1 / 16
"""a_k of orders below `LONG`, and from it on."""
MEMORY = 0.99
"""g: what logarithms of weights keep from base to base."""
STEP = 128
"""Bases that one row of a matrix product filters."""


class MixtureMarkov:
    """Bits per base of records under a mixture of orders whose counts go on from those of the training records."""

    def __init__(self, orders: Sequence[int] = ORDERS, *, memory: float = MEMORY):
        """`orders` are bases in the context, 0 to 18; `memory` is g, at least 0 and below 1."""
        require(len(orders) > 0, "orders", list(orders), "one at least")
        for order in orders:
            require(0 <= order <= MAX_ORDER, "orders", order, f"0 to {MAX_ORDER}")
        require(0 <= memory < 1, "memory", memory, "at least 0, below 1")
        self.orders, self.memory = frozenset(orders), memory
        self._trained: list[np.ndarray] = []

    def train(self, pieces: Iterable[np.ndarray]) -> None:
        """Keep one record, to be counted with its reverse complement before each record that is read."""
        self._trained.extend([*pieces, np.full(1, 4, np.uint8)])

    def bits(self, records: Sequence[np.ndarray]) -> list[np.ndarray]:
        """-log2 p of each base of each record (N,) given those before it in the record: float32, NaN where the letter
        is not scored.

        Every record starts from the training records alone. Memory is some 350 bytes a base of all records together.

        Raises:
            ConfigError: training records and records have more than 2^25 letters.
        """
        parts = [np.concatenate([np.zeros(0, np.uint8), *self._trained])]
        for record in records:
            parts += [record, np.full(1, 4, np.uint8)]  # no word spans two records
        codes = np.concatenate(parts)
        require(len(codes) <= MAX_BASES, "bases", len(codes), f"{MAX_BASES:,} at most")
        ends = np.cumsum([len(parts[0]), *(len(record) + 1 for record in records)])
        owner = np.repeat(np.arange(len(ends), dtype=np.uint16), np.diff(ends, prepend=0))
        asked = np.flatnonzero((codes < 4) & (owner > 0))
        starts = np.searchsorted(asked, ends)  # of the bases that are scored, the first of each record
        joint, weights = np.full((2, len(asked)), -np.inf)  # logarithms
        for order, words in _words(codes, max(self.orders)):
            if order in self.orders:
                log_p = _log_p(words, owner, order)[asked]
                weight = np.concatenate([_filtered(part, self.memory) for part in np.split(log_p, starts)])
                np.logaddexp(weights, weight, out=weights)
                np.logaddexp(joint, weight + log_p, out=joint)
        bits = np.full(len(codes), np.nan, np.float32)
        bits[asked] = (weights - joint) / np.log(2)
        return [bits[end - len(record) - 1 : end - 1] for record, end in zip(records, ends[1:], strict=True)]


class Words(NamedTuple):
    """Words of one length that stand in the text."""

    at: np.ndarray
    """(M,) place of the last base of each."""
    forward: np.ndarray
    """(M,) uint64: two bits a base, the last base lowest."""
    turned: np.ndarray
    """(M,) their reverse complements."""


def _words(codes: np.ndarray, longest: int) -> Iterator[tuple[int, Words]]:
    """For each order up to the longest, all words of one base more without an unknown letter."""
    place = np.arange(len(codes))
    run = place - np.maximum.accumulate(np.where(codes > 3, place, -1))  # known letters up to each
    forward, turned = np.zeros((2, len(codes)), np.uint64)
    base = codes.astype(np.uint64) & np.uint64(3)
    for order in range(longest + 1):
        first = base[: max(len(base) - order, 0)]
        forward[order:] |= first << np.uint64(2 * order)
        turned <<= np.uint64(2)
        turned[order:] |= np.uint64(3) - first
        at = np.flatnonzero(run > order)
        yield order, Words(at, forward[at], turned[at])


def _log_p(words: Words, owner: np.ndarray, order: int) -> np.ndarray:
    """(N,) log p of each base by one order.

    What is counted is sorted by context, then by when it was read. In a context, the records stand one after another,
    the training records first, and running sums over each base tell what was read before.
    """
    log_p = np.full(len(owner), np.log(0.25))
    if not len(words.at):
        return log_p
    low = (2 * len(owner)).bit_length()  # bits of an event's time: 2 i for a word that ends at i, 2 i + 1 if turned
    events = np.empty(2 * len(words.at), np.uint64)
    for side, found in enumerate((words.forward, words.turned)):
        time = (2 * words.at + side).astype(np.uint64)
        events[side::2] = (found >> np.uint64(2)) << np.uint64(low + 2) | time << np.uint64(2) | found & np.uint64(3)
    events.sort()
    base = (events & np.uint64(3)).astype(np.uint8)
    time = (events >> np.uint64(2) & np.uint64((1 << low) - 1)).astype(np.int64)
    context = events >> np.uint64(low + 2)
    of = owner[time >> 1]
    new_context = np.concatenate([[True], context[1:] != context[:-1]])
    new = new_context | np.concatenate([[True], of[1:] != of[:-1]])
    starts = np.flatnonzero(new)  # of groups: events of one context in one record
    group = np.cumsum(new, dtype=np.int32) - 1
    first = np.maximum.accumulate(np.where(new_context[starts], np.arange(len(starts)), 0))  # group of the context
    trained = of[starts[first]] == 0
    at = np.flatnonzero((time & 1 == 0) & (of > 0))
    mine, wanted = group[at], base[at]
    count, seen = np.zeros(len(at)), np.zeros(len(at))
    for letter in range(4):
        before = np.concatenate([[0], np.cumsum(base == letter, dtype=np.int32)])
        size = np.diff(before[starts], append=before[-1])
        offset = np.where(trained, size[first], 0) - before[starts]
        here = before[at] + offset[mine]
        seen += here
        np.copyto(count, here, where=wanted == letter)
    alpha = ALPHA if order < LONG else ALPHA_LONG
    log_p[time[at] >> 1] = np.log((count + alpha) / (seen + 4 * alpha))
    return log_p


def _filtered(log_p: np.ndarray, memory: float) -> np.ndarray:
    """(N,) y_0 = 0, y_t = memory (y_{t-1}) + log_p_{t-1}: the logarithm of a weight before each base."""
    n = len(log_p)
    padded = np.zeros(-(-n // STEP) * STEP)
    padded[:n] = log_p
    age = np.arange(STEP)[:, None] - np.arange(STEP)
    inside = padded.reshape(-1, STEP) @ np.where(age >= 0, memory ** np.maximum(age, 0.0), 0.0).T  # of its row alone
    kept = memory ** (np.arange(STEP) + 1.0)
    before, last = np.empty(len(inside)), 0.0
    for row, end in enumerate(inside[:, -1].tolist()):
        before[row], last = last, end + kept[-1] * last
    inside += before[:, None] * kept
    return np.concatenate([[0.0], inside.reshape(-1)])[:n]
