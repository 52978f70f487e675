"""Words and terms, against what a reader would count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.tokens.words import count_words, terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n — * … ", 0),
        ("The well-known keeper's 3 lamps, on e.g. 1,200 nights.", 9),
        ("灯塔很高。", 4),
        ("第3章 the light", 5),
        ("カタカナとKanji漢字", 8),
        ("हिन्दी भाषा है।", 3),
        ("한국어 문장", 2),
    ],
)
def test_count(text, words):
    assert count_words(text) == words


@given(st.text(), st.text())
def test_counts_of_parts_add_up(a, b):
    assert count_words(f"{a}\n{b}") == count_words(a) + count_words(b)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The tide's 3 MARKS, the well-known", ["the", "tide's", "3", "marks", "the", "well", "known"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("灯塔守 a 海", ["灯塔", "塔守", "a", "海"]),
        ("हिन्दी है", ["हिन्दी", "है"]),
        ("don’t 'quote'", ["don’t", "quote"]),
        ("— … !", []),
        ("\ud800x", ["x"]),
    ],
)
def test_terms(text, found):
    assert terms(text) == found
