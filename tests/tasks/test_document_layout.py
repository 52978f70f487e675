"""Parts, sections and pages that a document's format tells of, and headings of plain text."""

import pytest

from longseq.records import Layout, Mark, Page, Record, Unread
from longseq.tasks.document.structure import blocks
from longseq.tasks.document.summary import summarize_document

PARTS = [
    ("heading", 1, "Of Lamps", "Of Lamps"),
    ("prose", 0, "", "# The lamp of the tower was lit at dusk by its keeper."),
    ("prose", 0, "", "CHAPTER IV."),
    ("heading", 2, "Oil", "Of oil"),
    ("table", 0, "", "1901 | The lamp of the tower was lit at dusk by its keeper."),
    ("note", 0, "", "1 The lamp of the tower was never lit at dawn by its keeper."),
    ("", 2, "Wicks", ""),
    ("prose", 0, "", "The keeper of the tower cut the wick of the lamp each night."),
]


def built() -> tuple[str, Layout]:
    text, layout = "", Layout(extractor="by hand", sectioned=True)
    for part, depth, title, line in PARTS:
        layout.marks.append(Mark(len(text), part, depth, title))
        text += f"{line}\n\n" * bool(line)
    return text, layout


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_marks_are_believed(size):
    text, layout = built()
    found = list(blocks((text[i : i + size] for i in range(0, len(text), size)), layout))
    assert "".join(block.text for block in found) == text
    assert [(block.part, block.section) for block in found if block.part != "blank"] == [
        ("heading", "Of Lamps"),
        ("prose", "Of Lamps"),
        ("prose", "Of Lamps"),
        ("heading", "Of Lamps > Oil"),
        ("table", "Of Lamps > Oil"),
        ("note", "Of Lamps > Oil"),
        ("prose", "Of Lamps > Wicks"),
    ]


def test_a_layout_may_fill_while_the_text_is_walked():
    text, whole = built()
    layout = Layout(extractor="by hand", sectioned=True)

    def pieces():
        ends = [mark.start for mark in whole.marks[1:]] + [len(text)]
        for mark, end in zip(whole.marks, ends, strict=True):
            layout.marks.append(mark)
            yield text[mark.start : end]

    assert list(blocks(pieces(), layout)) == list(blocks([text], whole))


def test_a_summary_says_page_section_and_what_was_not_read():
    text, layout = built()
    at = text.index("The keeper of")
    layout.pages += [Page(0, 1, "i"), Page(at, 4, "2")]
    layout.unread += [Unread(2, "ii", "image"), Unread(3, "1", "image"), Unread(5, "3", "damaged")]
    layout.pages_total = 5
    record = Record(id="a", kind="document", source="a.pdf", index=0, pieces=iter([text]), layout=layout)
    summary = summarize_document(record)
    assert [(row.page, row.page_label, row.section) for row in summary.sentences] == [
        (1, "i", "Of Lamps"),
        (4, "2", "Of Lamps > Wicks"),
    ]
    assert all(text[row.start : row.end] == row.text and row.byte_start is None for row in summary.sentences)
    assert summary.coverage == 0.4 and summary.pages == 5 and summary.extractor == "by hand"
    assert "3 of 5 pages could not be read: 2-3 (image), 5 (damaged)" in summary.remarks
    assert summary.to_json()["unread"][0] == {"page": 2, "label": "ii", "why": "image"}


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("CHAPTER IV.\n\nIt was lit.\n", ["CHAPTER IV."]),
        ("第一回 甄士隱\n此開卷第一回也。\n第二回 賈夫人\n卻說封肅。\n", ["第一回 甄士隱", "第二回 賈夫人"]),
        (
            "一、总则\n本办法适用于灯塔。\n（一）点灯\n每晚点灯。\n1.时间\n天黑以前点灯。\n（二）熄灯\n天亮熄灯。\n二、附则\n完。\n",
            [
                "一、总则",
                "一、总则 > （一）点灯",
                "一、总则 > （一）点灯 > 1.时间",
                "一、总则 > （二）熄灯",
                "二、附则",
            ],
        ),
        ("一、应当点灯，每晚都要点。\n天亮熄灯。\n", [""]),
        ("第一章 总则\n一、目的\n为了点灯。\n", ["第一章 总则", "第一章 总则 > 一、目的"]),
        ("一、材料\n要用的有\n1.灯芯\n2.灯油\n", ["一、材料"]),
        ("Title\n=====\n\n.. note:: Something.\n\nIt was lit.\n", ["Title"]),
    ],
)
def test_headings_of_plain_text(text, sections):
    found = list(blocks([text]))
    headings = [block.section for block in found if block.part == "heading"]
    assert (headings or [found[-1].section]) == sections


def test_directives_are_no_prose():
    found = {block.text.strip(): block.part for block in blocks([".. image:: a.png\n\n.. _here:\n\n.. and so on\n"])}
    assert found[".. image:: a.png"] == found[".. _here:"] == "note" and found[".. and so on"] == "prose"
