"""What models, a classifier and a gene finder find in a record, against plain definitions."""

import random
import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch
from dna_oracles import OneByOne, record

from longseq.errors import CheckpointError, InputError, UsageError
from longseq.metrics.markov import AdaptiveMarkov
from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, load, save
from longseq.model.calibration import Calibration, write_calibration
from longseq.model.range import TrainingRange, read_range, write_range
from longseq.results.findings import GeneFacts, VectorBlock
from longseq.streaming import Surprisal
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify import Answers, Request, classified
from longseq.tasks.sources import Source
from longseq.tasks.summarize.classes import Classifier
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.genes import GeneFinder
from longseq.tasks.summarize.hidden import representatives
from longseq.tasks.summarize.novelty import measure_range, novelty
from longseq.tokens import DnaTokenizer


def drawn(length: int, seed: int = 0, weights=(1, 1, 1, 1)) -> bytes:
    return "".join(random.Random(seed).choices("ACGT", weights, k=length)).encode()


class Planted:
    """Bits are the letter's own: 0 for A, 1 for C, 2 for G, 3 for T."""

    def push(self, letters: bytes) -> np.ndarray:
        table = np.full(256, np.nan, np.float32)
        table[list(b"ACGT")] = range(4)
        return table[np.frombuffer(letters, np.uint8)]

    def finish(self) -> np.ndarray:
        return np.zeros(0, np.float32)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    save(folder, LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return load(folder)


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


# Vectors and who stands for whom


@pytest.mark.parametrize("strands", ["forward", "both"])
def test_vectors_are_means_of_hidden_states(tiny, strands):
    long, short = drawn(8_600, 6) + b"N" * 700 + drawn(900, 7), drawn(450, 8)
    records, got = [record(long, list(range(0, 10_000, 777)), id="long"), record(short, id="short")], []
    for summary in summarize_records(
        records, window=500, surprisal=Surprisal(tiny), strands=strands, extras=Extras(vectors=True)
    ):
        got += [(summary.row.id, *one) for block in summary.vectors.blocks() for one in zip(*block, strict=True)]

    def hidden(letters):
        ids = torch.from_numpy(tiny.tokenizer.encode(letters)[0].astype(np.int64))[None]
        with torch.no_grad():
            return tiny.model.encoder(ids)[0][0].numpy()

    def complement(letters):
        return letters[::-1].translate(bytes.maketrans(b"ACGTN", b"TGCAN"))

    for name, letters in (("long", long), ("short", short)):
        read = [hidden(letters)]
        if strands == "both":
            read.append(hidden(complement(letters))[::-1])
        places = [s for s in range(0, len(letters), 500) if sum(x != 78 for x in letters[s : s + 500]) >= 250]
        assert [int(start) for of, start, _, _ in got if of == name] == places
        for _, start, end, vector in (one for one in got if one[0] == name):
            known = np.array([x != 78 for x in letters[start:end]])
            mean = np.mean([part[start:end][known].mean(axis=0) for part in read], axis=0)
            assert np.abs(vector - mean).max() < 1e-5


def test_representatives_are_the_middles_of_the_kinds():
    chance = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], [60, 30, 10])
    vectors = (np.eye(3)[kinds] * 20 + chance.normal(size=(100, 3))).astype(np.float32)
    start = 100 * np.arange(100)

    def blocks():
        for first in range(0, 100, 33):
            part = slice(first, first + 33)
            yield VectorBlock(start[part], start[part] + 100, vectors[part])

    found = representatives(blocks, 100, 3)
    assert [one.share for one in found] == [0.6, 0.3, 0.1]
    assert [kinds[one.start // 100] for one in found] == [0, 1, 2] and all(one.end == one.start + 100 for one in found)
    assert representatives(blocks, 7, 3) == ()


def test_equal_windows_have_one_representative():
    blocks = lambda: iter([VectorBlock(np.arange(9), np.arange(9) + 1, np.ones((9, 4), np.float32))])  # noqa: E731
    assert [one.share for one in representatives(blocks, 9, 3)] == [1.0]


# The range a model was tried on

KNOWN = TrainingRange(window=1_000, windows=50, quantiles=(0.005, 0.995), gc=(40, 60), bits=(1.8, 2.0), of="test")


def windows_of(gc: float, bits: float, count: int = 20, size: int = 1_000):
    strong = round(size * gc / 200)
    return np.tile([size // 2 - strong, strong, strong, size // 2 - strong], (count, 1)), np.full(count, bits)


@pytest.mark.parametrize(
    ("gc", "bits", "flag"), [(50, 1.9, "in range"), (70, 1.9, "out of range"), (50, 2.2, "out of range")]
)
def test_novelty_is_told_by_gc_and_bits(gc, bits, flag):
    for size in (1_000, 100):
        assert novelty(*windows_of(gc, bits, 20, size), size, KNOWN) == (flag, float(flag == "out of range"))


def test_novelty_is_unknown_without_a_range_or_a_window():
    assert novelty(*windows_of(50, 1.9), 1_000, None) == ("unknown", None)
    assert novelty(*windows_of(50, np.nan), 1_000, KNOWN) == ("unknown", None)
    assert novelty(np.zeros((0, 4)), np.zeros(0), 1_000, KNOWN) == ("unknown", None)


def test_a_measured_range_holds_what_it_was_measured_on_and_stays_with_its_weights(tiny, tmp_path, caplog):
    surprisal = Surprisal(tiny)
    found = measure_range(surprisal, [record(drawn(30_000, 9))], of="random", window=500, last=0.5)
    assert found.windows == 30 and found.gc[0] < 50 < found.gc[1] and found.bits[0] < found.bits[1]
    write_range(tmp_path, found, tiny.sha256)
    assert read_range(tmp_path, tiny.sha256) == found and read_range(tmp_path / "none", "") is None
    assert read_range(tmp_path, "other") is None and "other weights" in caplog.text
    options = {"window": 500, "surprisal": surprisal, "extras": Extras(training_range=found)}
    same, other = summarize_records([record(drawn(8_000, 10)), record(b"AC" * 4_000)], **options)
    assert same.row.findings.novelty == "in range" and other.row.findings.novelty == "out of range"
    (tmp_path / "range.json").write_text('{"model_sha256": "x", "window": 0}')
    with pytest.raises(CheckpointError, match="training range"):
        read_range(tmp_path, "x")
    with pytest.raises(InputError, match="20 windows"):
        measure_range(surprisal, [record(drawn(3_000))], of="few", window=500)


# Classes


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    """A head over poor and rich in G and C; its encoder as it was born, its weights a difference of class means."""
    folder = tmp_path_factory.mktemp("head") / "m"
    model = RecordModel(
        ModelConfig(width=16, heads=2, layers=1), HeadConfig(task="classify", outputs=2), ("poor", "rich")
    )
    with torch.no_grad():
        means = []
        for weights in ((4, 1, 1, 4), (1, 4, 4, 1)):
            ids = DnaTokenizer().encode(drawn(20_000, 11, weights))[0].astype(np.int64)
            means.append(model.encoder(torch.from_numpy(ids)[None])[0][0].mean(0))
        gap = means[1] - means[0]
        scale = 8 / (gap @ gap)
        model.head.score.weight.copy_(torch.stack([-gap, gap]) * scale)
        middle = (means[0] + means[1]) / 2 @ gap * scale
        model.head.score.bias.copy_(torch.stack([middle, -middle]))
    save(folder, model, DnaTokenizer())
    return load(folder)


def test_classes_and_their_changes_are_those_of_classify(head, tmp_path):
    poor, rich = drawn(9_000, 12, (4, 1, 1, 4)), drawn(7_000, 13, (1, 4, 4, 1))
    records = {"both": poor + rich, "rich": rich[:300], "empty": b""}
    options = {"extras": Extras(classifier=Classifier(HiddenReader(head)))}
    found = [s.row.findings.classes for s in summarize_records([record(x) for x in records.values()], **options)]
    file = tmp_path / "x.fa"
    file.write_bytes(b"".join(b">%s\n%s\n" % (name.encode(), x) for name, x in records.items()))
    told = list(classified(Request(inputs=(str(file),)), HiddenReader(head), [Source(str(file))]))
    answers = Answers(head.model, None)
    for one, other in zip(found[:2], told[:2], strict=True):
        assert list(one.probabilities.values()) == pytest.approx(answers.values(other.scores).tolist(), abs=1e-6)
        assert one.label == answers.verdict(other.scores) and not one.calibrated
    first, second = found[0].regions
    assert (first.label, second.label, first.start, second.end) == ("poor", "rich", 0, 16_000)
    assert abs(first.end - 9_000) <= 2_048 and first.end == second.start
    assert found[2] is None and found[1].label == "rich"


def test_a_calibrated_head_may_say_unknown(head, tmp_path):
    folder = tmp_path / "m"
    save(folder, head.model, DnaTokenizer())
    checkpoint = load(folder)
    write_calibration(folder, Calibration(temperature=2.0, in_range_above=1e9, records=9), checkpoint.sha256)
    extras = Extras(classifier=Classifier(HiddenReader(checkpoint)))
    (summary,) = summarize_records([record(drawn(500))], extras=extras)
    assert summary.row.findings.classes.label == "unknown" and summary.row.findings.classes.calibrated


def test_a_model_that_does_not_classify_is_refused(tiny):
    with pytest.raises(UsageError, match="longseq train"):
        Classifier(HiddenReader(tiny))


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
