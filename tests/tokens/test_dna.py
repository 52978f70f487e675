"""Letters of DNA: round trips, strands, tiling and the contract in the file."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import AlphabetError, CheckpointError
from longseq.records import IUPAC, Alphabet
from longseq.tokens import DnaTokenizer, load

KEEP, N_ONLY = DnaTokenizer(), DnaTokenizer(Alphabet(ambiguity="N"))
BOTH = pytest.mark.parametrize("tokenizer", [KEEP, N_ONLY])

letters = st.text("ACGTRYSWKMBDHVNacgtryswkmbdhvn", max_size=200).map(str.encode)
PARTNER = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN", strict=True))


@given(letters)
def test_decode_gives_the_letters_back(text):
    assert KEEP.decode(*KEEP.encode(text)) == text


@given(letters)
def test_codes_without_an_id_are_read_as_n(text):
    wanted = "".join(c if c in "ACGTNacgtn" else "N" if c.isupper() else "n" for c in text.decode())
    assert N_ONLY.decode(*N_ONLY.encode(text)) == wanted.encode()


@BOTH
def test_ids_follow_the_alphabet_and_case_is_a_mask(tokenizer):
    known = tokenizer.alphabet.letters
    ids, lower = tokenizer.encode(known + known.lower())
    assert ids.tolist() == list(range(len(known))) * 2
    assert lower.tolist() == [False] * len(known) + [True] * len(known)
    assert ids.dtype == np.uint8 and tokenizer.vocabulary == len(known)
    assert tokenizer.decode(ids) == known + known


@BOTH
def test_u_is_read_as_t_in_its_case(tokenizer):
    assert tokenizer.decode(*tokenizer.encode(b"AUuG")) == b"ATtG"


@given(letters)
def test_complement_is_that_of_the_nomenclature(text):
    ids, lower = KEEP.encode(text)
    wanted = "".join(PARTNER[c.upper()].lower() if c.islower() else PARTNER[c] for c in text.decode())
    assert KEEP.decode(KEEP.complement(ids), lower) == wanted.encode()


@BOTH
@given(text=letters)
def test_reverse_complement_twice_is_the_sequence(tokenizer, text):
    ids, _ = tokenizer.encode(text)
    assert np.array_equal(tokenizer.complement(tokenizer.complement(ids[::-1])[::-1]), ids)


@pytest.mark.parametrize("byte", sorted(set(range(256)) - set(IUPAC + IUPAC.lower() + b"Uu")))
def test_every_other_byte_is_an_error_that_names_its_base(byte):
    with pytest.raises(AlphabetError, match=r"expected a DNA letter, found .* at base 7$"):
        KEEP.encode(b"AC" + bytes([byte]) + b"!", start=4)


@given(st.lists(letters, max_size=12), st.integers(1, 90))
def test_chunks_tile_the_record_however_it_is_cut(pieces, size):
    chunks = list(KEEP.chunks(iter(pieces), size))
    text = b"".join(pieces)
    assert [(c.start, c.end) for c in chunks] == [(i, min(i + size, len(text))) for i in range(0, len(text), size)]
    assert all(len(c) == c.end - c.start and c.offsets is None for c in chunks)
    assert b"".join(KEEP.decode(c.ids, c.lower) for c in chunks) == text


def test_chunks_count_bases_over_the_whole_record():
    with pytest.raises(AlphabetError, match=r"at base 12$"):
        list(KEEP.chunks(iter([b"ACGTA", b"CGTAC", b"G!A"]), 4))


def test_chunks_are_given_before_the_next_piece_is_asked_for():
    asked = []

    def pieces():
        for i in range(4):
            asked.append(i)
            yield b"ACGTACGT"

    chunks = KEEP.chunks(pieces(), 5)
    next(chunks)
    assert asked == [0]
    next(chunks)
    assert asked == [0, 1]


@BOTH
def test_the_file_gives_the_tokenizer_back(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    again = load(tmp_path / "tokenizer.json", tokenizer.alphabet)
    assert isinstance(again, DnaTokenizer) and again.alphabet == tokenizer.alphabet


def test_another_alphabet_is_refused_with_both_named(tmp_path):
    path = tmp_path / "tokenizer.json"
    KEEP.save(path)
    with pytest.raises(AlphabetError, match=r"tokenizer.json.*expected .*'N'.*found .*'keep'"):
        load(path, Alphabet(ambiguity="N"))


def test_a_changed_contract_is_refused_with_both_digests(tmp_path):
    path = tmp_path / "tokenizer.json"
    KEEP.save(path)
    contract = json.loads(path.read_text())
    contract["alphabet"]["ambiguity"] = "N"
    path.write_text(json.dumps(contract))
    with pytest.raises(AlphabetError) as caught:
        load(path)
    assert Alphabet().digest() in str(caught.value) and Alphabet(ambiguity="N").digest() in str(caught.value)


@pytest.mark.parametrize("change", [{"alphabet": {"name": "protein"}}, {"alphabet": {"colour": 1}}, {"alphabet": None}])
def test_a_contract_of_another_kind_is_no_tokenizer(tmp_path, change):
    path = tmp_path / "tokenizer.json"
    KEEP.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: expected an alphabet and its digest"):
        load(path)
