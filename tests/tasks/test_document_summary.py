"""Summaries of whole documents: verbatim, within budget, the same every time, and no trap springs."""

import gzip
import hashlib
import json
import os
import random
import stat
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import LongseqError
from longseq.formats import read
from longseq.records import Record
from longseq.tasks.document.manuscript import STEP, Manuscript
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_document
from longseq.tokens.scratch import Scratch
from longseq.tokens.words import count_words

LIGHTHOUSE = Path(__file__).parents[2] / "data" / "lighthouse.md"
PLACES = ["harbour", "tower", "ledge", "village", "headland", "bell", "lens", "stair"]
SYLLABLES = [a + b for a in "bdgklmnrstvz" for b in ("an", "el", "ir", "os", "ut")]
SNIPPETS = [
    "The {} is old and the wind is strong today. ",
    "“{}”, he said. ",
    "\n\n",
    "# {}\n",
    "* {}\n",
    "灯塔{}很高。",
    "no stop {}\n",
]


def document(text: str, pieces=None, **facts) -> Record:
    return Record(id="d", kind="document", source="d.txt", index=0, pieces=iter(pieces or [text]), **facts)


def summary(text: str, unit="sentences", amount=10.0, **facts):
    return summarize_document(document(text, **facts), DocumentRequest(budget=Budget(unit=unit, amount=amount)))


def told(n: int, seed: int = 3) -> str:
    """A document of n sentences in paragraphs of five, in words that never were, the common ones common."""
    rng = random.Random(seed)
    words = [a + b for a in ("ta", "lo", "mi", "sur", "ken", "or", "vel", "dra") for b in SYLLABLES]
    found = [
        " ".join(rng.choices(words, [1 / (k + 4) for k in range(len(words))], k=rng.randint(8, 20))).capitalize() + "."
        for _ in range(n)
    ]
    return "\n\n".join(" ".join(found[k : k + 5]) for k in range(0, n, 5))


TEXTS = st.one_of(
    st.text(max_size=100),
    st.lists(st.tuples(st.sampled_from(SNIPPETS), st.sampled_from(PLACES)), max_size=30).map(
        lambda drawn: "".join(snippet.format(word) for snippet, word in drawn)
    ),
)
BUDGETS = st.one_of(
    st.builds(Budget, amount=st.integers(1, 12), unit=st.just("sentences")),
    st.builds(Budget, amount=st.integers(1, 80), unit=st.just("words")),
    st.builds(Budget, amount=st.floats(0.01, 1), unit=st.just("ratio")),
)


@settings(deadline=None, max_examples=80)
@given(TEXTS, BUDGETS)
def test_verbatim_in_order_and_within_the_budget(text, budget):
    found = summarize_document(
        document(text, notes={"format": "text", "encoding": "utf-8"}), DocumentRequest(budget=budget)
    )
    data, at = text.encode("utf-8", "surrogatepass"), 0
    for row in found.sentences:
        assert row.start >= at
        assert row.text == text[row.start : row.end] != ""
        assert row.text == data[row.byte_start : row.byte_end].decode("utf-8", "surrogatepass")
        at = row.end
    spent = sum(count_words(row.text) for row in found.sentences)
    assert spent == found.summary_words
    assert (len(found.sentences) if budget.unit == "sentences" else spent) <= budget.limit(found.words)
    assert sorted(row.rank for row in found.sentences) == list(range(1, len(found.sentences) + 1))
    assert (found.length, found.sha256, found.coverage) == (len(text), hashlib.sha256(data).hexdigest(), 1.0)


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_the_cuts_of_the_pieces_change_nothing(size):
    text = LIGHTHOUSE.read_text(encoding="utf-8")
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert summarize_document(document(text, pieces)) == summary(text)


def test_the_same_bits_again():
    assert summary(told(200)) == summary(told(200))


@pytest.mark.parametrize("kind", ["plain", "mark", "crlf", "gzip"])
def test_bytes_are_those_of_the_file(tmp_path, kind):
    data = LIGHTHOUSE.read_bytes()
    if kind == "mark":
        data = b"\xef\xbb\xbf" + data
    if kind == "crlf":
        data = data.replace(b"\n", b"\r\n")
    path = tmp_path / "a.md"
    path.write_bytes(gzip.compress(data) if kind == "gzip" else data)
    with read(path, kind="document") as records:
        found = summarize_document(next(records), DocumentRequest(budget=Budget(amount=30)))
    assert len(found.sentences) == 30
    for row in found.sentences:
        assert data[row.byte_start : row.byte_end].decode() == row.text
    if kind != "mark":
        assert found.sha256 == hashlib.sha256(data).hexdigest()


