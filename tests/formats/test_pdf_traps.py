"""What PDFs do to text: ligatures, soft hyphens, heads that change, notes under columns, encryption, vertical lines."""

import subprocess
import sys
from pathlib import Path

import pytest
from pdfs import LEADING, LEFT, TOP, lines, page, pdf, sentences, wrapped
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont

from longseq.formats import read

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def text_of(make):
    """`text_of(data)` is (text, record) of a PDF."""

    def call(data: bytes):
        record = next(read(make("a.pdf", data)))
        return "".join(record.pieces), record

    return call


def test_ligatures_are_their_letters(text_of):
    drawn = ["The ﬁrst keeper ﬂed, and the ofﬁce stayed", "ﬁlled with oil."]
    text, _ = text_of(pdf(lambda canvas: lines(canvas, drawn, font="Vera")))
    assert text == "The first keeper fled, and the office stayed filled with oil.\n\n"


@pytest.mark.parametrize("inside", ["", "\xad"])
def test_soft_hyphens_are_none(text_of, inside):
    """They stand where a word may be cut: at the end of a line it was, inside one it was not."""
    drawn = [f"The light{inside}house stood in the pro\xad", "vince of the well-known Anglo-", "Saxon king."]
    text, _ = text_of(pdf(lambda canvas: lines(canvas, drawn, font="Vera")))
    assert text == "The lighthouse stood in the province of the well-known Anglo-Saxon king.\n\n"


def test_a_head_that_changes_with_every_page_is_left_out(text_of):
    """As in a dictionary: each page's head says what stands on it."""
    heads = ["alarm", "beacon", "cliff", "dusk", "ember", "flame", "gale", "harbor", "island", "jetty"]
    text, record = text_of(pdf(*(page(sentences(9, i * 9), head=head) for i, head in enumerate(heads))))
    assert " ".join(text.split()) == sentences(9 * len(heads))
    assert record.notes["running_lines"] == len(heads)


def test_titles_at_the_top_of_few_pages_stay(text_of):
    """Titles in letters of the text at the top of pages, far from it, differ and are few: they are text."""
    text, _ = text_of(pdf(*(page(title, sentences(7, i * 7)) for i, title in enumerate(["Oil", "Wick", "Glass"]))))
    assert [part for part in text.split("\n\n") if len(part) < 9 and part] == ["Oil", "Wick", "Glass"]


def test_notes_at_the_foot_of_two_columns(text_of):
    left, right = (wrapped(sentences(12, start), 210, size=10) for start in (0, 12))

    def draw(canvas):
        for x, column in ((LEFT, left), (320, right)):
            lines(canvas, column, x=x, y=TOP, size=10)
        y = TOP - LEADING * max(len(left), len(right)) - 20
        lines(canvas, ["1 A note in small letters, below the first column.", "2 Another one."], y=y, size=7)

    text, record = text_of(pdf(draw))
    notes = [mark.start for mark in record.layout.marks if mark.part == "note"]
    assert notes and "1 A note in small letters, below the first column." in text[notes[0] :]
    prose = text[: notes[0]] + text[text.index("2 Another one.") + len("2 Another one.") :]
    assert " ".join(prose.split()) == sentences(24)


def test_numbered_lines_of_a_transcript_with_heads_and_feet(text_of):
    def draw(number: int):
        def one(canvas):
            lines(canvas, [f"Page {number}"], x=480, y=800, size=9)
            for n in range(1, 25):
                y = TOP - 2 * LEADING * (n - 1)
                lines(canvas, [str(n)], x=50, y=y)
                said = f"{'QA'[n % 2]}.   {sentences(1, number * 25 + n)[:58].rstrip(' .')}."
                lines(canvas, [said], x=90, y=y)
            lines(canvas, ["Harbor Reporting, Inc."], x=240, y=30, size=9)

        return one

    text, record = text_of(pdf(*(draw(number) for number in range(12, 18))))
    turns = text.split("\n\n")[:-1]
    assert len(turns) == 24 * 6 and all(turn[:3] in ("Q. ", "A. ") and turn.endswith(".") for turn in turns)
    assert record.notes["running_lines"] == 2 * 6


@pytest.mark.parametrize("method", ["aes-128", "aes-256"])
def test_an_empty_password_is_none(method):
    """Files of pypdf's encryption; the reader needs no package for it."""
    record = next(read(str(SAMPLES / f"{method}.pdf")))
    assert "".join(record.pieces) == "The lamp of the tower was lit at dusk by its keeper.\n\n"
    assert not record.layout.unread


def test_vertical_chinese_is_read(text_of):
    """Its letters come, in the order of the file; columns from the right are not put in order."""
    pdfmetrics.registerFont(UnicodeCIDFont("MSung-Light", isVertical=True))
    columns = ["海上的燈塔每天晚上都會點亮。", "守塔人住在那裡已經三十年了。"]

    def draw(canvas):
        canvas.setFont("MSung-Light", 14)
        for i, column in enumerate(columns):
            canvas.drawString(480 - 30 * i, 760, column)

    text, record = text_of(pdf(draw))
    assert sorted("".join(text.split())) == sorted("".join(columns)) and not record.layout.unread


@pytest.mark.slow
def test_memory_does_not_grow_with_pages(tmp_path):
    """50 MiB more for 500 pages than for 50, of a process that reads and nothing else."""
    code = (
        "import resource, sys\nfrom longseq.formats import read\n"
        "for record in read(sys.argv[1]):\n    for piece in record.pieces:\n        pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (50, 500):
        file = tmp_path / f"{count}.pdf"
        file.write_bytes(pdf(*(page(sentences(20, i), sentences(15, i + 7)) for i in range(count))))
        done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 50 * 1024
