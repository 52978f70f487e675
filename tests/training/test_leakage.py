"""Laws of the look for what is both held out and learned from: containment is that of sets of shingles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.records import Alphabet, reverse_complement
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import kmers as kmers_of
from longseq.training import documents
from longseq.training.config import DataConfig
from longseq.training.leakage import overlap, sketch, warnings
from longseq.training.leakage.shingles import Kmers, Runs
from longseq.training.split import split
from longseq.training.store import Stretches, prepare

TOKENIZER = DnaTokenizer()


class Ids:
    """A store that is one array."""

    def __init__(self, ids):
        self.ids = ids

    def read(self, start, end):
        return self.ids[start:end]


def letters(rng, length):
    return np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, length)].tobytes()


def mutated(rng, sequence, rate):
    changed = np.frombuffer(sequence, np.uint8).copy()
    where = rng.random(len(changed)) < rate
    changed[where] = np.frombuffer(b"CGTA", np.uint8)[TOKENIZER.encode(sequence)[0][where]]
    return changed.tobytes()


def parts_of(lengths, records, which):
    """Those `which` of stretches that stand one behind the other."""
    lengths = np.array(lengths, np.int64)
    whole = Stretches(np.array(records, np.int32), 0 * lengths, lengths, np.cumsum(lengths) - lengths)
    return Stretches(*(column[which] for column in whole))


def kmers(texts, k):
    """The canonical k-mers of these texts that are A, C, G and T alone."""
    found = {text[i : i + k] for text in texts for i in range(len(text) - k + 1)}
    return {min(word, reverse_complement(word)) for word in found if not set(word) - set(b"ACGT")}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_containment_is_that_of_the_sets_of_kmers(data):
    k = data.draw(st.sampled_from([1, 2, 3, 4, 5, 7]))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    count = data.draw(st.integers(1, 8))
    drawn = np.frombuffer(b"ACGTN", np.uint8)[rng.choice(5, (count, 25), p=[0.24] * 4 + [0.04])]
    texts = [row[: rng.integers(1, 25)].tobytes() for row in drawn]
    records = np.sort(rng.integers(0, 4, count))
    held = rng.random(4)[records] < 0.4
    ids = np.concatenate([TOKENIZER.encode(text)[0] for text in texts])
    lengths = [len(text) for text in texts]
    found = overlap(Ids(ids), *(parts_of(lengths, records, side) for side in (~held, held)), Kmers(k))
    learned = kmers([text for text, side in zip(texts, held, strict=True) if not side], k)
    wanted = {}
    for record in set(records[held].tolist()):
        own = kmers([text for text, r in zip(texts, records, strict=True) if r == record], k)
        if own:
            wanted[record] = (len(own), len(own & learned))
    assert found.exact
    counts = zip(found.hashes.tolist(), found.shared.tolist(), strict=True)
    assert dict(zip(found.records.tolist(), counts, strict=True)) == wanted


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(0, 999))
def test_containment_of_runs_of_tokens(k, seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 3, 60).astype(np.uint16)
    cut = int(rng.integers(0, 61))
    found = overlap(Ids(ids), *(parts_of([cut, 60 - cut], [0, 1], [side]) for side in (0, 1)), Runs(k))
    first, second = ({tuple(part[i : i + k]) for i in range(len(part) - k + 1)} for part in (ids[:cut], ids[cut:]))
    assert found.hashes.tolist() == ([len(second)] if second else [])
    assert found.shared.tolist() == ([len(second & first)] if second else [])


def test_a_share_of_the_hashes_tells_the_containment(monkeypatch):
    """Of 40,000 k-mers about a thousand are looked at; what is found is the truth to three standard errors."""
    rng = np.random.default_rng(0)
    genome = letters(rng, 40_000)
    copy = mutated(rng, genome, 0.03)
    ids = TOKENIZER.encode(genome + copy)[0]
    held, train = (parts_of([40_000, 40_000], [0, 1], [side]) for side in (1, 0))
    truth = len(kmers([copy], 21) & kmers([genome], 21)) / len(kmers([copy], 21))
    assert truth == pytest.approx(0.97**21, abs=0.02)
    exact = overlap(Ids(ids), train, held, Kmers(21))
    assert exact.exact and exact.shared[0] / exact.hashes[0] == truth
    monkeypatch.setattr(sketch, "MOST", 1500)
    monkeypatch.setattr(sketch, "BLOCK", 1000)
    some = overlap(Ids(ids), train, held, Kmers(21))
    assert not some.exact and 500 < some.hashes[0] <= 1500
    error = np.sqrt(truth * (1 - truth) / some.hashes[0])
    assert abs(some.shared[0] / some.hashes[0] - truth) < 3 * error
    assert some.source.tolist() == [0]


@pytest.mark.parametrize("shingles", [Kmers(5), Runs(8)])
def test_blocks_leave_no_trace(monkeypatch, shingles):
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 5, 3000).astype(np.uint8)
    lengths = rng.multinomial(3000, [1 / 40] * 40)
    held = np.arange(40) % 7 == 0

    def found():
        return overlap(Ids(ids), *(parts_of(lengths, np.arange(40), side) for side in (~held, held)), shingles)

    whole = found()
    monkeypatch.setattr(sketch, "BLOCK", 64)
    for one, other in zip(whole, found(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_hashes_are_even():
    hashes, _ = Kmers(21).hashes(np.random.default_rng(0).integers(0, 4, 50_020).astype(np.uint8))
    counts = np.bincount((hashes >> np.uint64(60)).astype(int), minlength=16)
    assert ((counts - 3125) ** 2 / 3125).sum() < 37.7  # chi-square with 15 degrees of freedom, p = 0.001


@pytest.fixture
def warned(tmp_path):
    def read(sequences, **settings):
        text = "".join(f">{name} x\n{letters.decode()}\n" for name, letters in sequences.items())
        (tmp_path / "x.fa").write_text(text)
        config = DataConfig(**settings)
        store = prepare([str(tmp_path / "x.fa")], tmp_path / "data", TOKENIZER)
        return warnings(store, split(store, config), config, TOKENIZER)

    return read


def test_a_copy_on_the_other_strand_is_named(warned):
    rng = np.random.default_rng(0)
    a, c = letters(rng, 3000), letters(rng, 3000)
    records = {"a": a, "b": reverse_complement(mutated(rng, a, 0.01)), "c": c}
    (line,) = warned(records, held_out_records=("b", "c"))
    assert line.startswith(
        "warning: 50% or more of the 21-mers are in what is learned from, in 1 of 2 records held out"
    )
    assert ": b, 8" in line and "%, most in a; their figures flatter; keep relatives together (data.groups" in line
    assert warned(records, held_out_records=("b", "c"), leakage=0.95) == ()
    assert warned(records, held_out_records=("b", "c"), leakage=1.0) == ()
    assert warned(records, held_out_records=("c",)) == ()
    assert warned(records, held_out=0.0) == ()


def test_words_are_looked_at_in_runs(tmp_path):
    rng = np.random.default_rng(0)
    a, c = letters(rng, 900), letters(rng, 900)
    (tmp_path / "x.fa").write_bytes(b">a\n" + a + b"\n>b\n" + mutated(rng, a, 0.005) + b"\n>c\n" + c + b"\n")
    config, words = DataConfig(held_out_records=("b", "c")), kmers_of(3, Alphabet())
    store = documents.prepare([str(tmp_path / "x.fa")], tmp_path / "data", words)
    (line,) = warnings(store, split(store, config), config, words)
    assert "50% or more of the runs of 8 tokens are in what is learned from, in 1 of 2 records held out: b, " in line


def test_groups_keep_copies_together(warned, tmp_path):
    rng = np.random.default_rng(0)
    a, c = letters(rng, 3000), letters(rng, 1000)
    records = {"a": a, "b": a, "c": c}
    (tmp_path / "g.tsv").write_text("id\tgenus\na\tx\nb\tx\nc\ty\n")
    assert warned(records, groups=str(tmp_path / "g.tsv"), held_out=0.3) == ()
    (tmp_path / "g.tsv").write_text("id\tgenus\na\tx\nb\ty\nc\ty\n")
    (line,) = warned(records, groups=str(tmp_path / "g.tsv"), held_out_groups=("y",))
    assert ": b of y, 100%, most in a;" in line


def test_the_end_of_a_record_that_repeats_its_beginning(warned):
    a = letters(np.random.default_rng(0), 2000)
    (line,) = warned({"a": a + a}, held_out=0.25)
    assert ": a, 100%, most in its own beginning;" in line
    assert warned({"a": a}, held_out=0.25) == ()


def test_many_short_records_are_judged_together(warned, monkeypatch):
    rng = np.random.default_rng(0)
    genome = letters(rng, 2000)
    reads = {f"r{i}": genome[(at := int(rng.integers(0, 1900))) : at + 100] for i in range(200)}
    (exact,) = warned(reads, held_out=0.2)
    assert "of 40 records held out" in exact
    monkeypatch.setattr(sketch, "MOST", 600)
    (line,) = warned(reads, held_out=0.2)
    assert line.startswith("warning: of 40 short records held out, taken together, ")
    assert "% of the 21-mers are in what is learned from; their figures flatter" in line
