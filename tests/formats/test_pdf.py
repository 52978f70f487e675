"""PDFs page by page: reading order, what is no text left out, what cannot be read named."""

import pytest
from pdfs import (
    HEIGHT,
    LEADING,
    LEFT,
    SIZE,
    TOP,
    WORDS,
    damage,
    edited,
    glyphs,
    lines,
    page,
    pdf,
    scan,
    sentences,
    wrapped,
)

from longseq.errors import InputError
from longseq.formats import read
from longseq.formats.pdf.garbled import garbled
from longseq.formats.pdf.paragraphs import Joiner


@pytest.fixture
def text_of(make):
    """`text_of(data)` is (text, record) of a PDF."""

    def call(data: bytes):
        (record,) = [(r, "".join(r.pieces)) for r in read(make("a.pdf", data))]
        return record[1], record[0]

    return call


def test_a_paragraph_is_a_line(text_of):
    text, record = text_of(pdf(page(sentences(5), sentences(5, 5))))
    assert text == f"{sentences(5)}\n\n{sentences(5, 5)}\n\n"
    assert record.kind == "document" and record.length == len(text) and record.notes == {"format": "pdf"}
    assert record.layout.pages_total == 1 and record.layout.extractor.startswith("longseq.pdf/")


def test_two_columns_written_row_by_row(text_of):
    left, right = (wrapped(sentences(14, start), 210, size=10) for start in (0, 14))

    def draw(canvas):
        lines(canvas, ["A title that stands over both of the columns of this page of text"], y=790, size=12)
        for i in range(max(len(left), len(right))):
            for x, column in ((LEFT, left), (320, right)):
                lines(canvas, column[i : i + 1], x=x, y=TOP - LEADING * i, size=10)

    text, _ = text_of(pdf(draw))
    _, *parts = text.split("\n\n")
    assert " ".join(" ".join(parts).split()) == sentences(28)


def test_a_table_is_read_by_its_rows(text_of):
    rows = [(f"Lamp {i}", f"{i * 7} m", f"built {1800 + i}") for i in range(12)]

    def draw(canvas):
        for i, row in enumerate(rows):
            for k, cell in enumerate(row):
                lines(canvas, [cell], x=LEFT + 150 * k, y=TOP - LEADING * i)

    text, record = text_of(pdf(draw))
    assert text.split("\n\n")[:-1] == ["  ".join(row) for row in rows]
    assert {mark.part for mark in record.layout.marks} == {"table"}


@pytest.mark.parametrize("number", ["Page {0} of {1}", "- {0} -", "{0}", "第 {0} 页"])
def test_heads_and_feet_are_left_out(text_of, number):
    count = 12

    def draw(i: int):
        inner = page(sentences(9, i * 9), head=f"{'Of Towers' if i < 7 else 'Of Water'}   {i + 1}")

        def both(canvas):
            inner(canvas)
            font = "STSong-Light" if number.startswith("第") else "Helvetica"
            lines(canvas, [number.format(i + 1, count)], x=280, y=40, font=font, size=9)

        return both

    text, record = text_of(pdf(*map(draw, range(count))))
    assert " ".join(text.split()) == sentences(9 * count)
    assert record.notes["running_lines"] == 2 * count


def test_what_comes_once_at_the_top_of_a_page_stays(text_of):
    pages = [page(f"Title number {word}.", sentences(6, i * 6)) for i, word in enumerate(["one", "two", "six"])]
    text, _ = text_of(pdf(*pages))
    assert all(f"Title number {word}." in text for word in ["one", "two", "six"])


def test_hyphens_at_the_ends_of_lines(text_of):
    drawn = [
        "The keeper was a well-known man of the neigh-",
        "bourhood, and his well-",
        "known lamp was the pride of the pro\xad",
        "vince, a state-of-",
        "the-art machine, COVID-",
        "19 aside.",
    ]
    text, _ = text_of(pdf(lambda canvas: lines(canvas, drawn)))
    assert text == (
        "The keeper was a well-known man of the neighbourhood, and his well-known lamp was the pride of the province,"
        " a state-of-the-art machine, COVID-19 aside.\n\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("of the neigh-", "bourhood", "of the neighbourhood"),
        ("of the neigh\xad", "bourhood", "of the neighbourhood"),
        ("the second-", "hand lamp", "the second-hand lamp"),  # as it stands elsewhere in the document
        ("Anglo-", "Saxon", "Anglo-Saxon"),
        ("點亮", "因為", "點亮因為"),
        ("點亮。", "「因為", "點亮。「因為"),
        ("등대는", "바다에", "등대는 바다에"),
        ("he said —", "then", "he said — then"),
    ],
)
def test_two_lines_as_one(before, after, joined):
    joiner = Joiner()
    joiner._compounds.add("second-hand")
    assert joiner.join(before, after) == joined


