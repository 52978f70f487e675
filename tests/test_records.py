"""Regions as people write them, and places as errors name them."""

import pytest

from longseq.errors import InputError, UsageError, place
from longseq.records import Interval

END = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "record", "start", "end"),
    [
        ("chr2", "chr2", 0, END),
        ("chr2:1,001-2,000", "chr2", 1000, 2000),
        ("chr2:7", "chr2", 6, END),
        ("chr2:7-", "chr2", 6, END),
        ("HLA:01:02:2-3", "HLA:01:02", 1, 3),
        ("HLA:01:1-", "HLA:01", 0, END),
        ("chr2:,", "chr2:,", 0, END),
        ("chr2:1-,", "chr2:1-,", 0, END),
    ],
)
def test_a_region(text, record, start, end):
    assert Interval.parse(text) == Interval(record=record, start=start, end=end)


@pytest.mark.parametrize(("text", "found"), [("a:0-3", "0-3"), ("a:5-4", "5-4"), ("a:5-0", "5-0"), ("", "none")])
def test_a_region_that_is_none(text, found):
    with pytest.raises(UsageError, match=f"found {found}; write NAME"):
        Interval.parse(text)


def test_an_interval_says_what_it_found():
    with pytest.raises(UsageError, match=r"^interval of a: expected 0 <= start <= end < 2\^63, found \[5, 4\)$"):
        Interval(record="a", start=5, end=4)


def test_a_place():
    assert place("toy.fa.gz", 12, "chrM") == "toy.fa.gz:12 (chrM)"
    assert place("-", 3, "") == "<stdin>:3"


def test_an_error_is_one_line():
    error = InputError("is odd", where="a\nb", expected="x", found="y", remedy="z")
    assert str(error) == "a\\nb: is odd, expected x, found y; z"
