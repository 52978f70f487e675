"""Learned tokenizers: merges of the definition, the same for the same input, exact in a stream."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError, InputError
from longseq.records import Record
from longseq.tokens import DnaTokenizer
from longseq.tokens.train import Learning, learn
from longseq.tokens.train.pieces import LONGEST, TEXT_PIECE, Sample, dna_pieces, text_pieces

TEXT = "The keeper's lamp was lit at dusk; the lamp-room smelt of oil, and the keeper slept.\n" * 40
TEXT += "\u6cb3\u6d41\u7ecf\u8fc7\u6751\u5e84\u3002 cafe\u0301 \ufb01ne 12:30\n" * 20


def record(letters, block=1000, id="x"):
    blocks = iter([letters[i : i + block] for i in range(0, len(letters), block)])
    return Record(id=id, kind="dna" if isinstance(letters, bytes) else "document", source="x", index=0, pieces=blocks)


def genome(length, seed=0):
    return np.random.default_rng(seed).choice(list(b"AACGTTN"), length).astype(np.uint8).tobytes()


def by_definition(words, joins):
    """Byte-pair encoding as Sennrich et al. 2016, algorithm 1, writes it."""
    words = Counter({tuple(word): count for word, count in Counter(words).items()})
    merges = []
    for _ in range(joins):
        pairs = Counter()
        for word, count in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += count
        best = max(pairs.values())
        merges.append(({pair for pair, count in pairs.items() if count == best}, best))
        pair = min(merges[-1][0])
        joined = Counter()
        for word, count in words.items():
            new, i = [], 0
            while i < len(word):
                both = word[i : i + 2] == pair
                new.append("".join(pair) if both else word[i])
                i += 2 if both else 1
            joined[tuple(new)] += count
        words = joined
    return merges


def test_merges_of_dna_are_those_of_the_definition():
    letters = genome(30_000)
    tokenizer = learn([record(letters)], Learning(vocabulary=15 + 12)).tokenizer
    words = dna_pieces(iter([letters]), DnaTokenizer(), np.random.default_rng([0, 1]))
    found = json.loads(tokenizer._text)["model"]["merges"]
    for (candidates, _), pair in zip(by_definition(list(words), 12), found, strict=True):
        assert len(candidates) == 1 and tuple(pair) in candidates


@pytest.mark.parametrize("letters", [TEXT, genome(20_000)], ids=["text", "dna"])
def test_the_same_input_gives_the_same_tokenizer(letters):
    first, other = (learn([record(letters, block)], Learning(vocabulary=320)).tokenizer for block in (7, 5000))
    assert first.digest() == other.digest() and first.vocabulary == 320


@pytest.mark.parametrize("options", [{}, {"normalize": "nfc"}, {"normalize": "nfkc", "lowercase": True}])
def test_a_text_tokenizer_is_exact_in_a_stream_and_loses_nothing(options):
    tokenizer = learn([record(TEXT)], Learning(vocabulary=300, **options)).tokenizer
    stream = tokenizer.chunks(iter([TEXT[i : i + 11] for i in range(0, len(TEXT), 11)]), 64)
    ids = np.concatenate([chunk.ids for chunk in stream])
    assert tokenizer.provable and stream.exact and tokenizer.end == 0
    (whole,) = tokenizer.chunks(iter([TEXT]), 10**6)
    assert np.array_equal(ids, whole.ids)
    wanted = {"nfc": TEXT.replace("e\u0301", "\u00e9"), None: TEXT}.get(options.get("normalize"))
    if wanted:
        assert tokenizer.decode(ids) == wanted
    else:
        assert "caf\u00e9 fine" in tokenizer.decode(ids) and "the keeper's" in tokenizer.decode(ids)
    unseen = "\U0001f600 \u0416"
    (chunk,) = tokenizer.chunks(iter([unseen]), 100)
    assert options or tokenizer.decode(chunk.ids) == unseen


def test_a_pair_has_to_be_seen_often_enough():
    few = learn([record(TEXT)], Learning(vocabulary=4000, min_frequency=30)).tokenizer
    many = learn([record(TEXT)], Learning(vocabulary=4000, min_frequency=2)).tokenizer
    assert 257 < few.vocabulary < many.vocabulary < 4000


@settings(max_examples=40, deadline=None)
@given(letters=st.text(st.sampled_from("ACGTNacgtnR"), max_size=900), block=st.integers(1, 100), seed=st.integers(0, 5))
def test_pieces_of_dna_tile_its_runs_however_it_comes(letters, block, seed):
    def cut(block):
        blocks = (letters[i : i + block].encode() for i in range(0, len(letters), block))
        return list(dna_pieces(blocks, DnaTokenizer(), np.random.default_rng(seed)))

    found = cut(block)
    assert found == cut(10**6) and all(0 < len(piece) <= LONGEST for piece in found)
    assert "".join(found) == "".join(c for c in letters.upper() if c in "ACGT")
    assert all(piece in letters.upper() for piece in found)


@settings(max_examples=20, deadline=None)
@given(
    parts=st.lists(st.sampled_from(["word", " ", "\n", "x" * 5000, "\u6cb3" * 100]), max_size=60),
    block=st.integers(1, 9000),
)
def test_pieces_of_a_text_join_to_it_however_it_comes(parts, block):
    text = "".join(parts)
    found = list(text_pieces(text[i : i + block] for i in range(0, len(text), block)))
    assert "".join(found) == text and found == list(text_pieces([text]))
    assert all(TEXT_PIECE <= len(piece) < 2 * TEXT_PIECE for piece in found[:-1])


def test_a_sample_is_even_and_as_large_as_was_asked():
    counts = np.zeros(100)
    for seed in range(300):
        sample = Sample(100, np.random.default_rng(seed))
        for i in range(100):
            sample.add(f"{i:010d}")
        kept = [int(piece) for piece in sample]
        assert len(kept) == 10 and kept == sorted(kept) and sample.kept == 100 and sample.letters == 1000
        counts[kept] += 1
    # 300 draws of a tenth: mean 30, standard deviation 5.2; five of them is not seen by chance in 100 places
    assert abs(counts - 30).max() < 26


def test_a_sample_bounds_what_is_learned_from():
    found = learn([record(genome(50_000))], Learning(vocabulary=60, sample=5000))
    assert 4000 < found.sampled <= 5000 and found.letters > 40_000 and found.tokenizer.vocabulary == 60


@pytest.mark.parametrize(("records", "options", "error", "said"), [
    ([], {}, InputError, "expected letters to learn from, found none"),
    ([b"NNNN"], {}, InputError, "expected letters to learn from, found none"),
    ([b"ACGT", "text"], {}, InputError, "expected dna, as before it, found document"),
    ([b"ACGT"], {"vocabulary": 15}, ConfigError, "expected more than the 15 letters of the alphabet, found 15"),
    (["text"], {"vocabulary": 257}, ConfigError, "vocabulary: expected more than the 256 bytes"),
])  # fmt: skip
def test_what_cannot_be_learned_from_is_said(records, options, error, said):
    with pytest.raises(error, match=said):
        learn([record(letters) for letters in records], Learning(**options))


@pytest.mark.parametrize(
    ("name", "value"), [("vocabulary", 1), ("min_frequency", 0), ("normalize", "nfd"), ("sample", 0), ("seed", -1)]
)
def test_bad_values_name_their_key(name, value):
    with pytest.raises(ConfigError, match=name.replace("_", "-")):
        Learning(**{name: value})