def test_no_blank_between_chinese_lines(text_of):
    words = "海上的燈塔每天晚上都會點亮因為守塔人住在那裡已經三十年了他從來沒有離開過這個小島也不想離開。"
    cut = [words[i : i + 20] for i in range(0, len(words), 20)]
    text, _ = text_of(pdf(lambda canvas: lines(canvas, cut, font="STSong-Light")))
    assert text == words + "\n\n"


def test_numbers_of_a_transcript_are_left_out(text_of):
    spoken = [" ".join(WORDS[n % 7 : n % 7 + 9]) for n in range(24)]

    def draw(canvas):
        for n, line in enumerate(spoken):
            y, who = TOP - 2 * LEADING * n, {0: "Q.", 2: "A."}.get(n % 4, "")
            lines(canvas, [str(n + 1)], x=50, y=y)
            lines(canvas, [f"{who}   {line}{'.' if n % 2 else ''}"], x=90, y=y)

    text, _ = text_of(pdf(draw, draw))
    turns = [f"{'QA'[n % 4 // 2]}. {spoken[n]} {spoken[n + 1]}." for n in range(0, 24, 2)]
    assert text.split("\n\n")[:-1] == turns * 2


def test_a_sentence_goes_on_past_notes_and_the_end_of_the_page(text_of):
    shown = wrapped(sentences(20))

    def draw(part: list[str], note: str):
        def both(canvas):
            lines(canvas, part)
            lines(canvas, [note], y=80, size=8)

        return both

    at = next(i for i in range(5, 20) if not shown[i].endswith(".") and len(shown[i]) > 80)
    text, record = text_of(
        pdf(draw(shown[: at + 1], "1 A note in small letters."), draw(shown[at + 1 :], "2 Another."))
    )
    assert sentences(20) in text.split("\n\n")
    (notes,) = [mark.start for mark in record.layout.marks if mark.part == "note"]
    assert text[notes:].startswith("1 A note in small letters.\n\n2 Another.\n\n")
    first, second = record.layout.pages
    assert text[second.start :].startswith(shown[at + 1]) and first.start == 0


def test_sections_and_labels_of_pages(text_of):
    def draw(i: int):
        def both(canvas):
            if i == 1:
                canvas.addPageLabel(1, style="ARABIC", start=1)
                lines(canvas, ["Chapter 1", "", "Of Towers"], size=16)
                canvas.bookmarkPage("one")
                canvas.addOutlineEntry("1. Of Towers", "one", 0)
            if i == 2:
                lines(canvas, ["1.1 How they stand"], size=12)
                canvas.bookmarkPage("two")
                canvas.addOutlineEntry("How they stand", "two", 1)
                canvas.bookmarkPage("three")
                canvas.addOutlineEntry("Not in the text", "three", 1)
            lines(canvas, wrapped(sentences(6, 6 * i)), y=TOP - 80)

        return both

    def start(canvas):
        canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
        draw(0)(canvas)

    text, record = text_of(pdf(start, draw(1), draw(2)))
    assert [(p.number, p.label) for p in record.layout.pages] == [(1, "i"), (2, "1"), (3, "2")]
    sections = [(mark.depth, mark.title, mark.part) for mark in record.layout.marks if mark.depth]
    assert sections == [(1, "1. Of Towers", "heading"), (2, "How they stand", "heading"), (2, "Not in the text", "")]
    assert record.layout.sectioned and "Of Towers\n\n" in text
    assert record.layout.page_at(text.index(sentences(1, 12))).label == "2"


