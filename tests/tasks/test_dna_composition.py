"""Counts, gaps, digests and qualities against plain definitions."""

import base64
import hashlib
import itertools
import math
from dataclasses import asdict

import numpy as np
import pytest
from dna_oracles import dna, gaps, plain
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import AlphabetError, InputError
from longseq.tasks.summarize.composition import CompositionCounter
from longseq.tasks.summarize.lengths import length_statistics
from longseq.tasks.summarize.quality import summarize_quality

LETTERS = dna("ACGTacgtnNNNNNNNNURYSWKMBDHVuryswkmbdhv", 400)


def count(letters: bytes, *cuts: int):
    counter = CompositionCounter()
    edges = [0, *sorted(cuts), len(letters)]
    for a, b in itertools.pairwise(edges):
        counter.push(letters[a:b])
    return counter.finish()


@given(LETTERS, st.lists(st.integers(0, 400), max_size=6))
def test_composition_is_that_of_the_whole_text_for_any_cuts(letters, cuts):
    text = plain(letters)
    found = count(letters, *[c for c in cuts if c <= len(letters)])
    assert found.length == len(text)
    assert found.letters == {code: text.count(code) for code in "ACGTRYSWKMBDHVN" if code in text}
    assert found.lower == sum(chr(c).islower() for c in letters)
    assert (found.gaps, found.longest_gap) == (len(gaps(text)), max(gaps(text), default=0))
    digest = base64.urlsafe_b64encode(hashlib.sha512(text.encode()).digest()[:24]).decode()
    assert found.digest == f"SQ.{digest}"


def test_a_gap_longer_than_a_slice_is_one_gap():
    found = count(b"A" + b"N" * 300_000 + b"C" + b"n" * 5, 150_000)
    assert (found.gaps, found.longest_gap) == (2, 300_000)


def test_digest_is_the_published_one():
    """The example of the GA4GH refget specification: ACGT."""
    assert count(b"acgt").digest == "SQ.aKF498dAxcJAqme6QYQ7EZ07-fiw8Kw2"


@pytest.mark.parametrize("letters", [b"ACGTX", b"AC-GT", b"AC GT", b"ac*", b"AC@", b"1"])
def test_other_letters_are_refused(letters):
    with pytest.raises(AlphabetError):
        count(letters)


def test_qualities_follow_their_definitions():
    scores = [0, 10, 19, 20, 29, 30, 40, 93]
    found = summarize_quality(bytes(33 + q for q in scores), "r")
    assert (found.q20_bases, found.q30_bases) == (5, 3)
    assert found.expected_errors == pytest.approx(sum(10 ** (-q / 10) for q in scores))
    with pytest.raises(InputError, match=r"Phred\+33"):
        summarize_quality(b"II I", "r")


def slow_nx(lengths: list[int], percent: int) -> tuple[int, int]:
    reached = 0
    for taken, length in enumerate(sorted(lengths, reverse=True), 1):
        reached += length
        if reached * 100 >= percent * sum(lengths):
            return length, taken
    raise AssertionError


def median(values: list[int]) -> float:
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60))
def test_length_statistics_follow_their_definitions(lengths):
    found = length_statistics(np.array(lengths))
    ordered, half = sorted(lengths), (len(lengths) + 1) // 2
    assert (found.num_seqs, found.sum_len) == (len(lengths), sum(lengths))
    assert (found.min_len, found.max_len) == (ordered[0], ordered[-1])
    assert found.avg_len == pytest.approx(sum(lengths) / len(lengths))
    assert (found.q1, found.q2, found.q3) == (median(ordered[:half]), median(ordered), median(ordered[-half:]))
    assert (found.n50, found.l50) == slow_nx(lengths, 50)
    assert (found.n90, found.l90) == slow_nx(lengths, 90)
    if sum(lengths):
        assert found.au_n == pytest.approx(sum(n * n for n in lengths) / sum(lengths))


def test_statistics_of_nothing_are_empty_and_long_records_do_not_overflow():
    sums = [f"{what}{least}" for least in ("", "_500", "_1000") for what in ("num_seqs", "sum_len")]
    nothing = asdict(length_statistics(np.zeros(0, np.int64)))
    assert [nothing.pop(name) for name in sums] == [0] * 6 and set(nothing.values()) == {None}
    assert length_statistics(np.array([3_000_000_000] * 3)).au_n == pytest.approx(3e9)
    assert math.isclose(length_statistics(np.array([3_000_000_000] * 2000)).au_n, 3e9)
