"""Of many records few are kept: the longest ones, an even choice of windows, and the directions in which those vary."""

import random
from dataclasses import replace

import numpy as np

from longseq.records import Record
from longseq.report.gathered.lengths import Lengths
from longseq.report.gathered.longest import Longest
from longseq.report.gathered.vector_map import VectorMap
from longseq.results.findings import VectorBlock, WindowVectors
from longseq.tasks.summarize.dna import summarize_records

LENGTHS = [900, 5000, 250, 0, 5000, 1300, 7000, 40]


def summaries(lengths, window=100):
    made = random.Random(1)
    records = [
        Record(id=f"r{i}", kind="dna", source="a.fa", index=i, pieces=["".join(made.choices("ACGT", k=n)).encode()])
        for i, n in enumerate(lengths)
    ]
    yield from summarize_records(records, window=window)


def test_the_longest_are_kept_with_what_their_windows_say():
    sink = Longest(3, ("gc", "bits"), most=20)
    for summary in summaries(LENGTHS):
        sink.dna(summary)
    kept = sink.records()
    assert [found.summary.row.id for found in kept] == ["r6", "r1", "r4"]
    assert sink.seen == 6  # of three windows or more
    first = kept[0]
    assert list(first.tracks) == ["gc"] and first.windows == 70 and len(first.tracks["gc"].start) == 18
    assert first.summary.windows is None and first.skew[0][-1] == 7000 and abs(first.skew[1][-1]) < 1e-9


def test_windows_are_kept_as_they_are_while_there_is_room():
    """As all records at once would say: the three longest have 70, 50 and 50 windows."""
    for room, bins in ((170, [70, 50, 50]), (169, [18, 17, 17])):
        sink = Longest(3, ("gc",), most=20, room=room)
        for summary in summaries(LENGTHS):
            sink.dna(summary)
        assert [len(found.tracks["gc"].start) for found in sink.records()] == bins
        assert [len(found.skew[0]) for found in sink.records()] == bins
        assert all(found.skew[0][-1] == found.summary.row.length for found in sink.records())


def test_a_window_of_few_letters_has_no_value():
    sink = Longest(1, ("gc",), most=20)
    for summary in summaries([1010]):
        sink.dna(summary)
    assert np.isnan(sink.records()[0].tracks["gc"].mean).tolist() == [False] * 10 + [True]


def test_lengths_and_gc_of_every_record():
    sink, wanted = Lengths(), []
    for summary in summaries(LENGTHS):
        sink.dna(summary)
        wanted.append(summary.row.gc)
    assert sink.lengths.tolist() == LENGTHS and not sink.sources.any()
    np.testing.assert_array_equal(sink.gc, np.array(wanted, float))


def test_the_map_shows_the_two_widest_directions():
    rng = np.random.default_rng(0)
    scales = np.array([1.0, 5.0, 0.5, 3.0])
    vectors = (rng.normal(size=(4000, 4)) * scales + 7).astype(np.float32)
    vectors[5] = np.nan  # a window of N
    sink = VectorMap(most=1000)
    for part in np.split(vectors, 8):
        sink.dna(with_vectors(part))
    points = sink.points()
    assert points is not None and (points.end - points.start == 100).all() and set(points.records) == set(range(8))
    assert points.all == 3999 and 500 < len(points.places) <= 1000
    known = np.delete(vectors, 5, 0).astype(float)
    _, singular, axes = np.linalg.svd(known - known.mean(0), full_matrices=False)
    np.testing.assert_allclose(points.shares, 100 * (singular**2 / (singular**2).sum())[:2], rtol=1e-6)
    chosen = known[:: round(3999 / len(points.places))] - known.mean(0)
    np.testing.assert_allclose(np.abs(points.places), np.abs(chosen @ axes[:2].T), atol=1e-6)


def test_no_map_of_windows_that_are_all_alike():
    sink = VectorMap(most=10)
    sink.dna(with_vectors(np.full((8, 3), 0.25, np.float32)))
    assert sink.points() is None


def with_vectors(vectors):
    summary = next(summaries([100 * len(vectors)]))
    windows = summary.windows
    block = VectorBlock(windows.start, windows.end, vectors)
    found = WindowVectors(strand="+", layer="last", model="m", width=vectors.shape[1], blocks=lambda: iter([block]))
    return replace(summary, vectors=found)
