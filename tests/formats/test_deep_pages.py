"""Pages of HTML that are nested deeply: whole, or refused."""

import pytest

from longseq.errors import InputError
from longseq.formats import read

BEFORE, DEEP, AFTER = "Before it all.", "Deep inside.", "Behind it all."


def nested(depth: int, begin: str, end: str) -> str:
    return f"<body><p>{BEFORE}</p>{begin * depth}<p>{DEEP}</p>{end * depth}<p>{AFTER}</p></body>"


@pytest.mark.parametrize(
    ("begin", "end", "depth"),
    [
        ("<div>", "</div>", 2000),
        ("<font>", "", 1500),
        ("<table><tr><td>", "</td></tr></table>", 500),
        ("<blockquote>", "</blockquote>", 2000),
    ],
)
def test_a_deep_page_is_read_to_its_end(make, begin, end, depth):
    (text,) = ["".join(record.pieces) for record in read(make("deep.html", nested(depth, begin, end).encode()))]
    assert text.split() == f"{BEFORE} {DEEP} {AFTER}".split()


def test_words_deep_inside_a_heading_and_a_cell_are_read(make):
    spans, ends = "<span>" * 1500, "</span>" * 1500
    page = f"<body><h1>{spans}Title{ends}</h1><table><tr><td>{spans}One{ends}</td><td>Two</td></tr></table></body>"
    (text,) = ["".join(record.pieces) for record in read(make("deep.html", page.encode()))]
    assert text.split() == ["Title", "One", "|", "Two"]


def test_a_page_deeper_than_the_parser_goes_is_refused(make):
    with pytest.raises(InputError, match="at most 2048 elements deep"):
        [list(record.pieces) for record in read(make("deep.html", nested(3000, "<div>", "</div>").encode()))]
