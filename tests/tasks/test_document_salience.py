"""What lies along a document: the worth of its sentences, its sections, the answers, the time it takes to read."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.records import Record
from longseq.tasks.document import salience
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.rows import Rows
from longseq.tasks.document.salience import Stretches
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_collection, summarize_document
from longseq.tokens.reading import ReadingTime
from longseq.tokens.words import count_words

WORDS = ("lamp", "keeper", "tower", "tide", "rope", "boat", "storm", "gull", "stair", "lens", "oil", "watch", "bell")


def sentence(k):
    return f"The {WORDS[k % 13]} of the {WORDS[k * 7 % 11]} was seen {k} times by the {WORDS[k * 3 % 10]} at dawn."


def document(text, index=0):
    return Record(id="d", kind="document", source="d.md", index=index, pieces=iter([text]))


def markdown(sections, at=0):
    """`((depth, sentences), ...)`"""
    text = ""
    for number, (depth, many) in enumerate(sections):
        text += f"{'#' * depth} Title {number}\n\n" + " ".join(sentence(at + k) for k in range(many)) + "\n\n"
        at += many
    return text


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=60), st.data())
def test_stretches_hold_the_highest_worth_of_their_sentences(lengths, data):
    starts = np.cumsum([0, *(length for length, _ in lengths)])
    keep = np.array([kept for _, kept in lengths], bool)
    cut = data.draw(st.integers(0, int(keep.sum())))
    worth = np.array(data.draw(st.lists(st.floats(0, 9), min_size=int(keep.sum()), max_size=int(keep.sum()))))
    with pytest.MonkeyPatch.context() as patch, Rows() as rows:
        patch.setattr(salience, "STRETCHES", 7)
        for start, (length, _) in zip(starts, lengths, strict=False):
            rows.add((start, length, 1, 0, 0, 0, 0, 0, 0, 0.0))
        stretches = Stretches(rows, keep, int(starts[-1]))
        tops = [stretches.add(0, worth[:cut]), stretches.add(cut, worth[cut:])]
        found = stretches.salience([])
    places = [(int(starts[i]), int(starts[i]) + lengths[i][0]) for i in np.flatnonzero(keep)]
    scaled = [value / (tops[k >= cut] or 1.0) for k, value in enumerate(worth)]
    assert len(found.start) <= 7 and sum(found.sentences) == len(places)
    for start, end, many, top in zip(found.start, found.end, found.sentences, found.worth, strict=True):
        inside = [k for k, (a, b) in enumerate(places) if start <= a and b <= end]
        assert len(inside) == many and top == pytest.approx(max(scaled[k] for k in inside), abs=1e-4)


def test_the_worthiest_is_1_and_the_chosen_lie_under_the_curve():
    text = markdown([(1, 30), (2, 40), (2, 30)])
    summary = summarize_document(document(text), DocumentRequest(budget=Budget(amount=5)))
    found = summary.salience
    assert max(found.worth) == max(found.chosen) == 1.0 and len(found.start) == 100
    for row, worth in zip(summary.sentences, found.chosen, strict=True):
        assert worth == found.worth[found.start.index(row.start)]
    parts = summarize_document(document(text), DocumentRequest(by="section", budget=Budget(amount=1)))
    assert parts.salience.chosen == (1.0, 1.0, 1.0)


def test_sections_share_the_document_out():
    text = markdown([(1, 5), (2, 10), (3, 4), (2, 8), (1, 12)])
    summary = summarize_document(document(text), DocumentRequest(budget=Budget(amount=6)))
    titles = ["Title 0", "Title 0 > Title 1", "Title 0 > Title 1 > Title 2", "Title 0 > Title 3", "Title 4"]
    assert [share.title for share in summary.outline] == titles
    assert [share.sentences for share in summary.outline] == [27, 14, 4, 8, 12]
    outer = [share for share in summary.outline if " > " not in share.title]
    assert sum(share.words for share in outer) == summary.words
    for share in summary.outline:
        inside = [k for k, row in enumerate(summary.sentences) if share.start <= row.start < share.end]
        assert list(share.chosen) == inside


def test_a_book_of_many_sections_shows_its_outer_ones(monkeypatch):
    monkeypatch.setattr(salience, "SECTIONS", 4)
    deep = summarize_document(document(markdown([(1, 1), (2, 1), (3, 1), (2, 1), (3, 1)])))
    assert [share.title.count(" > ") for share in deep.outline] == [0, 1, 1] and deep.outline_cut == 2
    wide = summarize_document(document(markdown([(1, 1)] * 9)))
    assert len(wide.outline) == 4 and wide.outline_cut == 5
    assert summarize_document(document(sentence(1))).outline == ()


def test_documents_together_lie_end_to_end():
    texts = [markdown([(1, 20), (2, 5)]), markdown([(1, 10)], at=30)]
    with Collection(DocumentRequest(together=True)) as collection:
        for index, text in enumerate(texts):
            collection.add(document(text, index))
        summary = summarize_collection(collection)
    assert summary.salience.end[-1] == len(texts[0]) + len(texts[1].rstrip())
    assert [(share.document, share.title) for share in summary.outline] == [
        (0, "Title 0"),
        (0, "Title 0 > Title 1"),
        (1, "Title 0"),
    ]
    assert summary.outline[2].start == len(texts[0]) + 2


def test_answers_are_where_they_stand_with_the_words_of_the_question():
    text = markdown([(1, 40)]) + "Nobody paid for the Winch of 1903, says the book of winches at the harbour.\n"
    asked = DocumentRequest(queries=("Who paid for the winch?",), budget=Budget(amount=2))
    summary = summarize_document(document(text), asked)
    best = summary.hits[0]
    assert best.relevance == 1.0 and text[best.start : best.end] == best.text and best.chosen is not None
    assert summary.sentences[best.chosen].text == best.text
    assert {best.text[start:end] for start, end in best.words} >= {"paid", "Winch", "winches"}
    assert [hit.relevance for hit in summary.hits] == sorted((hit.relevance for hit in summary.hits), reverse=True)
    assert summarize_document(document(text)).hits == ()


@pytest.mark.parametrize(
    ("text", "asked", "marked"),
    [
        ("灯塔很高，守塔人在灯塔里住了三十年。", "灯塔", ["灯塔", "灯塔"]),
        ("燈塔很高，守塔人在那里住了三十年。", "灯塔", ["燈塔"]),
        ("守塔人在那里住了三十年，灯很亮。", "灯", ["灯"]),
    ],
)
def test_words_of_scripts_without_spaces(text, asked, marked):
    text += "".join(f"第{k}天的船在港口外等了很久很久很久。" for k in "一二三四五")
    summary = summarize_document(document(text), DocumentRequest(queries=(asked,)))
    assert [summary.hits[0].text[start:end] for start, end in summary.hits[0].words] == marked


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("word " * 238, 1.0),
        ("灯" * 255 + "。", 1.0),
        ("の灯" * 178 + "と。", 1.0),  # 357 letters
        ("word " * 119 + "灯" * 255, 1.5),
        ("", 0.0),
    ],
)
def test_time_to_read(text, minutes):
    reading = ReadingTime()
    reading.add(text, count_words(text))
    assert reading.minutes == minutes


def test_time_to_read_is_that_of_its_sentences_and_of_the_summary():
    text = markdown([(1, 30)])
    summary = summarize_document(document(text), DocumentRequest(budget=Budget(amount=3)))
    assert summary.reading_minutes == pytest.approx(len(re.sub("#", "", text).split()) / 238, abs=0.01)
    assert summary.summary_reading_minutes == pytest.approx(summary.summary_words / 238, abs=0.01)
    assert summary.to_json()["reading_minutes"] == summary.reading_minutes
