"""Documents on `report.html`: it stands alone, shows every sentence in its context, and no text can break out of it."""

import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.cli import main
from longseq.records import Record
from longseq.report.document_page import part
from longseq.report.document_page.places import minutes
from longseq.report.page import Markup, element
from longseq.tasks.document.contexts import REACH
from longseq.tasks.document.summary import summarize_document

HOSTILE = [
    'The <script>alert("lamp")</script> of the tower was lit by the keeper at dusk & burned until dawn.',
    "A keeper's <img src=http://example.org/x onerror=alert(1)> wrote \u202ebackwards in the book of the tower.",
    "The book of the tower ends --> with </mark></p></section></body> and the keeper\x7f of the lamp signs it.",
    '" onmouseover="alert(1) is what the keeper of the lamp wrote into the book of the tower every night.',
]
TAGS = "html head meta title style body header main nav section article footer h1 h2 h3 p ol ul li a b i bdi span div"
TAGS += " mark sup strong pre button script figure figcaption details summary noscript table thead tbody tr th td"
GIVEN = "class id href title dir charset value name content http-equiv lang type hidden tabindex role scope style open"
GIVEN += " aria-label"


NAMES = ("boat", "gull", "storm", "wreck", "seal", "whale", "cloud", "sail", "light", "comet", "moon", "tide")


class Page(HTMLParser):
    """A page taken apart: every tag closed in order, its links, its marks' texts."""

    def __init__(self, text: str):
        super().__init__()
        self.open, self.links, self.ids, self.marks, self.titles, self.scripts = [], [], [], {}, [], []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        assert tag in TAGS.split()
        assert set(given) <= set(GIVEN.split())
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag == "mark":
            self.marks[given["id"]] = ""
            self.mark = given["id"]
        if tag == "script":
            self.scripts.append([given.get("type"), ""])
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "mark" in self.open:
            self.marks[self.mark] += data
        if self.open[-1:] == ["title"]:
            self.titles.append(data)
        if self.open[-1:] == ["script"]:
            self.scripts[-1][1] += data
        elif self.open[-1:] != ["style"]:
            self.text += data


def shown(path, capsys, *options) -> Page:
    assert main(["summarize", str(path), "--format", "html", *options]) == 0
    page = Page(capsys.readouterr().out)
    assert len(set(page.ids)) == len(page.ids)
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links)
    for kind, script in page.scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert json.loads(script) if kind else f"'sha256-{digest}'" in page.policy  # data, or known by its digest
    return page


@pytest.mark.parametrize("name", ["a.txt", "<b onload=x>'\"&.txt"])
def test_hostile_text_is_text(tmp_path, capsys, name):
    path = tmp_path / name
    path.write_text("\n\n".join(HOSTILE))
    page = shown(path, capsys)
    assert page.titles == [name]
    assert sorted(page.marks.values()) == sorted(text.replace("\x7f", "\ufffd") for text in HOSTILE)


