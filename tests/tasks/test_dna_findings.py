"""What models, a classifier and a gene finder find in a record, against plain definitions."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from dna_oracles import OneByOne, Planted, drawn, record

from longseq.errors import UsageError
from longseq.metrics.markov import AdaptiveMarkov
from longseq.results.findings import GeneFacts
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.genes import GeneFinder

# Markov models


@pytest.mark.parametrize("cuts", [[], [3], list(range(0, 150_000, 999))])
def test_nulls_are_those_of_adaptive_models(cuts):
    letters = drawn(70_000, 1, (4, 1, 1, 2)) + b"NNN" + drawn(70_000, 2).lower()
    (summary,) = summarize_records([record(letters, cuts)], window=0, surprisal=OneByOne(Planted), strands="forward")
    codes = np.array([b"ACGT".find(x) if x in b"ACGT" else 4 for x in letters.upper()], np.uint8)
    for order in (2, 6):
        (bits,) = AdaptiveMarkov(order).bits([codes])
        assert summary.row.findings.markov_bits[f"order{order}"] == pytest.approx(np.nanmean(bits.astype(float)))


def test_without_a_model_there_is_no_null():
    (summary,) = summarize_records([record(drawn(1_000))])
    assert summary.row.findings.markov_bits == {} and summary.row.findings.novelty is None


# Regions of bits


def test_regions_of_bits_are_found_at_their_places():
    letters = drawn(30_000, 3, (3, 1, 1, 3)) + drawn(20_000, 4, (1, 1, 1, 5)) + drawn(30_000, 5, (3, 1, 1, 3))
    (summary,) = summarize_records([record(letters)], window=1_000, surprisal=OneByOne(Planted), strands="forward")
    found = [region for region in summary.regions if region.kind == "bits"]
    edges = [region.interval.start for region in found] + [found[-1].interval.end]
    assert len(edges) == 4 and edges[0] == 0 and edges[-1] == 80_000
    assert abs(edges[1] - 30_000) <= 1_000 and abs(edges[2] - 50_000) <= 1_000
    table = dict(zip(b"ACGT", range(4), strict=True))
    for region in found:
        part = letters[region.interval.start : region.interval.end]
        assert region.bits == pytest.approx(np.mean([table[x] for x in part]), rel=1e-5)


def test_no_region_of_bits_where_they_do_not_change():
    (summary,) = summarize_records([record(drawn(60_000))], window=1_000, surprisal=OneByOne(Planted))
    assert [region.kind for region in summary.regions] == ["composition"]
    (unknown,) = summarize_records([record(b"N" * 9_000)], window=1_000, surprisal=OneByOne(Planted))
    assert [(region.kind, region.bits) for region in unknown.regions] == [("composition", None)]


# Genes


class Gene(SimpleNamespace):
    translation_table, partial_begin, partial_end = 11, False, False


class Stub:
    """In the place of the gene finder: two genes that overlap, and one that runs over the end."""

    trained: ClassVar[list] = []
    other = 0

    def __init__(self, meta=False):
        self.meta = meta

    def train(self, letters, translation_table):
        Stub.trained.append((len(letters), translation_table))
        self.code = translation_table

    def find_genes(self, letters):
        end = len(letters)
        if not self.meta and self.code == 4:
            return [Gene(begin=1, end=end, translation_table=4)] * Stub.other
        return [Gene(begin=1, end=10), Gene(begin=6, end=20), Gene(begin=end - 4, end=end, partial_end=True)]


def test_genes_are_counted_and_overlaps_cover_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyrodigal", SimpleNamespace(GeneFinder=Stub))
    records = [record(drawn(50), [20]), record(b""), record(drawn(200_000))]
    Stub.trained.clear()
    small, none, large = (s.row.findings.genes for s in summarize_records(records, extras=Extras(genes=GeneFinder())))
    assert (small.number, small.partial, small.coding, small.trained) == (3, 1, 50.0, False)
    assert none is None and large.trained and Stub.trained == [(200_000, 11), (200_000, 4)]
    assert (large.number, large.genetic_code) == (3, 11)
    monkeypatch.setattr(Stub, "other", 1)
    assert GeneFinder().genes(drawn(200_000)) == GeneFacts(
        number=1, coding=100.0, partial=0, genetic_code=4, trained=True
    )


def test_without_the_gene_finder_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyrodigal", None)
    with pytest.raises(UsageError, match="pip install pyrodigal"):
        GeneFinder()


def test_letters_and_bits_can_be_read_again_until_the_next_record():
    parts = [record(drawn(200_000, 14), notes={"offset": 70}), record(b"ACGT")]
    options = {"surprisal": OneByOne(Planted), "extras": Extras(letters=True, base_bits=True)}
    again = [
        (b"".join(s.letters(s.row.start, s.row.start + s.row.length)), np.concatenate(list(s.base_bits())))
        for s in summarize_records(parts, **options)
    ]
    assert again[0][0] == drawn(200_000, 14) and again[1][0] == b"ACGT"
    assert again[1][1].tolist() == [1.5] * 4  # 0 and 3, 1 and 2, of a letter and its complement
    expected = Planted().push(drawn(200_000, 14))
    assert np.array_equal(again[0][1], (expected + 3 - expected) / 2)
