"""Laws of splitting: spans tile the text but for white space, and nothing depends on how the text arrives."""

import random
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.tokens.sentences import LIMIT, PIECE, QUOTED, WINDOW, Splitter, sentences

SNIPPETS = [
    "Dr. Smith paid $3.50. ",
    "“Is it true? I hope so.” ",
    "(See fig. 3.) ",
    '"Go!" ',
    "他说：“你好。”",
    "「行く。」",
    "\n",
    "\r\n",
    "\n\n",
    "\n \t\r\n",
    "\u2029",
    "   ",
    "no stop here ",
    "A. ",
    "e\u0301 😀 ",
    "See Fed. R. Civ. P. 56(a). ",
    "Def.'s Mot. ",
    "Q.  Why?\nA.  No. ",
    "(b) One. (c) ",
    "\n• item ",
    "2. ",
    "「行く。」と",
    "“好！”他说。",
    "他来了?她。3",
    "ประภาคารตั้งอยู่บนเกาะเล็กกลางทะเลใหญ่ เขา ",
    "क्या? डॉ. ",
    "«",
    "“",
    "(((",
    "…",
    "\ud800",
    "x" * 700,
    "word " * 300,
]
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(SNIPPETS), max_size=40).map("".join))


def texts(found) -> list[str]:
    return [sentence.text for sentence in found]


def split(text: str, pieces=None, window: int = WINDOW) -> list:
    splitter = Splitter("en", window)
    found = [s for piece in pieces or [text] for s in splitter.feed(piece)]
    return found + list(splitter.end_paragraph())


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.sampled_from([2 * PIECE, WINDOW]))
def test_spans_and_blank_gaps_concatenate_to_the_text(text, window):
    at = 0
    for start, end, letters, _ in split(text, window=window):
        assert at <= start < end
        assert not text[at:start].strip()
        assert letters == text[start:end] == letters.strip()
        at = end
    assert not text[at:].strip()


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.randoms(use_true_random=False))
def test_the_cuts_of_the_pieces_change_nothing(text, rng):
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(12)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert split(text, pieces) == split(text) == split(text, list(text))


KNOWN = [
    "Dr. Smith went to the U.S. embassy yesterday.",
    "“Is it true? I hope so.”",
    "He paid $3.50 for it (approx. 4 lbs.) and left.",
    "“Go. Now.”",
    "Why not!",
    "Nobody knows what became of the other 17 barrels.",
    "See Smith v. Jones, 123 U.S. 456, 789 (1999), and Fed. R. Civ. P. 56(a).",
    "Q.  Did you see Def.'s Ex. C at 12?",
    "A.  Yes.",
    "(b) Trim the wick.",
    "“Why?” he asked.",
]
KNOWN_CHINESE = ["灯塔很老。", "他说：“你好。走吧！”", "“为什么？”他问。", "真的吗？", "第3.5条有效。", "（见附录。）"]


@pytest.mark.parametrize(("known", "between"), [(KNOWN, " "), (KNOWN, "\n"), (KNOWN_CHINESE, "")])
def test_a_paragraph_of_many_windows_has_no_seams(known, between):
    rng = random.Random(7)
    written = [rng.choice(known) for _ in range(4000)]
    for window in (1500, WINDOW, 3 * WINDOW):
        assert texts(split(between.join(written), window=window)) == written


@pytest.mark.parametrize("before", range(0, 90, 7))
def test_around_every_ten_thousandth_character_it_is_as_elsewhere(before):
    """Windows, and sentencex's own pieces, end there: the first paragraph moves all that follows a little."""
    paragraphs = ["x" * before + "."] + [" ".join(KNOWN)] * 200
    assert texts(sentences(["\n\n".join(paragraphs)])) == [paragraphs[0], *KNOWN * 200]
    one = " ".join(["x" * before + "."] + KNOWN * 200)
    assert texts(sentences([one])) == ["x" * before + ".", *KNOWN * 200]


