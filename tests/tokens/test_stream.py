"""The token law: a stream's ids and offsets equal the whole text's."""

import functools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers
from trained_tokenizers import BUILDERS, LINES, trained

from longseq.errors import ConfigError, InputError
from longseq.tokens.stream import WINDOW, StreamTokenizer
from longseq.tokens.stream.seams import REACH

SMALL = (32, 8)
MAIN = ("byte-level", "word-piece", "unigram")
VARIANTS = tuple(kind for kind in BUILDERS if kind not in MAIN)


def texts(length):
    """Strings of about `length` code points; the last two are one unbroken run of 50,000."""
    draw = random.Random(5).choices
    ascii_text = " ".join(draw(LINES[:3], k=length // 100 + 1))
    return {
        "ascii": ascii_text,
        "cjk": "".join(draw(LINES[3], k=length)),
        "marks": "".join(draw(["e\u0301", "a\u0323\u0302", "o", "n ", "\u0130", "\ufb01", " ", "\u0301"], k=length)),
        "emoji": "".join(draw(["\U0001f600", "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f467", " "], k=length)),
        "dna": "".join(draw("ACGT", k=length)),
        "A": "A" * 50_000,
        "AC": "AC" * 25_000,
    }


@functools.cache
def whole(kind, text):
    """Ids and offsets of the whole text at once, as the library gives them."""
    tokenizer = trained(kind)
    tokenizer.encode_special_tokens = True
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return np.array(encoding.ids, np.int32), np.array(encoding.offsets, np.int64).reshape(-1, 2)


@functools.cache
def streaming(kind, *sizes):
    return StreamTokenizer(trained(kind), *sizes)


def blocks(text, size):
    return (text[i : i + size] for i in range(0, len(text), size))


def read(tokenizer, text, block=4096, size=1000):
    """(ids, offsets, exact) of a stream; its chunks tile the text."""
    stream = tokenizer.chunks(blocks(text, block), size)
    chunks = list(stream)
    assert [c.start for c in chunks] == [0, *(c.end for c in chunks[:-1])] and chunks[-1].end == len(text)
    assert all(len(c) == size for c in chunks[:-1]) and 0 < len(chunks[-1]) <= size
    return np.concatenate([c.ids for c in chunks]), np.concatenate([c.offsets for c in chunks]), stream.exact


def equal(kind, text, got):
    ids, offsets = whole(kind, text)
    return np.array_equal(got[0], ids) and np.array_equal(got[1], offsets)


@pytest.mark.parametrize("block", [1, 7, 4096])
@pytest.mark.parametrize("name", texts(0))
@pytest.mark.parametrize("kind", MAIN)
@pytest.mark.parametrize("sizes", [SMALL, ()], ids=["32/8", "default"])
def test_stream_equals_whole_text(kind, name, sizes, block):
    window = sizes[0] if sizes else WINDOW
    text = texts(10 * window)[name]
    assert len(text) >= min(10 * window, 50_000)
    got = read(streaming(kind, *sizes), text, block)
    assert got[2] and equal(kind, text, got)


@pytest.mark.parametrize("name", texts(0))
@pytest.mark.parametrize("kind", VARIANTS)
def test_stream_equals_whole_text_for_other_pipelines(kind, name):
    text = texts(2000)[name][:4000]
    got = read(streaming(kind, *SMALL), text, 7)
    assert got[2] and equal(kind, text, got)


AWKWARD = [
    *(
        "a",
        "A",
        "C",
        "e",
        "\u0301",
        "\u0323",
        "\u0308",
        "\u304b\u3099",
        "\u1112\u1161\u11ab",
        "\ufb01",
        "\u0130",
        "\u00df",
    ),
    *(" ", "  ", "\n", "\r\n", "\t", "\u3000", "\u00a0", "\u200d", "'", "'s", "'ll", ".", "`", "-", "\u2581"),
    *("1", "23", "\u00bd", "\u2167", "\u4e2d", "\u3002", "\u03a3", "\u0e19\u0e49\u0e33"),
    *("\U0001f600", "\U0001f44d\U0001f3fd", "\U0001f1eb\U0001f1f7"),
    *("<|endoftext|>", "[MASK]", "walk there", "state", "river", "bell", "    "),
]


@pytest.mark.parametrize("kind", BUILDERS)
@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(
        st.tuples(st.sampled_from(AWKWARD), st.sampled_from([1, 1, 1, 2, 3, 20, 60])), min_size=1, max_size=40
    ),
    window=st.sampled_from([16, 24, 32, 64]),
    cap=st.sampled_from([1, 4, 64]),
    block=st.sampled_from([1, 7, 4096]),
)
def test_exact_is_never_said_of_wrong_tokens(kind, parts, window, cap, block):
    text = "".join(part * times for part, times in parts)
    tokenizer = streaming(kind, window, window // 4, window * cap)
    stream = tokenizer.chunks(blocks(text, block), 10_000)
    chunks = list(stream)
    got = np.concatenate([c.ids for c in chunks]), np.concatenate([c.offsets for c in chunks])
    assert equal(kind, text, got) or not stream.exact
    assert stream.exact or len(text) > window * cap


def widths(tokenizer, monkeypatch):
    """Lengths of the texts that the tokenizer encodes from now on."""
    seen, encode = [], tokenizer._engine.encode
    monkeypatch.setattr(tokenizer._engine, "encode", lambda text: (seen.append(len(text)), encode(text))[1])
    return seen


@pytest.mark.parametrize(
    ("kind", "name"), [("word-piece", "A"), ("word-piece", "dna"), ("unigram", "AC"), ("unigram", "cjk")]
)
def test_without_a_join_the_window_doubles_to_the_cap_and_exact_is_false(kind, name, monkeypatch):
    tokenizer = StreamTokenizer(trained(kind), 32, 8, 256)
    seen = widths(tokenizer, monkeypatch)
    ids, offsets, exact = read(tokenizer, texts(2000)[name])
    assert not exact
    assert seen[:4] == [32, 64, 128, 256]
    assert max(seen) <= 256 + REACH
    assert len(ids) == len(offsets) and (offsets[1:, 0] >= offsets[:-1, 0]).all()


@pytest.mark.parametrize(("kind", "name"), [("word-piece", "A"), ("unigram", "AC"), ("byte-level, cl100k", "digits")])
def test_a_text_as_long_as_the_cap_is_exact_whatever_it_holds(kind, name):
    text = (texts(0) | {"digits": "7" * 3000 + "'s"})[name][-1024:]
    got = read(StreamTokenizer(trained(kind), 32, 8, 1024), text)
    assert got[2] and equal(kind, text, got)


@pytest.mark.parametrize("name", ["A", "AC", "dna", "emoji", "cjk"])
@pytest.mark.parametrize("kind", ["byte-level", "byte-level, cl100k", "bpe without pre-tokenizer"])
def test_byte_pairs_are_joined_inside_one_long_pre_token(kind, name, monkeypatch):
    tokenizer = StreamTokenizer(trained(kind), 64, 16, 512)
    text = texts(20_000)[name].replace(" ", "")
    seen = widths(tokenizer, monkeypatch)
    got = read(tokenizer, text)
    assert got[2] and equal(kind, text, got)
    assert max(seen) <= 512 + REACH


def test_ordinary_text_never_needs_more_than_a_window(monkeypatch):
    for kind in MAIN:
        tokenizer = StreamTokenizer(trained(kind), 256, 32)
        seen = widths(tokenizer, monkeypatch)
        got = read(tokenizer, texts(20_000)["ascii"])
        assert got[2] and max(seen) <= 256 + REACH


def test_a_piece_is_asked_for_only_when_it_is_needed():
    taken = []

    def pieces():
        for i in range(1000):
            taken.append(i)
            yield "some words and more of them, "

    stream = streaming("byte-level", *SMALL).chunks(pieces(), 10)
    next(stream)
    assert len(taken) < 10


def test_a_tokenizer_that_fails_its_check_encodes_whole_texts_up_to_the_cap(monkeypatch):
    monkeypatch.setattr("longseq.tokens.stream.agrees", lambda engine: False)
    tokenizer = StreamTokenizer(trained("byte-level"), 32, 8, 1024)
    text = texts(3000)["ascii"]
    got = read(tokenizer, text[:1024])
    assert not tokenizer.provable and got[2] and equal("byte-level", text[:1024], got)
    assert not read(tokenizer, text)[2]


def test_parts_of_unknown_reach_are_encoded_whole_up_to_the_cap():
    tokenizer = trained("byte-level")
    parts = [pre_tokenizers.UnicodeScripts(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    stream = StreamTokenizer(tokenizer, 32, 8, 1024)
    assert not stream.provable
    text = texts(3000)["ascii"]
    encoding = tokenizer.encode(text[:1000], add_special_tokens=False)
    ids, offsets, exact = read(stream, text[:1000])
    assert exact and ids.tolist() == encoding.ids and offsets.tolist() == [list(o) for o in encoding.offsets]
    assert not read(stream, text)[2]


def test_a_text_that_spells_control_tokens_stays_text():
    for kind, word in (("byte-level", "<|endoftext|>"), ("word-piece", "[SEP]"), ("unigram", "<s>")):
        tokenizer = trained(kind)
        ids, _, _ = read(StreamTokenizer(tokenizer), f"a {word} b")
        assert tokenizer.token_to_id(word) is not None and tokenizer.token_to_id(word) not in ids


def test_truncation_padding_and_dropout_are_off():
    tokenizer = trained("byte-level")
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=600)
    tokenizer.model.dropout = 0.5
    text = texts(1500)["ascii"]
    for _ in range(3):
        got = read(StreamTokenizer(Tokenizer.from_str(tokenizer.to_str())), text)
        assert got[2] and equal("byte-level", text, got)


def test_empty_and_blank_texts():
    tokenizer = streaming("word-piece", *SMALL)
    assert list(tokenizer.chunks(iter([]), 5)) == [] and list(tokenizer.chunks(iter(["", ""]), 5)) == []
    (chunk,) = tokenizer.chunks(iter([" " * 500]), 5)
    assert (len(chunk), chunk.start, chunk.end) == (0, 0, 500) and chunk.offsets.shape == (0, 2)


def test_blanks_after_the_last_token_belong_to_the_last_chunk():
    chunks = list(streaming("word-piece", *SMALL).chunks(iter(["a a a a" + " " * 300]), 2))
    assert [(len(c), c.start, c.end) for c in chunks] == [(2, 0, 3), (2, 3, 307)]
    assert chunks[0].ids.dtype == np.int32 and chunks[0].offsets.dtype == np.int64


def test_half_a_surrogate_pair_is_an_error():
    with pytest.raises(InputError, match="expected Unicode text"):
        list(streaming("byte-level").chunks(iter(["a\ud800"]), 5))


@pytest.mark.parametrize(
    ("sizes", "key"), [((8, 4), "window"), ((32, 2), "overlap"), ((32, 20), "overlap"), ((64, 8, 32), "cap")]
)
def test_sizes_that_do_not_fit_are_refused(sizes, key):
    with pytest.raises(ConfigError, match=f"tokens.{key}"):
        StreamTokenizer(trained("byte-level"), *sizes)
    with pytest.raises(ConfigError, match=r"tokens\.size"):
        streaming("byte-level").chunks(iter(["a"]), 0)
