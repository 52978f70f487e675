"""Notes and short paragraphs of PDFs: what calls a note is no part of a sentence, and paragraphs end where they end."""

import pytest
from pdfs import LEADING, LEFT, SIZE, TOP, lines, page, pdf, sentences, wrapped
from reportlab.pdfbase import pdfmetrics

from longseq.formats import read

WORDS = "The keeper lit the lamp at dusk"


@pytest.fixture
def parts(make):
    """`parts(data)` is the text's paragraphs."""

    def call(data: bytes, name: str = "a.pdf"):
        record = next(read(make(name, data)))
        return "".join(record.pieces).split("\n\n")[:-1]

    return call


def raised(canvas, y, *runs: str, x: float = LEFT, size: float = SIZE) -> None:
    """A line of runs; every other one is small and raised, as a note's number is."""
    for i, run in enumerate(runs):
        small = 0.7 * size if i % 2 else size
        canvas.setFont("Helvetica", small)
        canvas.drawString(x, y + (0.35 * size if i % 2 else 0), run)
        x += pdfmetrics.stringWidth(run, "Helvetica", small)


def noted(*runs: str, notes: tuple[str, ...] = ()):
    """A page: a line of `runs`, prose, and notes at its foot, their numbers raised."""

    def draw(canvas):
        raised(canvas, TOP, *runs)
        lines(canvas, wrapped(sentences(6)), y=TOP - 2 * LEADING)
        for i, note in enumerate(notes):
            number, text = note.split(" ", 1)
            raised(canvas, 100 - 10 * i, "", number, f" {text}", size=8)

    return draw


@pytest.mark.parametrize(
    ("runs", "notes", "line"),
    [
        ((f"{WORDS}.", "1"), ("1 Or later.",), f"{WORDS}."),
        ((f"{WORDS}.", "1"), (), f"{WORDS}."),
        ((f"{WORDS}.", "1,2"), (), f"{WORDS}."),
        ((f"{WORDS}", "12", ", as was told."), ("12 Or later.",), f"{WORDS}, as was told."),
        ((f"{WORDS}", "23", " as was told."), ("2 Or later.", "3 Or not."), f"{WORDS} as was told."),
        ((f"{WORDS} ", "1", " as was told."), ("1 Or later.",), f"{WORDS} as was told."),
        ((f"{WORDS}", "2", " as was told."), (), f"{WORDS}² as was told."),
        (
            ("The tower has 10", "2", " steps over 40 m", "2", " of rock."),
            ("2 Or more.",),
            "The tower has 10² steps over 40 m² of rock.",
        ),
        (("The sum is (a + b)", "2", " in all."), ("1 Or more.",), "The sum is (a + b)² in all."),
    ],
)
def test_the_number_of_a_note_is_no_part_of_the_text_and_a_power_is(parts, runs, notes, line):
    found = parts(pdf(noted(*runs, notes=notes)))
    assert found[0] == line and sentences(6) in found


def test_notes_under_each_other_are_paragraphs(parts):
    notes = ("1 " + sentences(1, 30), "2 " + sentences(1, 31))
    found = parts(pdf(noted(f"{WORDS}.", notes=notes)))
    assert [part for part in found if part[0] in "¹²"] == [note.translate({49: "¹", 50: "²"}) for note in notes]


def test_digits_of_the_same_height_stay(parts):
    """Of another font, and of a number in front of smaller text."""

    def draw(canvas):
        lines(canvas, [f"{WORDS} 3"])
        lines(canvas, ["version 42 of 7"], x=LEFT + 180, font="Courier")

    assert "".join(parts(pdf(draw))).split() == f"{WORDS} 3 version 42 of 7".split()


def two_lines(start: int) -> list[str]:
    """A paragraph whose second line ends a sentence at the end of the column."""
    first = wrapped(sentences(6, start))[0]
    return [first, f"And this {first[9:-1]}."]


def test_a_page_of_short_paragraphs(parts):
    """Most lines are the last of a paragraph, and full: the wider gap tells, even where it is the usual one."""
    shown = [two_lines(i) for i in range(9)] + [["Short."], ["Shorter."]] * 3

    def draw(canvas):
        y = TOP
        for part in shown:
            y = lines(canvas, part, y=y) - 0.5 * LEADING

    assert parts(pdf(draw)) == [" ".join(part) for part in shown]


def test_a_term_under_what_another_one_means_begins_a_paragraph(parts):
    """It stands further to the left than the paragraph above it, which ends at the end of its line."""
    meaning = wrapped(sentences(9), 400)
    at = next(i for i, line in enumerate(meaning) if i > 1 and line.endswith("."))
    meaning = meaning[: at + 1]

    def draw(canvas):
        y = lines(canvas, ["Lamp"])
        y = lines(canvas, meaning, x=LEFT + 24, y=y)
        y = lines(canvas, ["Tower of the old harbour"], y=y)
        lines(canvas, wrapped(sentences(2, 40), 400), x=LEFT + 24, y=y)

    found = parts(pdf(draw))
    assert " ".join(meaning) in " ".join(found) and any(part.startswith("Tower of the old harbour") for part in found)


@pytest.mark.parametrize(
    ("title", "description"),
    [("Of Towers", "Of Towers"), ("of\ntowers", "of towers"), ("Microsoft Word - draft3.doc", ""), ("", "")],
)
def test_the_title_is_the_files_where_the_first_pages_show_it(make, title, description):
    def cover(canvas):
        canvas.setTitle(title)
        lines(canvas, ["OF TOWERS"], size=20)

    record = next(read(make("a.pdf", pdf(cover, page(sentences(9))))))
    assert record.description == description
