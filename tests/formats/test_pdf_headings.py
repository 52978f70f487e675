"""Sections of a PDF without an outline, by the size of its letters."""

import pytest
from pdfs import lines, pdf, sentences, wrapped

from longseq.formats import read
from longseq.formats.pdf.headings import LARGER
from longseq.tasks.document.structure import blocks


def sections(make, *pages, **options) -> list[tuple[str, str]]:
    """(section, first words) of the prose."""
    record = next(read(make("a.pdf", pdf(*pages, **options))))
    found = list(blocks(record.pieces, record.layout))
    return [(b.section, b.text[:14]) for b in found if b.part == "prose"]


def drawn(*parts: tuple[str, float]):
    """A page of (text, size)."""

    def draw(canvas):
        y = 760
        for text, size in parts:
            y = lines(canvas, wrapped(text, size=size), y=y, size=size) - 14

    return draw


TITLE = drawn(("Of Towers and Lamps", 24), ("A manual for keepers", 11))
FIRST = drawn(("1 Towers", 18), (sentences(4), 11), ("1.1 Stairs that climb", 14), (sentences(4, 4), 11))
SECOND = drawn((sentences(3, 8), 11), ("2 Lamps", 18), (sentences(4, 11), 11), ("Wicks?", 14), (sentences(2, 15), 11))


def test_larger_letters_are_headings_and_nest_by_size(make):
    assert sections(make, TITLE, FIRST, SECOND) == [
        ("Of Towers and Lamps", "A manual for k"),
        ("Of Towers and Lamps > 1 Towers", "Entry aa says "),
        ("Of Towers and Lamps > 1 Towers > 1.1 Stairs that climb", "Entry ea says "),
        ("Of Towers and Lamps > 1 Towers > 1.1 Stairs that climb", "Entry ia says "),
        ("Of Towers and Lamps > 2 Lamps", "Entry la says "),
        ("Of Towers and Lamps > 2 Lamps > Wicks?", "Entry pa says "),
    ]


def test_a_heading_goes_over_two_lines(make):
    found = sections(
        make, drawn(("Of the towers that stand alone on rocks far out in the grey sea", 18), (sentences(5), 11))
    )
    assert found == [("Of the towers that stand alone on rocks far out in the grey sea", "Entry aa says ")]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Not larger by enough", 11 * LARGER - 0.3),
        ("A sentence that is set large.", 18),
        ("A", 30),
        ("1901", 18),
        ("Large letters that " * 12, 14),
    ],
)
def test_what_is_no_heading(make, text, size):
    found = sections(make, drawn((sentences(3), 11), (text, size), (sentences(9, 3), 11)))
    assert {section for section, _ in found} == {""}


def test_smaller_letters_of_notes_are_no_measure(make):
    found = sections(make, drawn((sentences(9), 11), (sentences(3, 9), 8)))
    assert {section for section, _ in found} == {""}


def test_an_outline_is_believed_before_sizes(make):
    def outlined(canvas):
        drawn(("Set large", 18), (sentences(3), 11), ("In the outline", 11), (sentences(3, 3), 11))(canvas)
        canvas.bookmarkPage("one")
        canvas.addOutlineEntry("In the outline", "one", 0)

    assert [section for section, _ in sections(make, outlined)] == ["", "", "In the outline"]
