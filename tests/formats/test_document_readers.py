"""Plain text, Markdown and JSON lines: every character as it stands, every line a record."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import InputError, UsageError
from longseq.formats import read
from longseq.formats.jsonl import JsonRows
from longseq.formats.known import JSONL
from longseq.formats.tabular import records
from longseq.formats.text import records as text_records

TEXT = "Straße, 日本語,\r\nе́ and 🏝️.\n\n\ttabs\x0b\x0c and\u2028 separators\n"


@pytest.mark.parametrize("read_block", [1, 2, 3, 7, 1 << 18])
@pytest.mark.parametrize("mark", [False, True])
def test_text_is_kept(make, read_block, mark):
    path = make("island.txt", b"\xef\xbb\xbf" * mark + TEXT.encode())
    (record,) = (reading := read(path, read_block=read_block))
    assert reading.kind == record.kind == "document"
    assert record.id == "island.txt" and record.source == path
    with pytest.raises(UsageError, match="moved on"):
        next(record.pieces)
    record = next(read(path, read_block=read_block))
    assert "".join(record.pieces) == TEXT
    assert record.length == len(TEXT)
    assert record.notes == {"format": "text", "encoding": "utf-8"} | ({"bom": 3} if mark else {})


@given(st.text(), st.integers(1, 9))
def test_any_text(held, text, read_block):
    (got,) = ["".join(r.pieces) for r in text_records(held(b"\xef\xbb\xbf" + text.encode()), read_block=read_block)]
    assert got == text


def test_file_that_ends_inside_a_character(make):
    record = next(read(make("a.txt", "one\n日".encode()[:-1]), read_block=3))
    assert "".join(record.pieces) == "one\n\ufffd\ufffd" and record.notes["bad_bytes"] == 2


@pytest.mark.parametrize("read_block", [1, 1 << 18])
def test_cut_container_inside_a_character(make, pack, read_block):
    path = make("a.txt", pack("bgzf", "Good evening, 日".encode()[:-1])[:-28])
    record = next(read(path, read_block=read_block))
    assert "".join(record.pieces) == "Good evening, "
    assert record.truncated and record.notes["cut_bytes"] == 2 and record.length == 14


@pytest.mark.parametrize("name", ["a.md", "a.md.gz"])
def test_markdown_is_named_so(make, pack, name):
    (record,) = read(make(name, pack("gzip" if name.endswith("gz") else "plain", b"No sign in the text.\n")))
    assert record.notes["format"] == "markdown"
    assert record.id == "a.md"


LINES = [
    ({"text": "One."}, ("a:1", "", "One.")),
    ({"text": "日本\n\u2028語", "id": "b", "title": "T"}, ("b", "T", "日本\n\u2028語")),
    ({"id": 7, "text": "", "title": None, "other": [1]}, ("7", "", "")),
    ({"id": None, "text": "x" * 1000}, ("a:4", "", "x" * 1000)),
    ({"text": None}, ("a:5", "", "")),
]


@pytest.mark.parametrize("read_block", [1, 7, 1 << 18])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_json_lines(make, read_block, end):
    data = end.join(json.dumps(line, ensure_ascii=False).encode() for line, _ in LINES)
    reading = read(make("a", b"\xef\xbb\xbf" + data + end), read_block=read_block)
    assert reading.format.name == "jsonl" and reading.kind == "document"
    got = [(r.id, r.description, "".join(r.pieces)) for r in reading]
    assert got == [expected for _, expected in LINES]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "half', r"expected a JSON object on one line, found Unterminated string"),
        (b'["text"]', r"expected a JSON object, found list"),
        (b'{"body": "x", "id": "q"}', r"expected a field 'text' that holds text, found the fields 'body', 'id'"),
        (b'{"text": 3}', r"expected a field 'text' that holds text, found 3"),
        (b'{"text": "a\\ud800"}', r"expected text, found half a surrogate pair at character 1"),
        (b'{"text": "\xff"}', r"expected a JSON object on one line"),
    ],
)
def test_bad_line_is_a_record_that_raises(make, line, message):
    reading = read(make("a.jsonl", b'{"text": "one"}\n\n' + line + b'\n{"text": "two"}\n'))
    assert "".join(next(reading).pieces) == "one"
    bad = next(reading)
    assert bad.line == 3 and bad.id in ("a:3", "q")
    with pytest.raises(InputError, match=r"a\.jsonl:3: " + message):
        "".join(bad.pieces)
    assert ["".join(r.pieces) for r in reading] == ["two"]


def test_cut_container_ends_in_an_empty_record(make, pack):
    path = make("a.jsonl", pack("bgzf", b'{"text": "one"}\n{"text": "tw')[:-28])
    got = [(r.id, "".join(r.pieces), r.truncated) for r in read(path)]
    assert got == [("a:1", "one", False), ("a:2", "", True)]


@given(st.lists(st.text(), max_size=5), st.integers(1, 30))
def test_any_json_lines(held, texts, read_block):
    data = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    _, found = records(JsonRows(held(data), read_block=read_block), JSONL, kind="document", read_block=read_block)
    assert ["".join(record.pieces) for record in found] == texts
