"""What lines are, and in which section; nothing depends on how the text arrives."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.tasks.document.structure import LONGEST_FENCE, LONGEST_LINE, blocks

LINES = [
    "# One\n",
    "## Two\r\n",
    "Title\n",
    "=====\n",
    "-----\n",
    "* item\n",
    "1. item\n",
    "  more\n",
    "> quoted\n",
    "```\n",
    "\n",
    "prose goes on\n",
    "Scope ........ 12\n",
    "| a | b |\n",
    "CHAPTER IV.\n",
    "第一回 某\n",
    " 1   Q.  Why\n",
    " 2   so?\n",
    " 3\n",
    "[1] A note\n",
    "x" * (LONGEST_LINE + 5) + "\n",
    "y" * LONGEST_LINE,
    "no end",
]
TEXTS = st.one_of(st.text(max_size=100), st.lists(st.sampled_from(LINES), max_size=30).map("".join))


def parts(text: str) -> list[tuple[str, str]]:
    """(part, line) of the lines that hold something."""
    return [(b.part, b.text[b.mark :].strip()) for b in blocks([text]) if b.text.strip()]


def section_of(text: str, line: str) -> str:
    return next(b.section for b in blocks([text]) if b.text.strip() == line)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 50))
def test_blocks_concatenate_to_the_text_however_it_is_cut(text, size):
    whole = list(blocks([text]))
    assert "".join(b.text for b in whole) == text
    assert all(0 <= b.mark <= len(b.text) for b in whole)
    assert list(blocks(text[i : i + size] for i in range(0, len(text), size))) == whole


@settings(deadline=None)
@given(TEXTS)
def test_only_the_same_part_and_section_goes_on(text):
    found = list(blocks([text]))
    for before, after in pairwise(found):
        if after.continues:
            assert (before.part, before.section) == (after.part, after.section) and after.mark == 0


def test_markdown():
    text = """# The tower

It stands
on a rock.

## Stairs #

* one
* two
  goes on

  and on

Prose again.
1990 was wet.

1. first
2. second

> They said so.
> Twice.

```python
# no heading
```

