"""Laws of the training data: what is stored, how it is split, and that windows tile it."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError, InputError, UsageError
from longseq.log import NullProgress
from longseq.records import IUPAC, Record, reverse_complement
from longseq.tokens import DnaTokenizer
from longseq.training import renaming
from longseq.training.config import DataConfig
from longseq.training.split import split
from longseq.training.steps import Ahead, Stage, Steps
from longseq.training.store import GAP, Store, known, prepare, write
from longseq.training.windows import Windows

TOKENIZER = DnaTokenizer()


@pytest.fixture(scope="session")
def store_of(tmp_path_factory):
    def build(sequences, pieces=1):
        directory = tmp_path_factory.mktemp("store")
        records = (
            Record(
                id=f"r{i}",
                kind="dna",
                source="x.fa",
                index=i,
                pieces=iter([s[k * len(s) // pieces : (k + 1) * len(s) // pieces] for k in range(pieces)]),
            )
            for i, s in enumerate(sequences)
        )
        write(records, directory, TOKENIZER, NullProgress())
        return Store(directory)

    return build


def bases(rng, length, unknown=0.0):
    letters = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, length)].copy()
    letters[rng.random(length) < unknown] = ord("N")
    return letters.tobytes()


def stretches_of(sequence, gap):
    """Between runs of `gap` or more letters other than A, C, G, T; without such letters at either end."""
    plain = re.sub(rb"[^ACGT]", b"N", sequence.upper())
    found, at = [], 0
    for run in [*re.finditer(rb"N{%d,}" % gap, plain), None]:
        part = plain[at : run.start() if run else None]
        kept = part.strip(b"N")
        if kept:
            begin = at + len(part) - len(part.lstrip(b"N"))
            found.append((begin, begin + len(kept)))
        at = run.end() if run else at
    return found


@given(
    st.lists(st.tuples(st.sampled_from(b"ANNR"), st.integers(1, 6)), max_size=12),
    st.integers(1, 6),
    st.lists(st.integers(0, 60), max_size=5),
)
def test_stretches_end_at_runs_of_unknown_letters(runs, gap, cuts):
    sequence = b"".join(bytes([letter]) * n for letter, n in runs)
    ids, _ = TOKENIZER.encode(sequence)
    found = []
    for start, part in known(np.split(ids, sorted(min(c, len(ids)) for c in cuts)), gap):
        np.testing.assert_array_equal(part, ids[start : start + len(part)])
        first = found.pop()[0] if found and found[-1][1] == start else start
        found.append((first, start + len(part)))
    assert found == stretches_of(sequence, gap)


def test_store_gives_back_every_base(store_of):
    rng = np.random.default_rng(0)
    sequences = [bases(rng, 200_017), b"", b"acgtNN", b"N" * 200, bases(rng, 500) + b"N" * GAP + bases(rng, 30)]
    store = store_of(sequences, pieces=5)
    wanted = [(i, a, b) for i, s in enumerate(sequences) for a, b in stretches_of(s, GAP)]
    records, starts, lengths, offsets = store.stretches
    ends = starts + lengths
    assert list(zip(records.tolist(), starts.tolist(), ends.tolist(), strict=True)) == wanted
    for i, start, length, offset in zip(records, starts, lengths, offsets, strict=True):
        ids, _ = TOKENIZER.encode(sequences[i][start : start + length])
        np.testing.assert_array_equal(store.read(offset, offset + length), ids)
    assert store.records["length"][:] == [len(s) for s in sequences]
    assert store.records["masked"][:] == [0, 0, 4, 0, 0]
    assert len(store.read(5, 5)) == 0


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_windows_of_an_epoch_tile_the_stretches(store_of, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    lengths = data.draw(st.lists(st.integers(1, 400), min_size=1, max_size=5))
    sequences = [bases(rng, n, unknown=data.draw(st.sampled_from([0.0, 0.5]))) + b"A" for n in lengths]
    store = store_of(sequences)
    config = DataConfig(window=data.draw(st.integers(2, 70)), carry=data.draw(st.integers(1, 4)), seed=3)
    windows = Windows(store, store.stretches, config)
    covered = []
    for number in range(windows.passages, 2 * windows.passages):  # the second epoch
        for phase in range(config.carry):
            ids, weight = windows.batch([number], phase)[:2]
            places = windows.places(number, phase)
            strands = {p.strand for p in places}
            parts = [sequences[int(p.record[1:])][p.start : p.end] for p in places]
            text = b"N".join(parts)
            text = reverse_complement(text) if strands == {"-"} else text
            assert TOKENIZER.decode(ids[0].astype(np.uint8)).strip(b"N") == text.strip(b"N")
            np.testing.assert_array_equal(weight, ids < 4)
            assert len(strands) <= 1
            covered += [(p.record, p.start, p.end) for p in places]
    once = [np.zeros(len(s), int) for s in sequences]
    for record, start, end in covered:
        once[int(record[1:])][start:end] += 1
    for sequence, count in zip(sequences, once, strict=True):
        wanted = np.zeros(len(sequence), int)
        for a, b in stretches_of(sequence, GAP):
            wanted[a:b] = 1
        np.testing.assert_array_equal(count, wanted)


def test_no_window_is_a_gap(store_of):
    rng = np.random.default_rng(0)
    store = store_of([b"A" + bases(rng, 3000, unknown=0.95) + b"N" * 1000 + bases(rng, 300) for _ in range(5)])
    assert store.stretches.bases < 16500
    windows = Windows(store, store.stretches, DataConfig(window=GAP))
    weights = windows.batch(range(windows.passages), 0).weight.sum(1)
    assert (weights == 0).sum() <= 1  # the last of the epoch may be no more than an N between two records


def test_windows_depend_on_seed_and_number_alone(store_of):
    store = store_of([bases(np.random.default_rng(1), 5000)])

    def numbers(seed, order, **settings):
        windows = Windows(store, store.stretches, DataConfig(window=100, seed=seed, **settings))
        return {n: windows.batch([n], 0).ids.tobytes() for n in order}

    forwards, backwards = numbers(0, range(120)), numbers(0, reversed(range(120)))
    assert forwards == backwards
    assert len({*forwards.values()}) == 120  # borders move from epoch to epoch
    assert forwards != numbers(1, range(120))
    assert numbers(0, range(50), both_strands=False) != numbers(0, range(50))


def test_strands_are_drawn_evenly(store_of):
    store = store_of([bases(np.random.default_rng(1), 20000)])
    windows = Windows(store, store.stretches, DataConfig(window=20))
    reverse = [windows.places(n, 0)[0].strand == "-" for n in range(1000)]
    assert 430 < sum(reverse) < 570
    forward = Windows(store, store.stretches, DataConfig(window=20, both_strands=False))
    assert all(forward.places(n, 0)[0].strand == "+" for n in range(1000))


@pytest.mark.parametrize(("by", "count"), [("any", 23), ("paired", 7)])
def test_renamed_windows(store_of, by, count):
    store = store_of([bases(np.random.default_rng(1), 40000, unknown=0.01)])
    plain = Windows(store, store.stretches, DataConfig(window=200))
    renamed = Windows(store, store.stretches, DataConfig(window=200, relabel=0.75, relabel_by=by))
    seen, changed = set(), 0
    for n in range(400):
        before, after = plain.batch([n], 0), renamed.batch([n], 0)
        pairs = {*zip(before.ids[0].tolist(), after.ids[0].tolist(), strict=True)}
        mapping = dict(sorted(pairs))
        assert len(mapping) == len(pairs) == len({*mapping.values()})  # one to one
        np.testing.assert_array_equal(before.weight, after.weight)
        if len(mapping) < 4:
            continue  # the last window of an epoch may be short
        names = tuple(mapping[i] for i in range(4))
        changed += names != (0, 1, 2, 3)
        seen.add(names)
        if by == "paired":
            assert all(names[3 - b] == 3 - names[b] for b in range(4))
    assert 250 < changed < 350
    assert len(seen - {(0, 1, 2, 3)}) == count


@pytest.mark.parametrize("letters", [IUPAC, b"ACGTN"])
def test_renaming_by_complement_is_the_complement(letters):
    wanted = reverse_complement(letters)[::-1]
    assert bytes(letters[i] for i in renaming.table(letters, renaming.COMPLEMENT)) == wanted
    assert len(renaming.PAIRED) == 8 and renaming.ANY[0] == renaming.PAIRED[0] == (0, 1, 2, 3)


def test_renaming_renames_what_a_code_stands_for():
    table = renaming.table(IUPAC, (1, 0, 2, 3))  # A and C change places
    assert IUPAC == b"ACGTRYSWKMBDHVN"
    assert bytes(IUPAC[i] for i in table) == b"CAGTSWRYKMDBHVN"


def test_processes_share_out_a_step(store_of):
    store = store_of([bases(np.random.default_rng(1), 3000)])
    windows = Windows(store, store.stretches, DataConfig(window=50, carry=3))
    alone = Steps([Stage(0, windows, 5)])
    for step in (0, 4, 26):
        parts = [Steps([Stage(0, windows, 5)], rank, 3) for rank in range(3)]
        assert sorted(n for p in parts for n in p.passages(step)) == list(alone.passages(step))
        assert alone.fresh(step) == (step % 3 == 0)
        places = [place for numbers in alone.places(step) for place in numbers]
        assert all(place["end"] - place["start"] <= 50 for place in places)
    following = alone.passages(2), alone.passages(3)
    assert following == (range(5), range(5, 10))


def test_ahead_gives_the_step_asked_for():
    ahead = Ahead(lambda step: step * 10)
    assert [ahead.get(s) for s in (4, 5, 9, 10)] == [40, 50, 90, 100]
    ahead.close()


class TestSplit:
    def test_whole_records_where_they_are_small_enough(self, store_of):
        rng = np.random.default_rng(0)
        store = store_of([bases(rng, n) for n in (3000, 50, 70, 60, 4000, 40)])
        parts = split(store, DataConfig(held_out=0.02, seed=1))
        train, held = {*parts.train.record.tolist()}, {*parts.held_out.record.tolist()}
        assert train | held == set(range(6)) and not train & held and held <= {1, 2, 3, 5}
        assert 0.01 <= parts.held_out.bases / 7220 <= 0.02
        assert all(f"r{i}" in parts.rule for i in held)

    def test_the_end_of_each_where_all_are_large(self, store_of):
        store = store_of([b"ACGT" * 250 + b"N" * 100 + b"ACGT" * 250, b"A" * 1000])
        parts = split(store, DataConfig(held_out=0.1))
        assert parts.train.bases == 2700
        found = [*zip(*(column.tolist() for column in parts.held_out[:3]), strict=True)]
        assert found == [(0, 1900, 200), (1, 900, 100)]
        assert "last 10.00% of each of the 2 records" in parts.rule
        np.testing.assert_array_equal(store.read(int(parts.held_out.offset[1]), 3000), np.zeros(100))

    def test_one_record(self, store_of):
        parts = split(store_of([b"ACGT" * 100]), DataConfig(held_out=0.25))
        assert (parts.train.bases, parts.held_out.bases) == (300, 100)
        assert "the last 25.00% of the record" in parts.rule

    def test_named_records(self, store_of):
        store = store_of([b"A" * 100, b"C" * 100, b"G" * 100])
        parts = split(store, DataConfig(held_out_records=("r1",)))
        assert parts.train.record.tolist() == [0, 2] and parts.held_out.record.tolist() == [1]
        with pytest.raises(ConfigError, match=r"held_out_records.*r0, r1, r2.*found 'nine'"):
            split(store, DataConfig(held_out_records=("nine",)))
        with pytest.raises(InputError, match="left to learn from"):
            split(store, DataConfig(held_out_records=("r0", "r1", "r2")))

    def test_nothing(self, store_of):
        parts = split(store_of([b"A" * 100]), DataConfig(held_out=0.0))
        assert (parts.train.bases, parts.held_out.bases, parts.rule) == (100, 0, "nothing")


class TestPrepare:
    def test_made_once_for_the_same_bytes(self, tmp_path):
        fasta = tmp_path / "a.fa"
        fasta.write_text(">one\nACGTACGT\n>two\nTTTT\n")
        first = prepare([str(fasta)], tmp_path / "data", TOKENIZER)
        made = (tmp_path / "data" / first.digest / "ids.bin").stat().st_mtime_ns
        again = prepare([str(fasta)], tmp_path / "data", TOKENIZER)
        assert again.digest == first.digest and again.stretches.bases == 12
        assert (tmp_path / "data" / first.digest / "ids.bin").stat().st_mtime_ns == made
        fasta.write_text(">one\nACGTACGA\n>two\nTTTT\n")
        assert prepare([str(fasta)], tmp_path / "data", TOKENIZER).digest != first.digest

    @pytest.mark.parametrize("text", [">only\nNNNNNNNN\n", ">nothing\n"])
    def test_no_bases(self, tmp_path, text):
        (tmp_path / "a.fa").write_text(text)
        with pytest.raises(InputError, match="expected bases A, C, G or T"):
            prepare([str(tmp_path / "a.fa")], tmp_path / "data", TOKENIZER)
        assert not [*(tmp_path / "data").iterdir()]

    def test_inputs_that_cannot_be_read(self, tmp_path):
        (tmp_path / "a.txt").write_text("It is a truth universally acknowledged, that a text is no genome.\n")
        with pytest.raises(InputError, match="expected DNA, found document"):
            prepare([str(tmp_path / "a.txt")], tmp_path / "data", TOKENIZER)
        with pytest.raises(InputError, match=r"none\.fa"):
            prepare([str(tmp_path / "none.fa")], tmp_path / "data", TOKENIZER)
        with pytest.raises(UsageError, match="stdin"):
            prepare(["-"], tmp_path / "data", TOKENIZER)
