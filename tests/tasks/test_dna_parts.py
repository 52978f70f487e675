"""Several parts of the records of one file: how much there is to read, and how their names are found."""

import logging

import pytest

from longseq.formats import reading
from longseq.records import Interval
from longseq.tasks.summarize.estimate import estimate_letters
from longseq.tasks.summarize.files import summarize_files
from longseq.tasks.summarize.request import Request


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">gi|1|ref|NC_007795.1|\n" + "ACGT" * 500 + "\n>b\n" + "GC" * 500 + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("regions", "letters"),
    [
        (("b:1-10",), 10),
        (("b:1-10", "b:5-14"), 20),
        (("b:2,901-",), 100),  # as if all were one record
        (("b:1-10", "b"), 3_010),
        (("b:4,001-5,000",), 0),
        ((), 3_000),
    ],
)
def test_letters_to_read_are_those_of_the_parts(file, regions, letters):
    assert estimate_letters(file, Request(regions=tuple(map(Interval.parse, regions)))) == letters


def test_another_spelling_is_looked_for_and_said_once(file, caplog, monkeypatch):
    opened = []
    monkeypatch.setattr(
        "longseq.tasks.shards.part.read", lambda *args, **how: opened.append(1) or reading.read(*args, **how)
    )
    parts = [Interval(record="NC_007795", start=at, end=at + 10) for at in (0, 500, 1_000)]
    with caplog.at_level(logging.INFO, "longseq"):
        (source,) = summarize_files([file], Request(regions=tuple(parts)))
    assert source.totals.num_seqs == 3 and source.totals.sum_len == 30
    assert [one.getMessage().count("NC_007795 is") for one in caplog.records] == [1]
    assert len(opened) == 4, "to look, and for each part"