def test_a_seam_of_sentencex_itself_loses_nothing():
    """Given all at once, sentencex drops the blank line nearest to every 10,000th character."""
    paragraphs = [f"This is paragraph number {i}.\n\nAnd this one has no end" for i in range(2000)]
    assert texts(sentences(["\n\n".join(paragraphs)])) == "\n\n".join(paragraphs).split("\n\n")


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n \t \n", "\r\r", "\u2029", "\n\n\n\n", " \n\x0b\n "])
def test_a_blank_line_ends_a_sentence(gap):
    assert texts(sentences([f"without a stop{gap}and more"])) == ["without a stop", "and more"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", " "])
def test_a_line_end_does_not(line_end):
    assert texts(sentences([f"A sentence over{line_end}two lines. Another."])) == [
        f"A sentence over{line_end}two lines.",
        "Another.",
    ]


@pytest.mark.parametrize(
    "written",
    [
        ["Dr. Smith met J. R. R. Tolkien at 5 p.m. on Friday.", "It was wet."],
        ["It cost 3.5 dollars, see p. 7.", "Nobody paid."],
        ["He said, “I will go. I must.” and left.", "She stayed."],
        ["(Depending on the source.)", "The version has parts."],
        ["It ended (as all things do).", "Good."],
        ["The last one has no stop.", "Like this"],
    ],
)
def test_english(written):
    assert texts(sentences([" ".join(written)])) == written


@pytest.mark.parametrize(
    "written",
    [
        ["他说：“你好。走吧！”", "然后走了。", "真的吗？", "是的！"],
        ["（这是真的。）", "灯塔很高。"],
        ["次です。", "そうか？", "はい！"],
    ],
)
def test_chinese_and_japanese(written):
    assert texts(sentences(["".join(written)])) == written


@pytest.mark.parametrize("written", [["قال: نعم؟", "ثم ذهب."], ["यह है।", "ठीक है।"], ["Բարև։", "Ինչպես ես։"]])
def test_other_stops(written):
    assert texts(sentences([" ".join(written)])) == written


def test_the_language_decides_about_abbreviations():
    text = "Das gilt z. B. Hier nicht. Ende."
    assert texts(sentences([text], "de")) == ["Das gilt z. B. Hier nicht.", "Ende."]


def test_a_long_speech_is_split_inside_its_quotation_marks():
    spoken = [f"And on day number {i} it rained again." for i in range(30)]
    found = list(sentences(["He said: “" + " ".join(spoken) + "” Then he left."]))
    assert len("".join(spoken)) > QUOTED
    assert texts(found) == ["He said: “" + spoken[0], *spoken[1:-1], spoken[-1] + "”", "Then he left."]
    assert not any(s.wrapped for s in found)


def test_inside_a_long_speech_marks_stay_where_they_belong():
    thought = ["I went home, and I slept, and I woke up."] * 12
    text = "“" + " ".join(thought) + " “Why?” he asked. “No!” “So be it.”"
    assert texts(sentences([text])) == ["“" + thought[0], *thought[1:], "“Why?” he asked.", "“No!”", "“So be it.”"]


@pytest.mark.parametrize("repeated", ["the rain fell on the sea, ", "and the sea\n", "雨落在海上，", "海"])
def test_what_is_too_long_is_wrapped_and_flagged(repeated):
    text = "It began well. " + repeated * 2000
    found = list(sentences([text]))
    assert found[0] == (0, 14, "It began well.", False)
    assert all(s.wrapped and s.end - s.start <= PIECE for s in found[1:])
    assert "".join("".join(s.text for s in found[1:]).split()) == "".join((repeated * 2000).split())
    if repeated.strip() != repeated or "，" in repeated:
        whole = repeated.strip()
        assert all(s.text.startswith(whole) and s.text.endswith(whole) for s in found[1:])


def test_a_sentence_at_the_limit_is_whole_and_one_over_it_is_not():
    words = "ab " * (LIMIT // 3)
    assert texts(sentences([words.strip() + "."])) == [words.strip() + "."]
    assert all(s.wrapped for s in sentences(["ab " + words + "."]))


UNITS = [
    "a",
    "ab",
    "word ",
    "“",
    '"',
    "'",
    ". ",
    ".",
    "?!",
    '"Hello. ',
    "\n",
    " ",
    "A. ",
    "。",
    "\n \r",
    "「",
    "『",
    "(",
    "(a.) ",
]
UNITS += [
    "\ud800",
    "\u0301",
    "e\u0301",
    "a.b.c.d.",
    "a.",
    "1. ",
    "Q. ",
    "…",
    "… ",
    "”",
    "«",
    "[",
    "ก",
    "ก ",
    "। ",
    "؟ ",
    "。3",
]
UNITS += ["Fed. ", "(a) ", "(a. ", "• ", "\n• ", "海?", "”他说", "St. ", "?' a", "\u2028", "\u200b", "://a.b", "@."]


@pytest.mark.parametrize("unit", UNITS)
def test_nothing_is_slow(unit):
    began = time.process_time()
    for _ in sentences([unit * (100_000 // len(unit))]):
        pass
    assert time.process_time() - began < 10  # a second's work; what is quadratic takes minutes


@pytest.mark.parametrize("millions", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_time_is_linear(millions):
    rng = random.Random(3)
    text = "\n\n".join(" ".join(rng.choices(KNOWN, k=20)) for _ in range(1_600 * millions))
    began = time.process_time()
    count = sum(1 for _ in sentences([text]))
    assert len(text) > millions * 990_000 and count == 32_000 * millions
    assert time.process_time() - began < 10 * millions


def test_memory_is_one_window():
    def peak(paragraphs: int) -> int:
        tracemalloc.start()
        for _ in sentences(f"Sentence {i} of one endless paragraph. " for i in range(paragraphs)):
            pass
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(20_000) < peak(2_000) + 50_000
