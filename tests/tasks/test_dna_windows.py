"""Windows against plain definitions, and against Biopython on a real genome."""

import gzip
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from Bio import SeqIO
from Bio.SeqUtils import GC_skew, gc_fraction
from dna_oracles import divide, dna, dust_tiles, plain, record, shannon, words
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.windows import LOW

DATA = Path(__file__).parents[2] / "data"
ANY = st.one_of(dna("ACGTACGTacgtNNnUuRYk", 1500), dna("ACGTACGTACGTACGTACGTN", 1500), dna("ACGT", 1500))
REPEATS = st.builds(lambda unit, n: (unit * n)[:900], st.text("ACGTN", min_size=1, max_size=5), st.integers(50, 300))


def expected_window(letters: bytes) -> dict[str, float]:
    text = plain(letters)
    a, c, g, t = (text.count(base) for base in "ACGT")
    tiles = dust_tiles(text)
    triplets = sum(n for n, _ in tiles)
    figures = {
        "gc": 100 * divide(g + c, a + c + g + t),
        "gc_skew": divide(g - c, g + c),
        "at_skew": divide(a - t, a + t),
        "entropy": shannon(base for base in text if base in "ACGT"),
        "entropy_triplet": shannon(words(text, 3)),
        "cpg": divide(text.count("CG") * (a + c + g + t), c * g),
        "dust": divide(sum(n * score for n, score in tiles), triplets),
        "low_complexity": 100 * divide(sum(n for n, score in tiles if score > LOW), triplets),
        "softmask": 100 * divide(sum(chr(x).islower() for x in letters), len(letters)),
    }
    if a + c + g + t == 0:
        figures = dict.fromkeys(figures, math.nan)
    return {"a": a, "c": c, "g": g, "t": t, "n": text.count("N"), **figures}


@settings(max_examples=60)
@given(st.one_of(ANY, REPEATS.map(str.encode)), st.lists(st.integers(0, 1500), max_size=5), st.integers(100, 700))
def test_windows_follow_their_definitions_for_any_cuts(letters, cuts, window):
    (summary,) = summarize_records([record(letters, cuts)], window=window)
    rows = list(summary.windows.rows())
    assert [(r["start"], r["end"]) for r in rows] == [
        (s, min(s + window, len(letters))) for s in range(0, len(letters), window)
    ]
    for row in rows:
        expected = expected_window(letters[row["start"] : row["end"]])
        for name, value in expected.items():
            found = math.nan if row[name] is None else row[name]
            assert found == pytest.approx(value, rel=1e-6, abs=1e-6, nan_ok=True), name


@given(ANY, st.integers(100, 700))
def test_entropies_of_the_record_do_not_see_windows(letters, window):
    (summary,) = summarize_records([record(letters)], window=window)
    text = plain(letters)
    if not words(text, 3):
        assert summary.row.order2_bits is None
        return
    # H(xyz) - H(xy), both over the same triplets
    triplets = Counter(words(text, 3))
    pairs = Counter()
    for word, n in triplets.items():
        pairs[word[:2]] += n
    expected = shannon(triplets.elements()) - shannon(pairs.elements())
    assert summary.row.order2_bits == pytest.approx(expected, abs=1e-9)
    assert summary.row.order0_bits == pytest.approx(shannon(c for c in text if c in "ACGT"), abs=1e-9)


def test_batches_do_not_show(monkeypatch):
    letters = random.Random(0).choices(b"ACGTN", weights=[9, 9, 9, 9, 1], k=5_000)
    (whole,) = summarize_records([record(bytes(letters))], window=128)
    monkeypatch.setattr("longseq.tasks.summarize.windows.BATCH", 300)
    (batched,) = summarize_records([record(bytes(letters), list(range(0, 5_000, 11)))], window=128)
    assert batched.row == whole.row and list(batched.windows.rows()) == list(whole.windows.rows())


def test_a_window_of_n_is_not_available():
    (summary,) = summarize_records([record(b"ACGT" * 50 + b"N" * 200 + b"ACGT" * 10)], window=200)
    rows = list(summary.windows.rows())
    assert rows[1]["n"] == 200
    assert all(rows[1][name] is None for name in ("gc", "gc_skew", "entropy", "cpg", "dust", "softmask", "bits"))
    assert rows[0]["gc"] == rows[2]["gc"] == 50.0


def test_case_is_not_reported_where_it_is_no_mask():
    (summary,) = summarize_records([record(b"acgt" * 100, case_is_mask=False)], window=100)
    assert summary.row.softmask is None and summary.row.lower is None
    assert np.isnan(summary.windows.softmask).all()


def test_short_records_measured_together_equal_records_measured_alone():
    letters = [b"", b"A", b"AC", b"ACG", b"N" * 7, b"acgtnACGTU" * 9, b"CG" * 40, b"", b"GATTACA" * 14]
    together = list(summarize_records([record(x, index=i) for i, x in enumerate(letters)], window=100))
    assert [s.row.index for s in together] == list(range(len(letters)))
    for i, summary in enumerate(together):
        (alone,) = summarize_records([record(letters[i], index=i)], window=100)
        assert summary.row == alone.row and summary.regions == alone.regions
        assert list(summary.windows.rows()) == list(alone.windows.rows())


def test_windows_of_a_part_count_from_the_whole_record():
    (summary,) = summarize_records([record(b"ACGT" * 100, notes={"offset": 1000})], window=150)
    assert summary.windows.start.tolist() == [1000, 1150, 1300]
    assert summary.windows.end.tolist() == [1150, 1300, 1400]
    assert [(r.interval.start, r.interval.end) for r in summary.regions] == [(1000, 1400)]
    assert summary.row.start == 1000 and summary.row.length == 400


def test_chloroplast_windows_equal_biopython():
    with gzip.open(DATA / "chloroplast.gb.gz", "rt") as file:
        whole = SeqIO.read(file, "genbank")
    letters, cuts = bytes(whole.seq), list(range(0, 154_478, 65_536))
    (summary,) = summarize_records([record(letters, cuts, id=whole.id, case_is_mask=False)])
    row, rows = summary.row, list(summary.windows.rows())
    assert row.length == 154_478 and row.n == whole.seq.count("N") == 0
    assert row.gc == pytest.approx(100 * gc_fraction(whole.seq, "remove"))
    assert row.gc_of_length == pytest.approx(100 * gc_fraction(whole.seq, "ignore"))
    assert len(rows) == 16
    for window, skew in zip(rows, GC_skew(whole.seq, 10_000), strict=True):
        part = whole.seq[window["start"] : window["end"]]
        assert [window[base.lower()] for base in "ACGTN"] == [part.count(base) for base in "ACGTN"]
        assert window["gc"] == pytest.approx(100 * gc_fraction(part, "remove"), rel=1e-6)
        assert window["gc_skew"] == pytest.approx(skew, rel=1e-5, abs=1e-7)