def test_a_line_of_json_has_no_bytes_of_its_own(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": name, "title": "T", "text": told(30)}) + "\n" for name in "ab"))
    with read(path) as records:
        found = [summarize_document(record, DocumentRequest(budget=Budget(amount=3))) for record in records]
    assert [(s.index, s.id, s.description, len(s.sentences)) for s in found] == [(0, "a", "T", 3), (1, "b", "T", 3)]
    assert found[0].sentences == found[1].sentences
    assert all(row.byte_start is None and row.byte_end is None for row in found[0].sentences)


def test_sections_and_parts_of_the_sample():
    found = summary(LIGHTHOUSE.read_text(encoding="utf-8"), "ratio", 1.0)
    sections = {row.section for row in found.sentences}
    assert "The Light on Carrow Ness > Part One: History > Building on the Combs" in sections
    whole = " ".join(row.text for row in found.sentences)
    for left_out in ("Part One", "Ewan Mackellar", "hectopascal", "lamp pointed backwards"):
        assert left_out in LIGHTHOUSE.read_text(encoding="utf-8")
        assert left_out not in whole
    assert "守塔者三人" in whole
    assert found.remarks == ()


@pytest.mark.parametrize("text", ["", " \n\n\t ", "\u2029"])
def test_an_empty_document(text):
    found = summary(text)
    assert (found.sentences, found.words, found.sentences_total, found.coverage) == ((), 0, 0, 1.0)
    assert found.remarks == ("there is no sentence in it",)


@pytest.mark.parametrize(
    "text", ["The lamp was lit on the evening of the third.", "Lit.", "no stop", "灯亮了。", "# Title"]
)
def test_a_document_of_one_sentence(text):
    for unit, amount in (("sentences", 10), ("words", 50), ("ratio", 1.0)):
        assert [row.text for row in summary(text, unit, amount).sentences] == [text.lstrip("# ")]


def test_nothing_fits():
    found = summary(
        "The lamp was lit on the evening of the third. It burned until the morning of the fourth.", "words", 7
    )
    assert found.sentences == ()
    assert found.remarks == ("no sentence fits 7 words: the shortest has 8 words",)


def test_a_paragraph_pasted_fifty_times_is_said_once():
    spam = "Subscribe to our letter about rope and get the best prices today. Rope is always worth its price in rope."
    text = told(150) + "\n\n" + "\n\n".join([spam] * 50) + "\n\n" + told(100, seed=8)
    found = summary(text, "ratio", 1.0)
    assert len(found.sentences) > 100
    assert sum(row.text.startswith("Subscribe to our letter") for row in found.sentences) <= 1
    assert sum(row.text.startswith("Rope is always") for row in found.sentences) <= 1


def test_fifty_lines_that_differ_by_a_number_are_said_once():
    spam = "\n\n".join(f"You are now reading page {i} of the printed edition of the book." for i in range(50))
    found = summary(told(100) + "\n\n" + spam, "sentences", 30)
    assert sum(row.text.startswith("You are now reading") for row in found.sentences) <= 1


def test_a_text_without_stops_still_gives_a_summary():
    rng = random.Random(5)
    text = " ".join(rng.choices([*PLACES, "and", "the", "old", "of"], k=6000))
    found = summary(text, "words", 120)
    assert 60 <= found.summary_words <= 120
    assert all(row.wrapped for row in found.sentences)
    assert found.wrapped == found.sentences_total
    assert found.remarks[-1] == f"{found.wrapped} of its sentences are pieces of stretches without a sentence end"


def test_lists_are_quoted_only_where_there_is_hardly_any_prose():
    items = "\n".join("* the " + line.lower() for line in told(30, seed=5).replace("\n\n", " ").split(". "))
    assert all(row.text[0].isupper() for row in summary(told(40) + "\n\n" + items, amount=20).sentences)
    found = summary(items, amount=5)
    assert len(found.sentences) == 5
    assert found.remarks == ("there is hardly any prose in it: lists and quotations were quoted from too",)


def test_numbered_paragraphs_are_prose():
    clauses = "\n\n".join(f"{k}. {line}." for k, line in enumerate(told(12).replace("\n\n", " ").split(". "), 1))
    found = summary(clauses, amount=3)
    assert [row.text[0].isupper() for row in found.sentences] == [True] * 3
    assert found.remarks == ()


def test_what_resembles_nothing_else_is_not_chosen():
    odd = "Zyx wvut srqp onm lkj ihg fed cba zzz."
    found = summary(told(60) + "\n\n" + odd + "\n\n" + told(60, seed=9), amount=40)
    assert odd not in [row.text for row in found.sentences]


def test_chinese():
    text = "".join(f"第{i}年，灯塔的守护者修好了灯，船只平安地驶过海峡。" for i in "一二三四五六七八九")
    text += "海上的风很大，守护者整夜没有睡觉。他说：“灯不能灭。我们要守住它。”村里的人都很感激守护者和灯塔。"
    found = summary(text, "words", 60)
    assert 30 <= found.summary_words <= 60
    assert all(row.text[-1] in "。”" for row in found.sentences)
    assert found.words == sum(character.isalpha() for character in text)


def test_the_language_is_used():
    text = "Wir kaufen Birnen, Kartoffeln usw. Das Obst ist in diesem Jahr recht teuer."
    for language, n in (("de", 1), ("en", 2)):
        found = summarize_document(document(text), DocumentRequest(language=language))
        assert found.sentences_total == n


def test_a_file_that_ended_early_says_so():
    found = summary(told(10), truncated=True, length=2 * len(told(10)))
    assert found.truncated
    assert found.coverage == 0.5


def test_json_has_the_agreed_keys():
    tree = json.loads(json.dumps(summary(told(20), amount=2).to_json()))
    assert {"file", "id", "kind", "length", "unit", "words", "sha256", "truncated", "coverage"} <= set(tree)
    assert (tree["kind"], tree["unit"]) == ("document", "code points")
    keys = [
        "rank",
        "start",
        "end",
        "byte_start",
        "byte_end",
        "page",
        "page_label",
        "section",
        "score",
        "wrapped",
        "dangling",
        "file",
        "id",
        "index",
        "text",
    ]
    assert [list(row) for row in tree["sentences"]] == [keys] * 2


@settings(deadline=None, max_examples=40)
@given(st.text(min_size=1, max_size=60), st.integers(1, 400), st.randoms(use_true_random=False))
def test_a_manuscript_gives_back_any_slice(unit, times, rng):
    text = unit * (times * STEP // (100 * len(unit)) + 1)
    data = text.encode("utf-8", "surrogatepass")
    size = rng.randint(1, STEP + 50)
    with Manuscript() as manuscript:
        for i in range(0, len(text), size):
            manuscript.append(text[i : i + size])
        assert (len(manuscript), manuscript.sha256()) == (len(text), hashlib.sha256(data).hexdigest())
        for _ in range(5):
            start, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
            passage = manuscript.read(start, end)
            assert passage.text == text[start:end]
            assert data[passage.byte_start : passage.byte_end] == text[start:end].encode("utf-8", "surrogatepass")


def test_the_spool_is_private_and_leaves_nothing(tmp_path):
    with Scratch(tmp_path) as scratch:
        scratch.append(b"x" * (1 << 25))
        assert stat.S_IMODE(os.fstat(scratch._file.fileno()).st_mode) == 0o600
        assert scratch.read(5, 8) == b"xxx"
    assert list(tmp_path.iterdir()) == []


def test_a_spool_without_a_place_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("longseq.tokens.scratch.IN_MEMORY", 100)
    with pytest.raises(LongseqError, match=r"the spool cannot be written .*; set TMPDIR.*times the text"):
        summarize_document(document(told(200)), spool_folder=tmp_path / "none")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text(monkeypatch):
    monkeypatch.setattr("longseq.tokens.scratch.IN_MEMORY", 1 << 16)
    monkeypatch.setattr("longseq.tasks.document.vectors.BLOCK_WORDS", 4000)
    text = told(500)

    def peak(times: int) -> int:
        pieces = (text.replace("a", f"a{i}") + "\n\n" for i in range(times))
        tracemalloc.start()
        summarize_document(document("", pieces=pieces))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(12)  # stems that are remembered
    small, large = peak(4), peak(12)  # 170,000 and 510,000 characters
    assert large - small < 100 * 4000 + 900_000  # columns of 4,000 more sentences and of their pairs of words
