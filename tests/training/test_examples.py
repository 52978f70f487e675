"""Laws of examples: passages tile their records, lane-mates and padding change nothing, whole groups are held out."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError, InputError
from longseq.log import NullProgress
from longseq.model import HeadConfig, ModelConfig, RecordModel, TokenModel
from longseq.records import Record, reverse_complement
from longseq.tokens import DnaTokenizer
from longseq.training.config import DataConfig, LabelConfig
from longseq.training.examples import BaseExamples, RecordExamples
from longseq.training.holding_out import hold_out
from longseq.training.painting import Painting
from longseq.training.records import LetterRecords
from longseq.training.store import Store, write
from longseq.training.tasks.losses import RecordLoss, TokenLoss

TOKENIZER = DnaTokenizer()
COMPLEMENT = TOKENIZER.complement(np.arange(15))
LETTERS = [
    "ACGTTGCA" * 9 + "A",
    "CCA" + "N" * 80 + "GGTACA" * 5 + "N" * 70,  # gaps that the store leaves out
    "T",
    "N" * 20,
    "ACGRYTTGACCA" * 4,
]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    found = (
        Record(id=f"r{i}", kind="dna", source="x.fa", index=i, pieces=iter([s.encode()])) for i, s in enumerate(LETTERS)
    )
    write(found, folder, TOKENIZER, NullProgress())
    return LetterRecords(Store(folder), TOKENIZER)


@pytest.fixture(scope="module")
def painting(records, tmp_path_factory):
    file = tmp_path_factory.mktemp("bed") / "x.bed"
    file.write_text("r0\t3\t20\tgene\t0\t+\nr0\t10\t15\ttrna\t0\t-\nr1\t80\t100\tgene\t0\t-\n")
    return Painting(records.ids, records.lengths, LabelConfig(file=str(file), strands=True))


def asked(records, window=16, carry=2, **options):
    which = np.arange(len(LETTERS))
    examples = RecordExamples(records, which, DataConfig(window=window, carry=carry, seed=3), 3 * window, **options)
    return examples.ask(which % 3, 1.0 + which)


def text(batch, row):
    return TOKENIZER.decode(batch.ids[row][batch.mask[row]]).decode()


def test_what_the_store_left_out_is_n_again(records):
    for i, letters in enumerate(LETTERS):
        assert TOKENIZER.decode(records.read(i, 0, len(letters))).decode() == letters
        assert (
            TOKENIZER.decode(records.read(i, len(letters) // 3, len(letters) // 2)).decode()
            == (letters[len(letters) // 3 : len(letters) // 2])
        )


@given(st.integers(1, 90), st.integers(1, 4), st.booleans())
@settings(max_examples=25, deadline=None)
def test_passages_of_an_epoch_tile_the_records(records, window, carry, whole):
    examples = asked(records, max(window, 2), carry, whole=whole)
    for epoch in range(2):
        pieces = {i: [] for i in range(len(LETTERS))}
        for number in range(epoch * examples.passages, (epoch + 1) * examples.passages):
            parts = []
            for phase in range(examples.carry):
                batch, places = examples.batch([number], phase), examples.places(number, phase)
                assert batch.mask.sum() == sum(len(place) for place in places)
                for place in places:
                    found = text(batch, 0)
                    forward = found if place.strand == "+" else reverse_complement(found.encode()).decode()
                    assert forward == LETTERS[int(place.record[1:])][place.start : place.end]
                    parts.append(place)
            ordered = parts if parts[0].strand == "+" else parts[::-1]
            assert all(a.end == b.start for a, b in itertools.pairwise(ordered))
            pieces[int(parts[0].record[1:])] += [(p.start, p.end) for p in ordered]
        for i, letters in enumerate(LETTERS):
            covered = sorted(pieces[i])
            assert covered[0][0] == 0 and covered[-1][1] == len(letters)
            assert all(a[1] == b[0] for a, b in itertools.pairwise(covered))


def test_passages_of_a_long_record_are_even_and_weigh_as_much_as_their_record(records):
    examples = asked(records)
    assert max(examples.lengths()) <= 32
    for record, letters in enumerate(LETTERS):
        numbers = [n for n in range(examples.passages) if examples.places(n, 0)[0].record == f"r{record}"]
        sizes = [sum(len(p) for k in range(examples.carry) for p in examples.places(n, k)) for n in numbers]
        assert len(numbers) == -(-len(letters) // 32) and max(sizes) - min(sizes) <= 1
        for n in numbers:
            weights = [examples.batch([n], k).weight[0] for k in range(examples.carry)]
            bare = [set(text(examples.batch([n], k), 0)) <= set("NRY") for k in range(examples.carry)]
            assert all(w == 0 for w, b in zip(weights, bare, strict=True) if b)
            if not any(bare):
                assert sum(weights) == pytest.approx(1 + record)


def test_passages_are_moved_by_distances_drawn_anew(records):
    """What is read is what stood there before, moved, as far as the record has it; nothing held out is."""
    which, config = np.arange(len(LETTERS)), DataConfig(window=16, carry=2, seed=3, shift=7)
    bounds = np.array([1, 0, 0, 2, 5]), np.array([70, 100, 1, 20, 40])
    moved, held = (
        RecordExamples(records, which, config, 48, shuffle=shuffle, bounds=bounds).ask(which % 3, 1.0 + which)
        for shuffle in (True, False)
    )

    def read(examples, number):
        places = [p for k in range(examples.carry) for p in examples.places(number, k)]
        return int(places[0].record[1:]), min(p.start for p in places), max(p.end for p in places)

    plain = sorted(read(held, n) for n in range(held.passages))
    distances = set()
    for epoch in range(40):
        found = [read(moved, epoch * moved.passages + n) for n in range(moved.passages)]
        assert found == [read(moved, epoch * moved.passages + n) for n in range(moved.passages)]
        for (record, start, end), (there, first, last) in zip(sorted(found), plain, strict=True):
            low, high = bounds[0][record], bounds[1][record]
            fits = [d for d in range(-7, 8) if (max(first + d, low), min(last + d, high)) == (start, end)]
            assert record == there and fits and start < end
            distances |= {*fits} if len(fits) == 1 else set()
    assert distances == {*range(-7, 8)}
    for number in range(moved.passages):
        weights = [moved.batch([number], k).weight[0] for k in range(moved.carry)]
        places = [moved.places(number, k) for k in range(moved.carry)]
        sizes = np.array([sum(len(p) for p in found) for found in places])
        record = read(moved, number)[0]
        wanted = (1 + record) * sizes / sizes.sum()
        assert all(w == 0 or w == pytest.approx(v) for w, v in zip(weights, wanted, strict=True))


def test_lane_mates_change_no_row(records):
    examples = asked(records)
    for phase in range(examples.carry):
        together = examples.batch(range(examples.passages), phase)
        for n in range(examples.passages):
            alone, size = examples.batch([n], phase), int(together.mask[n].sum())
            assert not together.mask[n, size:].any()
            np.testing.assert_array_equal(together.ids[n, :size], alone.ids[0, :size])
            assert (together.weight[n], together.targets[n]) == (alone.weight[0], alone.targets[0])


class Lengths:
    """Records of which nothing is known but how long they are."""

    def __init__(self, lengths):
        self.lengths, self.known, self.complement = lengths, np.ones(4, bool), None

    def read(self, record, start, end):
        return np.full(end - start, record % 4)


def test_rows_of_a_step_are_of_like_length():
    lengths = np.random.default_rng(0).integers(1, 1000, 400)
    config = DataConfig(window=500, carry=2)
    examples = RecordExamples(Lengths(lengths), np.arange(400), config, 8 * 500).ask(np.zeros(400, int), np.ones(400))
    steps = [range(at, min(at + 8, 400)) for at in range(0, 400, 8)]
    read = [examples.batch(step, phase) for step in steps for phase in range(2)]
    assert sum(batch.mask.sum() for batch in read) == lengths.sum()
    assert sum(batch.ids.size for batch in read) < 1.2 * lengths.sum()


SMALL = ModelConfig(width=8, layers=1, heads=2)
CLASSES = HeadConfig(task="classify", outputs=3)


@pytest.mark.parametrize("pooling", ["mean", "max", "last", "attention"])
def test_the_loss_of_a_batch_is_that_of_its_lanes(records, pooling):
    """Over all windows of the passages, their states carried; gradients as well."""
    examples = asked(records)
    head = HeadConfig(task="classify", outputs=3, pooling=pooling)
    loss = RecordLoss(RecordModel(SMALL, head, "abc"), smoothing=0.1).double()

    def total(numbers):
        state, summed = None, 0.0
        for phase in range(examples.carry):
            found, _, state = loss(**examples.batch(numbers, phase).on("cpu"), state=state)
            summed = summed + found
        loss.zero_grad()
        summed.backward()
        return summed.item(), torch.cat([p.grad.flatten() for p in loss.parameters() if p.grad is not None])

    numbers = range(examples.passages)
    together, alone = total(numbers), [total([n]) for n in numbers]
    assert together[0] == pytest.approx(sum(value for value, _ in alone), rel=1e-6)  # scores are float32
    wanted = sum(gradient for _, gradient in alone)
    assert float((together[1] - wanted).norm() / wanted.norm()) < 1e-6


@pytest.mark.parametrize("visibility", ["causal", "both"])
def test_the_loss_of_bases_is_that_of_their_lanes(records, painting, visibility):
    carry = 2 if visibility == "causal" else 1
    examples = BaseExamples(records, np.arange(5), DataConfig(window=16, carry=carry), 48)
    examples.ask(painting, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    config = ModelConfig(width=8, layers=1, heads=2, visibility=visibility)
    head = HeadConfig(task="annotate", outputs=5)
    loss = TokenLoss(TokenModel(config, head, "abcde", torch.from_numpy(COMPLEMENT).long())).double()

    def total(numbers):
        state, summed = None, 0.0
        for phase in range(examples.carry):
            found, weight, state = loss(**examples.batch(numbers, phase).on("cpu"), state=state)
            assert weight == examples.batch(numbers, phase).weight.sum()
            summed += found.item()
        return summed

    numbers = range(examples.passages)
    assert total(numbers) == pytest.approx(sum(total([n]) for n in numbers), rel=1e-5)


def test_classes_of_bases_by_hand(records, painting):
    assert painting.names == ("background", "gene+", "gene-", "trna+", "trna-")
    wanted = np.zeros(73, int)
    wanted[3:20], wanted[10:15] = 1, 4
    np.testing.assert_array_equal(painting.classes(0, 0, 73), wanted)
    np.testing.assert_array_equal(painting.classes(0, 7, 12), wanted[7:12])
    assert painting.counts([(0, 0, 73), (1, 0, 183)]).tolist() == [73 - 17 + 183 - 20, 12, 20, 0, 5]
    examples = BaseExamples(records, np.array([0]), DataConfig(window=80, seed=1), 80).ask(painting, np.ones(5))
    strands = set()
    for number in range(8):
        batch, (place,) = examples.batch([number], 0), examples.places(number, 0)
        mirrored = np.array([0, 2, 1, 4, 3])[wanted[::-1]]
        np.testing.assert_array_equal(batch.targets[0], wanted if place.strand == "+" else mirrored)
        strands.add(place.strand)
    assert strands == {"+", "-"}


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 2)), min_size=1, max_size=60), st.integers(0, 5))
@settings(deadline=None)
def test_groups_are_held_out_whole_and_classes_alike(rows, seed):
    group, stratum = (np.array(column) for column in zip(*rows, strict=True))
    groups = [str(i) for i in range(12)]
    size = np.ones(len(rows))
    held = hold_out(group, groups, size, stratum, share=0.25, named=(), seed=seed)
    for g in set(group.tolist()):
        assert len(set(held[group == g].tolist())) == 1
    for s in set(stratum.tolist()):
        there = stratum == s
        smallest = min(int((there & (group == g)).sum()) for g in set(group[there].tolist()))
        assert (held & there).sum() <= max(0.25 * there.sum(), smallest)
        assert (there & ~held).any()


def test_records_of_their_own_are_held_out_to_the_share():
    stratum = np.repeat([0, 1, 2], [40, 20, 4])
    names = [str(i) for i in range(64)]
    held = hold_out(np.arange(64), names, np.ones(64), stratum, share=0.25, named=(), seed=0)
    assert np.bincount(stratum[held]).tolist() == [10, 5, 1]
    assert not hold_out(np.arange(64), names, np.ones(64), stratum, share=0.0, named=(), seed=0).any()
    named = hold_out(np.arange(64), names, np.ones(64), stratum, share=0.25, named=("7", "9"), seed=0)
    assert np.flatnonzero(named).tolist() == [7, 9]
    with pytest.raises(ConfigError, match=r"data\.held_out_groups: expected groups \(0, 1, .*\), found 'x'"):
        hold_out(np.arange(64), names, np.ones(64), stratum, share=0.25, named=("x",), seed=0)
    with pytest.raises(InputError, match="some records left to learn from"):
        hold_out(np.zeros(3, int), ["a"], np.ones(3), np.zeros(3, int), share=0.25, named=("a",), seed=0)
