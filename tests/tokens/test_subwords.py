"""DNA in words: ids, offsets and letters are the library's and the definition's, however the record comes in pieces."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from longseq.errors import AlphabetError, CheckpointError, ConfigError
from longseq.model import LanguageModel, ModelConfig
from longseq.model import load as load_model
from longseq.model import save as save_model
from longseq.records import Alphabet
from longseq.tokens import load
from longseq.tokens.subwords import DnaKmers, DnaPieces, kmers, pieces

MERGES = [("A", "C"), ("G", "T"), ("AC", "GT"), ("A", "A"), ("AA", "AA"), ("T", "T"), ("ACGT", "A")]
CASES = {f"{kind}, {ambiguity}": (kind, ambiguity) for kind in ("kmers", "pieces") for ambiguity in ("keep", "N")}


def made(kind, ambiguity):
    alphabet = Alphabet(ambiguity=ambiguity)
    return kmers(3, alphabet) if kind == "kmers" else pieces(MERGES, alphabet)


@pytest.fixture(scope="module", params=CASES)
def both(request, tmp_path_factory):
    """Our tokenizer as loaded from its file, and the library's of the same file."""
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made(*CASES[request.param]).save(path)
    return load(path), Tokenizer.from_file(str(path))


def read(tokenizer, letters, block, size):
    """Ids and offsets of a stream; its chunks tile the record."""
    chunks = list(tokenizer.chunks((letters[i : i + block] for i in range(0, len(letters), block)), size))
    assert [c.start for c in chunks] == [0, *(c.end for c in chunks[:-1])] and chunks[-1].end == len(letters)
    assert all(len(c) == size for c in chunks[:-1]) and 0 < len(chunks[-1]) <= size
    return np.concatenate([c.ids for c in chunks]), np.concatenate([c.offsets for c in chunks])


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(["A", "ACGT", "acg", "N", "NNN", "r", "U", "u", "AAAAAAA", "GATTACA", "y"]), min_size=1
    ),
    block=st.integers(1, 9),
    size=st.integers(1, 7),
)
def test_a_stream_is_the_whole_record_as_the_library_reads_it(both, parts, block, size):
    ours, library = both
    text = "".join(parts)
    whole = library.encode(text)
    ids, offsets = read(ours, text.encode(), block, size)
    assert ids.tolist() == whole.ids and offsets.tolist() == [list(span) for span in whole.offsets]
    read_as = text.upper().replace("U", "T")
    if ours.alphabet.ambiguity == "N":
        read_as = re.sub("[RY]", "N", read_as)
    assert ours.decode(ids).decode() == library.decode(whole.ids) == read_as
    assert ours.lengths[ids].sum() == len(text) and ours.encode(text.encode()).tolist() == whole.ids


@pytest.mark.parametrize("kind", ["kmers", "pieces"])
def test_a_long_record_is_exact_in_any_blocks(kind):
    """Longer than any window: 300,000 bases without a break, and a repeat."""
    tokenizer = made(kind, "keep")
    draw = np.random.default_rng(0)
    for letters in (draw.choice(list(b"ACGT"), 300_000).astype(np.uint8).tobytes(), b"ACG" * 20_000):
        one, other = (read(tokenizer, letters, block, 4096) for block in (65_536, 1009))
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])
        assert tokenizer.decode(one[0]) == letters


def test_kmers_are_the_words_of_the_definition():
    """Frames start anew behind each letter that is no base; what is left of a run is single."""
    tokenizer = kmers(3, Alphabet())
    words = [tokenizer.words[i].decode() for i in tokenizer.encode(b"ACGTACGTNACNNGATTACAR")]
    assert words == ["ACG", "TAC", "G", "T", "N", "A", "C", "N", "N", "GAT", "TAC", "A", "R"]
    assert tokenizer.vocabulary == 15 + 64 and tokenizer.words[15] == b"AAA" and tokenizer.words[-1] == b"TTT"


def test_the_first_ids_are_the_letters_of_the_alphabet():
    for kind, ambiguity in CASES.values():
        tokenizer = made(kind, ambiguity)
        letters = tokenizer.alphabet.letters
        assert tokenizer.alphabet == Alphabet(ambiguity=ambiguity)
        assert b"".join(tokenizer.words[: len(letters)]) == letters


def test_the_alphabet_is_a_contract(tmp_path):
    path = tmp_path / "tokenizer.json"
    kmers(3, Alphabet()).save(path)
    assert isinstance(load(path, Alphabet()), DnaKmers)
    with pytest.raises(AlphabetError, match="expected ambiguity 'N', found 'keep'"):
        load(path, Alphabet(ambiguity="N"))
    with pytest.raises(AlphabetError, match="found '!' at base 6"):
        load(path).encode(b"ACGTA!")
    path.write_text(path.read_text().replace('"A": 0', '"A": 1').replace('"C": 1', '"C": 0'))
    assert not isinstance(load(path), DnaKmers)  # other ids are another tokenizer
    with pytest.raises(CheckpointError, match="expected a tokenizer of DNA, found another"):
        DnaPieces(path.read_text())


@pytest.mark.parametrize("k", [1, 9])
def test_k_has_bounds(k):
    with pytest.raises(ConfigError, match=f"k: expected 2 to 8 bases, found {k}"):
        kmers(k, Alphabet())


@pytest.mark.parametrize("kind", ["kmers", "pieces"])
def test_a_checkpoint_keeps_it_byte_for_byte(kind, tmp_path):
    tokenizer = made(kind, "keep")
    config = ModelConfig(width=8, heads=2, layers=1, vocabulary=tokenizer.vocabulary)
    save_model(tmp_path / "one", LanguageModel(config), tokenizer)
    loaded = load_model(tmp_path / "one")
    save_model(tmp_path / "two", loaded.model, loaded.tokenizer)
    assert loaded.tokenizer.digest() == tokenizer.digest()
    assert load_model(tmp_path / "two").sha256 == loaded.sha256