def test_every_document_is_in_the_list_at_the_top(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    rows = [{"id": str(i), "text": f"{HOSTILE[i]} {HOSTILE[3 - i]}"} for i in range(4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = shown(path, capsys)
    assert [link for link in page.links if link[1:2] == "d" and link[2:].isdigit()] == ["#d1", "#d2", "#d3", "#d4"]
    assert len(page.marks) == 8


def test_a_page_and_lines_in_the_folder_and_on_stdout_are_the_same(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(HOSTILE))
    assert main(["summarize", str(path), "--out", str(tmp_path / "out"), "--format", "html"]) == 0
    assert (tmp_path / "out" / "report.html").read_text() == capsys.readouterr().out
    assert main(["summarize", str(path), "--format", "jsonl"]) == 0
    line = json.loads(capsys.readouterr().out)
    document = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert {"schema": document["schema"], **document["records"][0]} == line
    assert "contexts" not in line


@pytest.mark.parametrize("by", ["section", "chapter", "outline"])
def test_parts_have_lists_of_their_own(tmp_path, capsys, by):
    path = tmp_path / "a.md"
    path.write_text("".join(f"{'#' * (1 + k % 2)} Of <i>{k}</i>\n\n{HOSTILE[k]}\n\n" for k in range(4)))
    assert len(shown(path, capsys, "--by", by, "--sentences", "1", "--query", "<b>who</b>").marks) > 1


SENTENCES = [f"The {name} of the tower was seen {k} times by the keeper of the lamp." for k, name in enumerate(NAMES)]


def test_a_long_document_has_a_figure_and_its_sections(tmp_path, capsys):
    path = tmp_path / "a.md"
    path.write_text(f"# Lamp\n\n## Early </script>\n\n{' '.join(SENTENCES)}\n\n## Late\n\n{HOSTILE[0]}\n")
    page = shown(path, capsys, "--sentences", "3", "--query", "Who saw the storm </script>?")
    assert page.titles == ["Lamp"]
    assert {"d1", "d1-answers", "d1-along", "d1-sections", "d1-context", "salience-d1"} <= set(page.ids)
    spec = next(json.loads(script) for kind, script in page.scripts if kind)
    bars, dots = spec["views"][0]["panels"][0]["marks"]
    assert len(bars["y1"]) == len(NAMES) + 1 and max(bars["y1"]) == 1 and len(dots["y"]) == 3
    bands = spec["views"][0]["panels"][1]["marks"][0]
    assert [label.split(",")[0] for label in bands["labels"]] == ["Early </script>", "Late"]
    assert "storm" in page.text and "Reading it takes less than a minute" in page.text


def test_a_document_given_twice_gives_where_it_first_stands(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text(" ".join(SENTENCES))
    page = shown(path, capsys, "--together", str(path))
    (view,) = next(json.loads(script) for kind, script in page.scripts if kind)["views"]
    size = len(" ".join(SENTENCES))
    assert max(view["panels"][0]["marks"][1]["x"]) < size
    bands = view["panels"][1]["marks"][0]
    assert bands["x0"] == [0, size] and bands["x1"] == [size, 2 * size] and len(set(bands["colour"])) == 2


def test_a_few_sentences_need_no_figure(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(HOSTILE))
    page = shown(path, capsys)
    assert "salience-d1" not in page.ids and [kind for kind, _ in page.scripts if kind] == []


def test_a_library_is_named_but_the_page_stays_light(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(part, "ROOM", 3000)
    monkeypatch.setattr(part, "LISTED", 9)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": f"document {i}", "text": HOSTILE[0]}) + "\n" for i in range(30)))
    page = shown(path, capsys)
    sections = [name for name in page.ids if name[1:].isdigit()]
    assert 1 < len(sections) < 9 and f"The first {len(sections)} are on this page" in page.text
    assert "document 8" in page.text and "document 9" not in page.text and "30 documents" in page.text


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.2, "less than a minute"), (1.4, "1 minute"), (90, "1 hour 30 minutes"), (120, "2 hours"), (9000, "150 hours")],
)
def test_minutes_in_words(value, words):
    assert minutes(value) == words


BITS = st.sampled_from(
    ["The lamp of the tower was lit.", "The keeper went up the stairs again.", "\n\n", " ", "\n", "灯塔很高。"]
)


@settings(deadline=None, max_examples=60)
@given(st.lists(BITS, max_size=60), st.integers(1, 6))
def test_contexts_are_slices_that_hold_every_sentence_once(bits, amount):
    from longseq.tasks.document.request import DocumentRequest
    from longseq.tasks.document.select import Budget

    text = "".join(f"{bit[:-1]} {k}{bit[-1]} " if bit.strip() else bit for k, bit in enumerate(bits))
    record = Record(id="d", kind="document", source="d", index=0, pieces=iter([text]))
    summary = summarize_document(record, DocumentRequest(budget=Budget(amount=amount)))
    at, seen = 0, []
    for context in summary.contexts:
        end = context.start + len(context.text)
        assert context.start >= at and text[context.start : end] == context.text
        assert context.cut_before <= (context.start > 0) and context.cut_after <= (end < len(text))
        rows = [summary.sentences[k] for k in context.sentences]
        assert rows[0].start - context.start <= REACH and end - rows[-1].end <= REACH
        for row in rows:
            assert context.start <= row.start and row.end <= end
        at, seen = end, [*seen, *context.sentences]
    assert seen == list(range(len(summary.sentences)))


def test_elements_escape_all_but_elements():
    assert element("p", "<b>", element("i", "&"), class_='"', id=None) == '<p class="&quot;">&lt;b&gt;<i>&amp;</i></p>'
    assert element("br") == "<br>" and isinstance(element("p"), Markup)
