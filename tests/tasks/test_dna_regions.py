"""Regions and cumulative skew: exact cuts, known truths, and nothing found where there is nothing."""

import gzip
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from Bio import SeqIO
from dna_oracles import record

from longseq.tasks.summarize import regions
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.skew import cumulative_skew

DATA = Path(__file__).parents[2] / "data"


def random_dna(rng: np.random.Generator, length: int, gc: float, skew: float = 0.0) -> bytes:
    g, c = gc * (1 + skew) / 2, gc * (1 - skew) / 2
    return rng.choice(np.frombuffer(b"ACGT", np.uint8), length, p=[(1 - gc) / 2, c, g, (1 - gc) / 2]).tobytes()


def cost(series: np.ndarray, weight: np.ndarray, cuts: tuple[int, ...], penalty: float) -> float:
    total = penalty * len(cuts)
    for first, last in pairwise([0, *cuts, series.shape[1]]):
        part, w = series[:, first:last], weight[first:last]
        mean = (part * w).sum(axis=1, keepdims=True) / w.sum()
        total += float((w * (part - mean) ** 2).sum())
    return total


@pytest.mark.parametrize("seed", range(12))
def test_the_cuts_are_the_cheapest_of_all(seed, monkeypatch):
    monkeypatch.setattr(regions, "PRUNE", 2)
    rng = np.random.default_rng(seed)
    series = rng.normal(size=(2, 13)) + 3 * (rng.random((2, 13)) < 0.3)
    weight = rng.uniform(0.2, 1, 13)
    penalty = 2.0
    everything = [c for k in range(7) for c in combinations(range(2, 12), k)]
    allowed = [c for c in everything if all(b - a >= 2 for a, b in pairwise(c))]
    cheapest = min(cost(series, weight, c, penalty) for c in allowed)
    found = regions._partition(series, weight, penalty)
    assert cost(series, weight, tuple(found), penalty) == pytest.approx(cheapest, abs=1e-9)


def test_pruning_changes_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    series = rng.normal(size=(2, 400)) + np.repeat(rng.normal(size=(2, 8)) * 2, 50, axis=1)
    pruned = regions._partition(series, np.ones(400), 20.0)
    monkeypatch.setattr(regions, "PRUNE", 10**9)
    assert pruned == regions._partition(series, np.ones(400), 20.0) and len(pruned) > 2


def test_a_plasmid_in_a_chromosome_is_found_within_a_window():
    rng = np.random.default_rng(0)
    letters = random_dna(rng, 403_000, 0.5) + random_dna(rng, 60_000, 0.42) + random_dna(rng, 337_000, 0.5)
    (summary,) = summarize_records([record(letters)])
    edges = [r.interval.end for r in summary.regions]
    assert len(edges) == 3
    assert abs(edges[0] - 403_000) <= 10_000 and abs(edges[1] - 463_000) <= 10_000


def test_random_sequence_is_one_region():
    for seed in range(5):
        letters = random_dna(np.random.default_rng(seed), 500_000, 0.4, 0.1)
        (summary,) = summarize_records([record(letters)])
        assert len(summary.regions) == 1


def test_regions_tile_the_record_and_count_their_letters():
    letters = b"N" * 3_000 + b"AT" * 2_500 + b"GC" * 2_500 + b"N" * 1_050
    (summary,) = summarize_records([record(letters)], window=500)
    edges = [summary.regions[0].interval.start, *(r.interval.end for r in summary.regions)]
    assert edges == [0, 8_000, len(letters)]
    assert [r.gc for r in summary.regions] == [0.0, 100.0]
    assert all(a.interval.end == b.interval.start for a, b in pairwise(summary.regions))


def test_records_without_bases_have_one_region_without_gc():
    empty, unknown = summarize_records([record(b""), record(b"N" * 5_000)], window=500)
    assert empty.regions == ()
    assert [(len(r.interval), r.gc, r.gc_skew) for r in unknown.regions] == [(5_000, None, None)]