| a | b |
|---|---|
"""
    assert parts(text) == [
        ("heading", "The tower"),
        ("prose", "It stands"),
        ("prose", "on a rock."),
        ("heading", "Stairs #"),
        ("item", "one"),
        ("item", "two"),
        ("item", "goes on"),
        ("item", "and on"),
        ("prose", "Prose again."),
        ("prose", "1990 was wet."),
        ("numbered", "first"),
        ("numbered", "second"),
        ("quote", "They said so."),
        ("quote", "> Twice."),
        ("code", "```python"),
        ("code", "# no heading"),
        ("code", "```"),
        ("table", "| a | b |"),
        ("table", "|---|---|"),
    ]
    assert section_of(text, "Prose again.") == "The tower > Stairs"


def test_underlined_titles_are_nested_in_order_of_appearance():
    text = "Manual\n******\n\n1. Scope\n========\n\n1.1. This\n---------\n\nHere.\n\n2. Form\n=======\n\nThere.\n"
    assert section_of(text, "Here.") == "Manual > 1. Scope > 1.1. This"
    assert section_of(text, "There.") == "Manual > 2. Form"
    assert ("blank", "========") in parts(text)


@pytest.mark.parametrize(
    ("heading", "depth"),
    [
        ("CHAPTER IV.", 2),
        ("Chapter 12: The storm", 2),
        ("VOLUME II", 1),
        ("第三回 灯塔初明", 2),
        ("THE END OF IT", 9),
        ("3.2 Methods", 2),
        ("4 Results", 1),
        ("IV. Of Lamps", 7),
    ],
)
def test_headings_of_plain_text(heading, depth):
    text = f"\n{heading}\n\nThe text.\n"
    assert parts(text) == [("heading", heading), ("prose", "The text.")]
    assert section_of("# A\n\n" + text, "The text.") == ("A > " if depth > 1 else "") + heading


def test_numbers_of_sections_nest():
    text = "I. FACTS\n\nA. The tower\n\none\n\nB. The dock\n\ntwo\n\nII. LAW\n\nthree\n\nC. Rowe\n\nfour\n"
    assert section_of(text, "one") == "I. FACTS > A. The tower"
    assert section_of(text, "two") == "I. FACTS > B. The dock"
    assert section_of(text, "three") == section_of(text, "four") == "II. LAW"
    text = "第一回 初\n　　一、甲\n一\n（一）乙\n二\n1. 丙\n三\n（二）丁\n四\n第二回 终\n五\n"
    assert section_of(text, "三") == "第一回 初 > 一、甲 > （一）乙 > 1. 丙"
    assert section_of(text, "四") == "第一回 初 > 一、甲 > （二）丁"
    assert section_of(text, "五") == "第二回 终"


def test_below_underlined_titles_an_indented_hash_is_a_remark_of_code():
    assert parts("Title\n=====\n\nText.\n\n   # remark\n\n# Last\n") == [
        ("heading", "Title"),
        ("blank", "====="),
        ("prose", "Text."),
        ("prose", "# remark"),
        ("heading", "Last"),
    ]
    assert parts("  # Title\n")[0][0] == "heading"


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("wick\n   What burns in the oil\n   of a lamp.\n", [True, True, False]),
        ("It was a term,\n   but a clause.\n", [True, False]),
        (f"{'A first line that hangs over the rest of them ' * 2}\n   as in a bibliography.\n", [True, False]),
        ("   An indented line\nand more.\n", [True, False]),
    ],
)
def test_a_term_is_no_part_of_what_it_means(text, begins):
    assert [not block.continues for block in blocks([text])] == begins


def test_numbered_notes():
    assert parts("Text. [1]\n\n[1] A note that\n    goes on.\nText again.\n") == [
        ("prose", "Text. [1]"),
        ("note", "[1] A note that"),
        ("note", "goes on."),
        ("prose", "Text again."),
    ]


def test_what_stands_under_a_note_belongs_to_it():
    note = "[1] A note.\n\n    Its second paragraph\n    goes on.\n\n    Term\n       What it means.\n\n"
    found = list(blocks([f"Text. [1]\n\n{note}Text again.\n"]))
    assert [(b.part, b.text.strip()) for b in found if not b.continues and b.part != "blank"] == [
        ("prose", "Text. [1]"),
        ("note", "[1] A note."),
        ("note", "Its second paragraph"),
        ("note", "Term"),
        ("note", "What it means."),
        ("prose", "Text again."),
    ]


def test_the_indented_paragraph_below_a_note_is_none():
    found = parts("[1] A note.\n\n     The lamp was lit at dusk, and burned\nuntil the sun rose.\n")
    assert found[1:] == [("prose", "The lamp was lit at dusk, and burned"), ("prose", "until the sun rose.")]


@pytest.mark.parametrize(
    "line",
    [
        "Chapter 4 describes what the keepers did in the long winter.",
        "The end of it.",
        "He was 80.",
        "3 men came",
        "Part of the tower fell.",
        "OK.",
    ],
)
def test_sentences_that_stand_alone_are_no_headings(line):
    assert parts(f"\n{line}\n\n") == [("prose", line)]


def test_a_heading_stands_alone():
    assert parts("CHAPTER ONE\nand more\n") == [("prose", "CHAPTER ONE"), ("prose", "and more")]


@pytest.mark.parametrize(
    "line", ["1. Scope ......... 12", "Scope . . . . . . . 12", "Scope ……… 12", "| a | b |", "5.1", "17"]
)
def test_contents_and_tables(line):
    assert [part for part, _ in parts(f"\n{line}\n{line}\n")] == ["table", "table"]


def test_bars_in_prose_make_no_table():
    text = "This sentence has | bars | and a [link](x), and\nits second line has none.\n"
    assert {part for part, _ in parts(f"\n{text}")} == {"prose"}
    assert [part for part, _ in parts("\na | b | c\n--|--|--\n1 | 2 | 3\n")] == ["table"] * 3


def test_lines_of_a_transcript_are_numbered():
    text = (
        "                 Page 12\n\n"
        " 1        Q.  Did you see\n 2   the lamp?\n 3        A.  Yes.  I saw Mr.\n 4   Smith there.\n"
        " 5   He was alone.\n 6\n 7        MR. JONES:  Objection.\n\n                 Page 13\n\n"
        " 1        THE WITNESS:  I did\n 2        A.  No.\n"
    )
    assert parts(text) == [
        ("table", "Page 12"),
        ("prose", "Q.  Did you see"),
        ("prose", "2   the lamp?"),
        ("prose", "A.  Yes.  I saw Mr."),
        ("prose", "4   Smith there."),
        ("prose", "He was alone."),
        ("blank", "6"),
        ("prose", "MR. JONES:  Objection."),
        ("table", "Page 13"),
        ("prose", "THE WITNESS:  I did"),
        ("prose", "A.  No."),
    ]
    begins = [not b.continues for b in blocks([text]) if b.part == "prose"]
    assert begins == [True, False, True, False, True, True, True, True]


@pytest.mark.parametrize("line", ["* * *", "-----", "=====  ====", "···", "+---+---+"])
def test_ornament_is_blank(line):
    assert [part for part, _ in parts(f"prose one\n\n{line}\n\nprose two\n")] == ["prose", "blank", "prose"]


def test_a_fence_that_nothing_closes_ends():
    text = "```\n" + "code\n" * LONGEST_FENCE + "one more\n\nprose at last\n"
    assert parts(text)[-1] == ("prose", "prose at last")


def test_a_long_line_is_prose_in_slices():
    found = list(blocks(["* " + "word " * 1000 + "\nnext\n"]))
    assert [b.part for b in found] == ["prose"] * len(found)
    assert max(len(b.text) for b in found) == LONGEST_LINE
    assert [b.continues for b in found] == [False] + [True] * (len(found) - 1)
