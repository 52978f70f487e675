"""Characters and words: an id each, by frequency; what was not learned is unknown; exact in a stream."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError
from longseq.records import Record
from longseq.tokens import load
from longseq.tokens.stream import SEPARATOR
from longseq.tokens.train import END, UNKNOWN, Learning, learn

TEXT = "13+35 caf\u00e9 \u6cb3\U0001f600\n 13 + <|separator|> 5 " * 3


def learned(text=TEXT, **settings):
    kind = "dna" if isinstance(text, bytes) else "document"
    return learn([Record(id="x", kind=kind, source="x", index=0, pieces=iter([text]))], Learning(**settings)).tokenizer


def ids_of(tokenizer, text, block=10**6):
    pieces = iter([text[i : i + block] for i in range(0, len(text), block)])
    return np.concatenate([np.zeros(0, int), *(chunk.ids for chunk in tokenizer.chunks(pieces, 7))])


def test_every_character_has_an_id_and_comes_back():
    tokenizer = learned(unit="characters")
    assert tokenizer.provable and tokenizer.vocabulary == 2 + len(set(TEXT))
    ids = ids_of(tokenizer, TEXT)
    assert len(ids) == len(TEXT) and tokenizer.decode(ids) == TEXT
    table = {letter: int(i) for letter, i in zip(TEXT, ids, strict=True)}
    assert sorted(table, key=table.get) == sorted(table)  # in order of their letters
    assert not tokenizer.special & set(ids.tolist())
    assert ids_of(tokenizer, "1x3").tolist() == [table["1"], tokenizer.unknown, table["3"]]


@settings(max_examples=30, deadline=None)
@given(st.text(st.sampled_from("1 +\n\u00e9x<|separator|>"), max_size=60), st.integers(1, 9))
@pytest.mark.parametrize("unit", ["characters", "words"])
def test_pieces_of_a_text_change_nothing(unit, text, block):
    tokenizer = _kept(unit)
    assert np.array_equal(ids_of(tokenizer, text, block), ids_of(tokenizer, text))


_TOKENIZERS = {}


def _kept(unit):
    return _TOKENIZERS.setdefault(unit, learned(unit=unit))


def test_words_are_what_stands_between_white_space():
    tokenizer = learned("b a  b\nc a\tb <|unknown|> <|unknown|>", unit="words")
    ids = ids_of(tokenizer, "a b c <|unknown|>").tolist()
    assert ids == [2, 3, tokenizer.unknown, tokenizer.unknown]  # c was seen once
    assert tokenizer.decode(np.array([2, 3])) == "a b"


def test_the_most_frequent_are_kept():
    assert sorted(learned("aaabbc" * 2, unit="characters", vocabulary=4)._engine.spec["model"]["vocab"]) == [
        END,
        UNKNOWN,
        "a",
        "b",
    ]
    assert learned("aAb", unit="characters", lowercase=True, min_frequency=2).vocabulary == 3


def test_a_separator_stands_behind_all_other_ids(tmp_path):
    tokenizer = learned(unit="characters")
    assert tokenizer.separator is None
    both = tokenizer.with_special(END, SEPARATOR)
    assert (both.separator, both.end, both.vocabulary) == (tokenizer.vocabulary, tokenizer.end, both.separator + 1)
    assert both.with_special(SEPARATOR).digest() == both.digest()
    assert np.array_equal(ids_of(both, TEXT), ids_of(tokenizer, TEXT))  # the text that spells it is text
    both.save(tmp_path / "t.json")
    assert load(tmp_path / "t.json").separator == both.separator


def test_what_has_no_units_is_refused():
    with pytest.raises(ConfigError, match="unit: expected 'pieces' of DNA"):
        learned(b"ACGT", unit="characters")
    with pytest.raises(ConfigError, match="vocabulary: expected more than the end"):
        learned(unit="words", vocabulary=2)