def test_chloroplast_shows_its_inverted_repeats():
    """RefSeq: large single copy to 84,170, inverted repeats to 110,433 and from 128,215."""
    with gzip.open(DATA / "chloroplast.gb.gz", "rt") as file:
        whole = SeqIO.read(file, "genbank")
    (summary,) = summarize_records([record(bytes(whole.seq), topology="circular")])
    edges = [r.interval.end for r in summary.regions]
    for known in (84_170, 110_433, 128_214):
        assert min(abs(edge - known) for edge in edges) <= 10_000


def replichores(origin: int = 700_000, length: int = 1_000_000) -> bytes:
    rng = np.random.default_rng(1)
    half = length // 2
    circle = random_dna(rng, half, 0.5, 0.06) + random_dna(rng, half, 0.5, -0.06)  # leading strand first
    return circle[-origin:] + circle[:-origin]


def test_cumulative_skew_finds_origin_and_terminus():
    (summary,) = summarize_records([record(replichores(), topology="circular")])
    skew = summary.row.skew
    assert skew.p == 1 / 200 and skew.amplitude > 2 * skew.null_mean
    assert abs(skew.lowest - 700_000) <= 10_000 and abs(skew.highest - 200_000) <= 10_000


def test_amplitude_does_not_depend_on_where_a_circle_was_opened():
    letters = replichores()
    turned = letters[250_000:] + letters[:250_000]
    first, second = (s.row.skew.amplitude for s in summarize_records([record(letters), record(turned)]))
    assert first == pytest.approx(second, rel=1e-9)


def test_no_skew_without_a_reason():
    long = random_dna(np.random.default_rng(2), 300_000, 0.5)
    assert next(summarize_records([record(long)])).row.skew.p > 0.01
    short = long[:90_000]
    assert next(summarize_records([record(short)])).row.skew is None
    assert next(summarize_records([record(short, topology="circular")])).row.skew is not None
    part = record(short, topology="circular", notes={"offset": 0})
    assert next(summarize_records([part])).row.skew is None
    assert next(summarize_records([record(b"N" * 200_000)])).row.skew is None
    nothing = np.zeros((50, 4), np.int32)
    assert cumulative_skew(nothing, start=0, window=10_000, length=500_000, circular=False) is None


def test_very_many_windows_are_joined(monkeypatch):
    monkeypatch.setattr(regions, "MOST", 20)
    rng = np.random.default_rng(4)
    letters = random_dna(rng, 30_000, 0.3) + random_dna(rng, 30_000, 0.7)
    (summary,) = summarize_records([record(letters)], window=1_000)
    assert [r.interval.end for r in summary.regions] == [30_000, 60_000]


def chained(seed: int, length: int, turn: float) -> bytes:
    """Bases of equal frequency in which a base is followed by itself more often, or less, than by chance."""
    rng = np.random.default_rng(seed)
    stays = rng.random(length) < 0.25 + turn
    steps = np.where(stays, 0, rng.integers(1, 4, length))
    return np.frombuffer(b"ACGT", np.uint8)[np.cumsum(steps) % 4].tobytes()


@pytest.mark.parametrize("place", [403_000, 250_000])
def test_a_plasmid_of_the_same_gc_is_found_by_its_pairs_of_bases(place):
    letters = chained(0, place, 0.0) + chained(1, 50_000, 0.03) + chained(2, 800_000 - place, 0.0)
    (summary,) = summarize_records([record(letters)])
    edges = [r.interval.end for r in summary.regions]
    assert len(edges) == 3 and all(abs(r.gc - 50) < 1 for r in summary.regions)
    assert abs(edges[0] - place) <= 10_000 and abs(edges[1] - place - 50_000) <= 10_000


def test_a_long_random_sequence_is_one_region():
    for seed in range(5):
        (summary,) = summarize_records([record(random_dna(np.random.default_rng(seed), 900_000, 0.4))])
        assert len(summary.regions) == 1
