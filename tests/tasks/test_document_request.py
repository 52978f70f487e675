"""What can be asked of a summary: parts, questions, what must and must not be in it, many documents, one pass."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import ConfigError, InputError, UsageError
from longseq.records import Layout, Page, Record
from longseq.tasks.document import one_pass
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_collection, summarize_document

LIGHTHOUSE = (Path(__file__).parents[2] / "data" / "lighthouse.md").read_text(encoding="utf-8")
PLACES = ["harbour", "tower", "ledge", "village", "headland", "bell", "lens", "stair"]
SENTENCE = "The {} by the {} is older than anybody who lives near the {} today."


def document(text: str, name="d", layout=None, **facts) -> Record:
    return Record(id=name, kind="document", source=f"{name}.txt", index=0, pieces=iter([text]), layout=layout, **facts)


def summary(text: str, amount=10.0, unit="sentences", **asked):
    return summarize_document(document(text), DocumentRequest(budget=Budget(amount=amount, unit=unit), **asked))


def prose(n: int) -> str:
    """n sentences, no two alike, on lines of their own."""
    a, b, c = (lambda i: PLACES[i % 8]), (lambda i: PLACES[i // 8 % 8]), (lambda i: PLACES[i // 64 % 8])
    return "\n\n".join(SENTENCE.format(a(i), b(i), c(i) + f" of {i}") for i in range(n))


@pytest.mark.parametrize("by", ["section", "chapter", "outline"])
@pytest.mark.parametrize(("amount", "unit"), [(2, "sentences"), (40, "words"), (150, "characters"), (0.1, "ratio")])
def test_each_part_has_its_budget(by, amount, unit):
    found = summary(LIGHTHOUSE, amount, unit, by=by)
    titles = [part.title.split(" > ")[-1] for part in found.parts]
    assert ("Part One: History" in titles) == (by != "section")
    assert ("Keeping the light" in titles) == (by != "chapter")
    held = set()
    for part in found.parts:
        rows = [found.sentences[at] for at in part.sentences]
        held |= set(part.sentences)
        assert all(part.start <= row.start < row.end <= part.end for row in rows)
        spent = {"sentences": len(rows), "characters": sum(row.end - row.start for row in rows)}
        assert spent.get(unit, part.summary_words) <= (amount * part.words if unit == "ratio" else amount)
        assert rows == sorted(rows, key=lambda row: row.start)
    assert held == set(range(len(found.sentences)))
    assert all(row.text == LIGHTHOUSE[row.start : row.end] for row in found.sentences)
    if by != "outline":
        assert len(found.sentences) == sum(len(part.sentences) for part in found.parts)


def test_pages_are_summarized_apart():
    text = prose(12)
    starts = [0, text.index("\n\n", len(text) // 2) + 2]
    layout = Layout(extractor="e", pages=[Page(start, at + 1, "iv"[at:]) for at, start in enumerate(starts)])
    layout.pages_total = 2
    found = summarize_document(document(text, layout=layout), DocumentRequest(budget=Budget(amount=1), by="page"))
    assert [(part.title, len(part.sentences)) for part in found.parts] == [("iv", 1), ("v", 1)]
    assert [row.page for row in found.sentences] == [1, 2]
    with pytest.raises(InputError, match="expected a document with pages"):
        summary(text, by="page")


def test_a_question_is_answered():
    fact = "Nobody remembers that the ferryman Osgood hid eleven silver spoons under the ninth step of the stair."
    text = prose(150) + f"\n\n{fact}\n\n" + prose(100).replace("older", "lower")
    for question in ("Where did Osgood hide the silver?", "hidden spoons", "ＯＳＧＯＯＤ"):
        assert fact in [row.text for row in summary(text, 3, queries=(question,)).sentences]
    assert fact not in [row.text for row in summary(text, 3).sentences]
    assert summary(text, 3, queries=("xyzzy",)).remarks == ("no word of this stands in any sentence: xyzzy",)


def test_a_short_sentence_or_an_item_answers_where_nothing_else_does():
    asides = "Osgood hid the spoons.\n\n* a copper vane, forged by Pellow"
    text = f"{prose(60)}\n\n{asides}\n\n" + prose(20).replace("older", "lower")
    answers = {"Who hid the spoons?": "Osgood hid the spoons.", "copper vane": "a copper vane, forged by Pellow"}
    for question, answer in answers.items():
        found = summary(text, 1, queries=(question,))
        assert [row.text for row in found.sentences] == [answer] and found.remarks == ()
    assert not set(answers.values()) & {row.text for row in summary(text, 99).sentences}
    excluded = summary(text, 1, queries=("spoons",), exclude=("spoons",))
    assert excluded.remarks == ("no word of this stands in any sentence: spoons",)


def test_a_word_that_stands_in_every_sentence_is_no_unanswered_question():
    assert summary("The lamp of the tower was lit at dusk by its keeper.", queries=("lamp",)).remarks == ()


@pytest.mark.parametrize("question", ["桥", "橋", "桥？", "座 桥"])
def test_one_chinese_letter_is_a_question(question):
    fact = "村里的人在第二年的春天修了一座桥。"
    text = "灯塔的守护者每天晚上都点亮了灯。" * 3 + fact + "孩子们喜欢看河里的很多小鱼。" * 3
    found = summary(text, 1, queries=(question,))
    assert [row.text for row in found.sentences] == [fact] and found.remarks == ()


def test_a_summary_from_which_all_is_excluded_says_so():
    for passing in (False, True):
        found = summary(prose(20), exclude=("older",), one_pass=passing)
        assert not found.sentences and found.remarks[0] == "every sentence in it is excluded"


def test_every_question_is_answered():
    facts = [
        "The keeper Osgood hid eleven silver spoons that winter.",
        "The smith Pellow forged a copper vane that year.",
    ]
    text = f"{prose(60)}\n\n{facts[0]}\n\n{prose(60).replace('older', 'lower')}\n\n{facts[1]}"
    found = summary(text, 2, queries=("Who hid the spoons?", "copper vane of the smith"))
    assert [row.text for row in found.sentences] == facts
    assert found.queries == ("Who hid the spoons?", "copper vane of the smith")


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("ＡＢＣ公司在一九二六年修理了旧灯塔的大门。", "ABC公司做了什么"),
        ("船長的兒子在風暴的夜裡駕駛漁船離開海灣。", "谁驾驶渔船离开海湾"),
        ("船长的儿子在风暴的夜里驾驶渔船离开海湾。", "誰駕駛漁船離開海灣"),
    ],
)
def test_chinese_questions_find_the_other_form(fact, question):
    around = ("灯塔的守护者每天晚上都点亮了灯。" * 3, "村里的人都很感激守护者和灯塔。" * 3)
    found = summary(around[0] + fact + around[1], 1, queries=(question,))
    assert [row.text for row in found.sentences] == [fact]


def test_what_must_be_in_comes_first_and_what_must_not_never():
    text = prose(200)
    found = summary(text, 4, must_include=(r"of 17\d ", "OF 3 "), exclude=("of 171",))
    kept = [row for row in found.sentences if "of 17" in row.text or "of 3 " in row.text]
    assert len(kept) == 4 and not any("171" in row.text for row in kept)
    assert found.remarks == ("6 sentences that must be included do not fit 4 sentences",)
    assert all("tower" not in row.text for row in summary(text, 30, exclude=("TOWER",)).sentences)
    assert [row.text for row in summary("# A b c\n\n" + text, 1, must_include=("a b c",)).sentences] == ["A b c"]


def test_a_list_item_that_must_be_in_is_in():
    found = summary(prose(40) + "\n\n* recall of batch 7", 2, must_include=("batch",))
    assert "recall of batch 7" in [row.text for row in found.sentences]


def test_documents_together():
    texts = {
        "a": LIGHTHOUSE,
        "b": "# Rope\n\n" + prose(40),
        "c": "Ein Satz, der für sich allein steht und nichts sagt.",
    }
    request = DocumentRequest(budget=Budget(amount=12), together=True)
    with Collection(request) as collection:
        for name, text in texts.items():
            collection.add(document(text, name, notes={"format": "markdown", "encoding": "utf-8"}))
        found = summarize_collection(collection)
    assert [(facts.id, facts.length) for facts in found.documents] == [
        (name, len(text)) for name, text in texts.items()
    ]
    for facts in found.documents:
        assert facts.sha256 == hashlib.sha256(texts[facts.id].encode()).hexdigest()
    assert len(found.sentences) == 12 and {row.id for row in found.sentences} >= {"a", "b"}
    for row in found.sentences:
        text = texts[row.id]
        assert row.file == f"{row.id}.txt" and text[row.start : row.end] == row.text
        assert text.encode()[row.byte_start : row.byte_end].decode() == row.text
    assert found.words == sum(facts.words for facts in found.documents)
    assert found.sentences == tuple(sorted(found.sentences, key=lambda row: (row.id, row.start)))


def test_a_document_that_fails_leaves_nothing():
    def broken():
        yield prose(50).replace("older", "colder")
        raise InputError("cut")

    with Collection(DocumentRequest(budget=Budget(amount=60), together=True)) as collection:
        collection.add(document(prose(20), "a"))
        with pytest.raises(InputError, match="cut"):
            collection.add(Record(id="b", kind="document", source="b", index=0, pieces=broken()))
        collection.add(document("A line that stands in the third of the documents alone.", "c"))
        found = summarize_collection(collection)
    assert {row.id for row in found.sentences} == {"a", "c"} and found.sentences_total == 21


def test_one_pass_holds_the_same_laws(monkeypatch):
    monkeypatch.setattr(one_pass, "BLOCK", 50)
    monkeypatch.setattr(one_pass, "KEPT", 20)
    text = LIGHTHOUSE + "\n\n" + prose(300)
    for amount, unit in ((7, "sentences"), (90, "words"), (400, "characters")):
        found = summary(text, amount, unit, one_pass=True)
        spent = {"sentences": len(found.sentences), "characters": sum(len(row.text) for row in found.sentences)}
        assert 0.5 * amount <= spent.get(unit, found.summary_words) <= amount
        assert all(row.text == text[row.start : row.end] for row in found.sentences)
        assert (found.method, found.sha256) == ("one pass", hashlib.sha256(text.encode()).hexdigest())
        whole = summary(text, amount, unit)
        assert (found.words, found.sentences_total, found.length) == (whole.words, whole.sentences_total, whole.length)
    found = summary(text, 2, one_pass=True, must_include=("of 299",), exclude=("wreck",))
    assert any("of 299" in row.text for row in found.sentences)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.sampled_from(["灯塔很高。", "no stop", "# Head\n", "\n\n", SENTENCE, "This shows it. "]), max_size=20)
)
def test_any_request_of_any_text(parts):
    text = "".join(parts)
    for asked in ({"by": "section"}, {"by": "outline"}, {"queries": ("灯塔",)}, {"one_pass": True}):
        found = summary(text, 3, **asked)
        assert all(row.text == text[row.start : row.end] != "" for row in found.sentences)
        assert found == summary(text, 3, **asked)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"must_include": ("(",)}, UsageError),
        ({"exclude": ("[",)}, UsageError),
        ({"by": "line"}, ConfigError),
        ({"one_pass": True, "by": "section"}, ConfigError),
        ({"one_pass": True, "queries": ("a",)}, ConfigError),
        ({"one_pass": True, "budget": Budget(amount=0.5, unit="ratio")}, ConfigError),
        ({"together": True, "by": "page"}, ConfigError),
        ({"damping": 1.0}, ConfigError),
        ({"queries": ("lamp", " ")}, ConfigError),
    ],
)
def test_requests_that_make_no_sense(asked, error):
    with pytest.raises(error):
        DocumentRequest(**asked)