def test_pages_that_cannot_be_read_are_named_and_the_rest_is_read(text_of):
    data = pdf(*(page(sentences(8)), scan, page(sentences(8, 8)), lambda canvas: None, page("x"), scan, scan))
    text, record = text_of(edited(data, lambda writer: damage(writer, 4)))
    assert text == f"{sentences(8)}\n\n{sentences(8, 8)}\n\n"
    assert [tuple(page) for page in record.layout.unread] == [
        (2, "2", "image"),
        (5, "5", "damaged"),
        (6, "6", "image"),
        (7, "7", "image"),
    ]
    assert record.notes["blank_pages"] == 1 and record.layout.pages_total == 7


def test_half_of_a_page_is_no_page(text_of):
    def cut(writer):
        stream = writer.pages[1]["/Contents"].get_object()
        stream._data = stream._data[: len(stream._data) // 2] + b"\xff" * 40

    text, record = text_of(edited(pdf(page(sentences(9)), page(sentences(9, 9)), pageCompression=1), cut))
    assert text == sentences(9) + "\n\n" and [p.why for p in record.layout.unread] == ["damaged"]


@pytest.mark.parametrize("embedded", [True, False])
def test_letters_without_a_map_are_garbled(make, embedded):
    path = make("a.pdf", glyphs(sentences(8), embedded=embedded))
    with pytest.raises(InputError) as caught:
        "".join(next(read(path)).pieces)
    assert str(caught.value) == (
        f"{path}: expected pages with text, found 1 without (garbled);"
        " run OCR over it first: ocrmypdf --force-ocr IN OUT"
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (sentences(5), False),
        ("Die Bürger müssen über die Straße gehen, denn größer ist schöner. " * 3, False),
        ("海上的燈塔 lighthouse 每天晚上 everyday 都會點亮 and so on。" * 3, False),
        ("吾輩は猫である。名前はまだ無い。ニャーニャー泣いていた。" * 3, False),
        ("Пётр I и iPhone 7 стоили σ = 2 µm и 5 Ω. " * 4, False),
        ("ᓵᔦᐸ꤀ꤡԱղ௵ะ្ᚠᛒ꜔ᏣᎳ" * 5, True),
        ("\ue001\ue002\ue003\ue004 \ue005\ue006" * 9, True),
        ("аbсdеfg hіјk lмnоp" * 5, True),
    ],
)
def test_mixed_scripts(text, wrong):
    assert garbled(text, 10, 0) is wrong


def test_an_owners_password_does_not_matter(text_of):
    data = edited(pdf(page(sentences(8))), lambda w: w.encrypt("", "owner", algorithm="RC4-128"))
    assert text_of(data)[0] == sentences(8) + "\n\n"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            edited(pdf(page("One.")), lambda w: w.encrypt("secret", "owner", algorithm="RC4-128")),
            "expected a PDF that opens without a password, found one that asks for it; decrypt it first: qpdf",
        ),
        (b"%PDF-1.7\nnothing\n", "is no PDF that can be read"),
        (pdf(scan, scan), "expected pages with text, found 2 without .image.; run OCR .* --skip-text"),
        (pdf(lambda canvas: None), "expected pages with text, found blank pages"),
    ],
)
def test_a_pdf_that_cannot_be_read(make, data, problem):
    with pytest.raises(InputError, match=r"a\.pdf: " + problem):
        "".join(next(read(make("a.pdf", data))).pieces)


def test_packed_and_from_its_middle(make, pack, text_of):
    data = pdf(page(sentences(8)))
    (record,) = read(make("a.pdf.gz", pack("gzip", data)))
    assert record.id == "a.pdf"
    assert "".join(next(read(make("b.pdf.gz", pack("gzip", data)))).pieces) == text_of(data)[0]
    assert text_of(b"\0\0 left by a printer\n" + data)[0] == text_of(data)[0]


def test_a_scan_with_a_stamp_is_a_scan(text_of):
    def stamped(canvas):
        scan(canvas)
        lines(canvas, ["EXHIBIT 12"], y=HEIGHT - 40, size=SIZE)

    _, record = text_of(pdf(page(sentences(8)), stamped))
    assert [tuple(page) for page in record.layout.unread] == [(2, "2", "image")]
