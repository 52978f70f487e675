"""Bits of a model along a record: every value at its own base, on both strands, for any cuts."""

import numpy as np
import pytest
from dna_oracles import OneByOne, dna, record
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.log import NullProgress
from longseq.tasks.summarize.dna import summarize_records


class Counting:
    """Order-0 counts of what was read, Laplace's rule; hands values out `lag` letters late."""

    def __init__(self, lag: int = 5):
        self.seen = dict.fromkeys(b"ACGT", 1)
        self.lag, self.ready = lag, []

    def push(self, letters: bytes) -> np.ndarray:
        for code in letters.upper().replace(b"U", b"T"):
            if code in self.seen:
                self.ready.append(-np.log2(self.seen[code] / sum(self.seen.values())))
                self.seen[code] += 1
            else:
                self.ready.append(np.nan)
        given, self.ready = self.ready[: -self.lag or None], self.ready[-self.lag :]
        return np.array(given, np.float32)

    def finish(self) -> np.ndarray:
        return np.array(self.ready, np.float32)


class Planted:
    """Bits are the letter's own: 0 for A, 1 for C, 2 for G, 3 for T."""

    def push(self, letters: bytes) -> np.ndarray:
        table = np.full(256, np.nan, np.float32)
        table[list(b"ACGT")] = range(4)
        return table[np.frombuffer(letters, np.uint8)]

    def finish(self) -> np.ndarray:
        return np.zeros(0, np.float32)


def complement(letters: bytes) -> bytes:
    return bytes({65: 84, 67: 71, 71: 67, 84: 65}.get(code, code) for code in reversed(letters))


def whole(letters: bytes) -> np.ndarray:
    reader = Counting()
    return np.concatenate([reader.push(letters), reader.finish()])


@settings(max_examples=40)
@given(dna("ACGTACGTN", 900), st.lists(st.integers(0, 900), max_size=4), st.integers(100, 400))
def test_each_strand_stands_at_its_own_bases(letters, cuts, window):
    (summary,) = summarize_records([record(letters, cuts)], window=window, surprisal=OneByOne(Counting))
    forward, reverse = whole(letters), whole(complement(letters))[::-1]
    for row in summary.windows.rows():
        part = slice(row["start"], row["end"])
        known = ~np.isnan(forward[part])
        if not known.any():
            assert row["bits"] is row["bits_forward"] is row["bits_reverse"] is None
            continue
        f, r = forward[part][known].mean(dtype=float), reverse[part][known].mean(dtype=float)
        assert row["bits_forward"] == pytest.approx(f, rel=1e-6)
        assert row["bits_reverse"] == pytest.approx(r, rel=1e-6)
        assert row["bits"] == pytest.approx((f + r) / 2, rel=1e-6)
    known = ~np.isnan(forward)
    if known.any():
        mean = (forward[known].mean(dtype=float) + reverse[known].mean(dtype=float)) / 2
        assert summary.row.bits_per_base == pytest.approx(mean, rel=1e-9)
    else:
        assert summary.row.bits_per_base is None


def test_cuts_do_not_move_a_bit():
    letters = np.random.default_rng(0).choice(np.frombuffer(b"ACGTN", np.uint8), 50_000).tobytes()
    (first,) = summarize_records([record(letters)], window=1_000, surprisal=OneByOne(Counting))
    (second,) = summarize_records(
        [record(letters, list(range(0, 50_000, 777)))], window=1_000, surprisal=OneByOne(Counting)
    )
    assert first.row == second.row
    assert first.windows.bits.tobytes() == second.windows.bits.tobytes()


def test_record_and_reverse_complement_mirror_each_other():
    letters = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", np.uint8), 12_000).tobytes()
    pair = [record(letters), record(complement(letters))]
    one, other = summarize_records(pair, window=1_000, surprisal=OneByOne(Counting))
    assert one.windows.bits_forward.tolist() == pytest.approx(other.windows.bits_reverse[::-1].tolist(), rel=1e-6)
    assert one.row.bits_forward == pytest.approx(other.row.bits_reverse, rel=1e-12)


def test_forward_only():
    (summary,) = summarize_records([record(b"GGAN" * 100)], window=100, surprisal=OneByOne(Planted), strands="forward")
    assert summary.row.bits_forward == summary.row.bits_per_base == pytest.approx(4 / 3)
    assert summary.row.bits_reverse is None and np.isnan(summary.windows.bits_reverse).all()
    assert summary.windows.bits.tolist() == pytest.approx([4 / 3] * 4)


def test_without_a_model_there_are_no_bits():
    (summary,) = summarize_records([record(b"ACGT" * 100)], window=100)
    assert summary.row.bits_per_base is None and summary.row.surprising == ()


def test_bits_without_windows():
    (summary,) = summarize_records([record(b"CCT" * 9_000)], window=0, surprisal=OneByOne(Planted))
    assert summary.windows is None and summary.regions == ()
    assert summary.row.bits_forward == pytest.approx(5 / 3) and summary.row.bits_reverse == pytest.approx(4 / 3)


def test_a_planted_surprise_ranks_first_at_its_place():
    letters = bytearray(b"A" * 10_050)
    letters[4_200:4_260] = b"C" * 60
    letters[7_000:7_010] = b"C" * 10
    letters[10_000:] = b"T" * 50  # surprising, but half a window is missing
    (summary,) = summarize_records(
        [record(bytes(letters))], window=200, surprisal=OneByOne(Planted), strands="forward", top=2
    )
    first, second = summary.row.surprising
    assert (first.start, first.end, first.bits) == (4_200, 4_400, pytest.approx(0.3))
    assert (second.start, second.end) == (7_000, 7_200)
    assert first.z > second.z > 0


def test_windows_that_do_not_differ_have_no_z():
    (summary,) = summarize_records([record(b"A" * 1_000)], window=100, surprisal=OneByOne(Planted), top=3)
    assert [(w.start, w.bits, w.z) for w in summary.row.surprising] == [
        (0, 1.5, None),
        (100, 1.5, None),
        (200, 1.5, None),
    ]


def test_progress_hears_of_every_base_of_every_strand():
    class Heard(NullProgress):
        total = 0

        def advance(self, amount, **facts):
            self.total += amount

    heard = Heard()
    list(summarize_records([record(b"ACGT" * 10_000), record(b"")], surprisal=OneByOne(Planted), progress=heard))
    assert heard.total == 80_000
