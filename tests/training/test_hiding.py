"""Laws of hidden words: how many, whole, what is read in their place; always the same ones, whatever stands beside."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError
from longseq.log import NullProgress
from longseq.records import Alphabet, Record
from longseq.tokens.boundaries import Boundaries
from longseq.tokens.subwords import kmers
from longseq.tokens.train import Learning, learn
from longseq.training.config import DataConfig, MaskConfig
from longseq.training.documents import Documents, write
from longseq.training.examples import TokenExamples
from longseq.training.hiding import LONGEST, Hiding, Masked
from longseq.training.records import WordRecords

WORDS = ["the", "keeper", "burned", "lamplighter;", "caf\u00e9", "\U0001f600", "a"]


def text(count, seed=0):
    return " ".join(np.random.default_rng(seed).choice(WORDS, count).tolist())


def stored(folder, texts, tokenizer):
    kind = "dna" if isinstance(texts[0], bytes) else "document"
    records = [Record(id=f"d{i}", kind=kind, source="x", index=i, pieces=iter([t])) for i, t in enumerate(texts)]
    write(records, folder, tokenizer, NullProgress())
    return WordRecords(Documents(folder, tokenizer))


@pytest.fixture(scope="module")
def tokenizer():
    return learn([Record(id="x", kind="document", source="x", index=0, pieces=iter([text(3000)]))],
                 Learning(vocabulary=270)).tokenizer  # fmt: skip


@pytest.fixture(scope="module")
def long(tmp_path_factory, tokenizer):
    """Ids of a document of 20,000 words, mostly of several tokens."""
    records = stored(tmp_path_factory.mktemp("store"), [text(20_000)], tokenizer)
    return records.read(0, 0, int(records.lengths[0])).astype(np.int64)


def rule(tokenizer, **options):
    known = np.ones(tokenizer.vocabulary, bool)
    if hasattr(tokenizer, "end"):
        known[tokenizer.end] = False
    return Hiding(MaskConfig(**options), tokenizer, known, seed=1)


@pytest.mark.parametrize("share", [0.15, 0.5])
def test_words_are_hidden_whole_and_the_share_on_average(tokenizer, long, share):
    read, hidden = rule(tokenizer, share=share)(long, 3, 0)
    assert hidden.mean() == pytest.approx(share, abs=0.01)
    np.testing.assert_array_equal(read[~hidden], long[~hidden])
    starts = Boundaries(tokenizer).starts(long)
    word = np.cumsum(starts) - 1
    sizes = np.bincount(word)
    assert sizes.mean() > 1.5 and sizes.max() <= LONGEST
    assert set(np.bincount(word, hidden) / sizes) == {0.0, 1.0}


@pytest.mark.parametrize(("options", "random", "keep"), [
    ({}, 0.1, 0.1), ({"random": 0.3, "keep": 0.2}, 0.3, 0.2), ({"random": 0.0, "keep": 0.0}, 0.0, 0.0),
])  # fmt: skip
def test_what_is_read_in_their_place(tokenizer, long, options, random, keep):
    """Decided for a word at once: one of them is masked, or drawn anew, or kept, from end to end."""
    read, hidden = rule(tokenizer, share=0.5, **options)(long, 0, 0)
    mask = tokenizer.vocabulary
    masked, same = read == mask, read == long
    assert masked[hidden].mean() == pytest.approx(1 - random - keep, abs=0.015)
    assert same[hidden].mean() == pytest.approx(keep + random / (mask - 1), abs=0.015)
    assert tokenizer.end not in read and read.max() <= mask
    word = np.cumsum(Boundaries(tokenizer).starts(long)) - 1
    assert set(np.bincount(word, masked) / np.bincount(word)) <= {0.0, 1.0}
    drawn = read[hidden & ~masked & ~same]
    assert len(np.unique(drawn)) > 200 if random else not len(drawn)


def test_another_window_hides_others_and_the_same_one_the_same(tokenizer, long):
    hide, some = rule(tokenizer), long[:400]
    first = hide(some, 5, 1)
    for found, again in zip(first, hide(some, 5, 1), strict=True):
        np.testing.assert_array_equal(found, again)
    assert all((hide(some, *other)[1] != first[1]).any() for other in ((6, 1), (5, 0)))
    assert [len(x) for x in hide(some[:0], 5, 1)] == [0, 0]


def test_a_word_without_end_is_cut(tokenizer):
    ids = np.concatenate([chunk.ids for chunk in tokenizer.chunks(iter(["x" * 5000]), 10**6)])
    hidden = rule(tokenizer, share=0.5)(ids, 0, 0)[1]
    assert hidden.mean() == pytest.approx(0.5, abs=0.1)
    edges = np.flatnonzero(np.diff(hidden, prepend=False, append=False))
    assert (edges[edges < len(ids)] % LONGEST == 0).all()


@pytest.mark.parametrize("span", [None, 3])
def test_words_of_dna_are_hidden_in_spans_and_never_read_as_others_unless_asked(tmp_path, span):
    tokenizer = kmers(3, Alphabet())
    letters = np.random.default_rng(0).choice(list(b"ACGTN"), 60_000, p=[0.24] * 4 + [0.04]).astype(np.uint8).tobytes()
    records = stored(tmp_path, [letters], tokenizer)
    ids = records.read(0, 0, int(records.lengths[0])).astype(np.int64)
    hide = Hiding(MaskConfig(span=span), tokenizer, records.known, 0)
    read, hidden = hide(ids, 0, 0)
    assert hidden.mean() == pytest.approx(0.15, abs=0.01)
    assert (read[hidden] == tokenizer.vocabulary).all()
    runs = np.diff(np.flatnonzero(np.diff(hidden, prepend=False, append=False)).reshape(-1, 2), axis=1)
    assert runs[1:-1].min() == (span or 1)
    others = Hiding(MaskConfig(span=span, random=1.0, keep=0.0), tokenizer, records.known, 0)(ids, 0, 0)[0]
    assert records.known[others[hidden]].all()
    examples = Masked(TokenExamples(records, np.array([0]), DataConfig(window=500), 500), hide)
    batch = examples.batch([0], 0)
    np.testing.assert_array_equal(batch.weight > 0, (batch.ids == tokenizer.vocabulary) & records.known[batch.targets])


@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=6), window=st.integers(4, 70), carry=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_lane_mates_change_no_row(tokenizer, tmp_path_factory, lengths, window, carry):
    texts = [text(n, seed) for seed, n in enumerate(lengths)]
    records = stored(tmp_path_factory.mktemp("store"), texts, tokenizer)
    data = DataConfig(window=window, carry=carry)
    examples = Masked(TokenExamples(records, np.arange(len(texts)), data, 4 * window), rule(tokenizer))
    for phase in range(examples.carry):
        together = examples.batch(range(examples.passages), phase)
        for number in range(examples.passages):
            alone, size = examples.batch([number], phase), int(together.mask[number].sum())
            assert size == alone.mask.sum() and not together.mask[number, size:].any()
            for mine, other in zip(together, alone, strict=True):
                np.testing.assert_array_equal(mine[number, :size], other[0, :size])
            assert together.weight[number, size:].sum() == 0


def test_documents_have_no_spans(tokenizer):
    with pytest.raises(ConfigError, match=r"mask\.span: expected none of documents, whose words are hidden whole"):
        rule(tokenizer, span=6)
