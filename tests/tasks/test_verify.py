"""`verify`: what became of each sentence, by plain search; hostile summaries; which file is which; flat memory."""

import hashlib
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.cli import main
from longseq.errors import InputError, UsageError
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.verify import search, verify_summary
from longseq.tasks.verify.search import Wanted, find

LETTERS = st.text(alphabet="aab \n\u3000灯", max_size=60)
WANTED = st.lists(st.tuples(LETTERS.map(lambda text: text[:7].strip()), st.integers(0, 60)), max_size=5)


def bare(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None, max_examples=300)
@given(
    LETTERS,
    st.lists(st.tuples(LETTERS.map(lambda t: t[:7].strip()), st.integers(0, 60)), max_size=5),
    st.integers(1, 70),
)
def test_found_as_by_plain_search(text, wanted, block):
    before, search.BLOCK = search.BLOCK, block
    try:
        with Manuscript() as manuscript:
            manuscript.append(text)
            found = find(manuscript, [Wanted(*one) for one in wanted])
    finally:
        search.BLOCK = before
    for (sentence, start), (state, begin, end) in zip(wanted, found, strict=True):
        places = [at for at in range(len(text)) if sentence and text.startswith(sentence, at)]
        assert (state == "moved") == bool(places)
        if places:
            assert text[begin:end] == sentence
            assert abs(begin - start) == min(abs(at - start) for at in places)
        elif bare(sentence) and bare(sentence) in bare(text):
            assert state == "respaced" and bare(text[begin:end]) == bare(sentence)
        else:
            assert state in ("gone", "altered")


LINES = [
    "# The tower",
    "",
    "The lamp of the tower was lit at dusk by its keeper, who had oil for a year.",
    "In winter the stairs of the tower were so cold that nobody went down them.",
    "",
    "No ship was lost near the tower while the lamp burned, as the book of the harbour shows.",
    "The keeper of the tower cut the wick of the lamp every night before the moon rose.",
    "",
    "When the engine of the bell broke down, the keeper of the tower rang it by hand.",
]


@pytest.fixture
def made(tmp_path, capsys):
    """A source, and the summary of all its sentences beside it."""
    source, summary = tmp_path / "tower.md", tmp_path / "tower.json"
    source.write_text("\n".join(LINES) + "\n")
    assert main(["summarize", str(source), "--json"]) == 0
    summary.write_text(capsys.readouterr().out)
    return source, summary


def test_what_became_of_each_sentence(made, capsys):
    source, summary = made
    lines = ["A line put in front.", *LINES]
    lines[3] = lines[3].replace("by its keeper", "by her keeper")
    lines[6] = lines[6].replace("tower while the", "tower\nwhile   the")
    del lines[7]
    source.write_text("\n".join(lines) + "\n")
    (check,) = verify_summary(str(summary))
    assert (check.verdict, check.outcome, check.standing) == ("source changed", "fails", 0)
    text = source.read_text()
    found = {LINES.index(row.text): row for row in check.sentences}
    assert {at: row.state for at, row in found.items()} == {
        2: "altered",
        3: "moved",
        5: "respaced",
        6: "gone",
        8: "moved",
    }
    assert {at: row.now.line for at, row in found.items()} == {2: 4, 3: 5, 5: 7, 6: 9, 8: 10}
    for at in (3, 8):
        assert text[found[at].now.start : found[at].now.end] == LINES[at]
        assert text.encode()[found[at].now.byte_start : found[at].now.byte_end] == LINES[at].encode()
    assert found[2].found == lines[3]
    assert main(["verify", str(summary)]) == 1
    said = capsys.readouterr().out
    assert f"  {source}:4: sentence {found[2].rank} is altered; it stood at " in said
    assert f"  {source}:9: sentence {found[6].rank} is gone from " in said


def test_an_edit_that_touches_no_sentence_is_said(made):
    source, summary = made
    source.write_text(source.read_text() + "\nA last line.\n")
    (check,) = verify_summary(str(summary))
    assert (check.verdict, check.outcome, check.standing) == ("source changed", "stands", 5)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("text", lambda row: row["text"].replace("the", "The", 1)),
        ("start", lambda row: row["start"] + 1),
        ("end", lambda row: row["end"] + (1 << 60)),
        ("byte_start", lambda row: row["byte_start"] + 1),
    ],
)
def test_a_summary_that_was_altered_is_told(made, name, change):
    _, summary = made
    document = json.loads(summary.read_text())
    row = document["records"][0]["sentences"][1]
    row[name] = change(row)
    summary.write_text(json.dumps(document))
    (check,) = verify_summary(str(summary))
    assert (check.verdict, check.outcome, check.standing) == ("summary altered", "fails", 4)
    assert check.sentences[1].state != "stands"


def test_a_source_that_cannot_be_had(made, tmp_path, capsys):
    source, summary = made
    data = source.read_bytes()
    source.rename(tmp_path / "other.md")
    assert main(["verify", str(summary)]) == 3
    assert f"{source}: missing source; 5 sentences not checked" in capsys.readouterr().out
    assert main(["verify", str(summary), str(tmp_path / "other.md")]) == 0
    source.write_bytes(b"%PDF-1.4\n" + b"\0" * 9)
    assert main(["verify", str(summary)]) == 3
    assert f"{source}: unreadable source" in capsys.readouterr().out
    source.unlink()
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "tower.md").write_bytes(data)
    document = json.loads(summary.read_text())
    document["records"][0]["file"] = "tower.md"
    (tmp_path / "far" / "summary.json").write_text(json.dumps(document))
    assert main(["verify", str(tmp_path / "far")]) == 0  # beside the summary


def test_the_text_that_was_kept_is_a_witness_only_as_long_as_it_is_the_same(made, tmp_path, capsys):
    source, summary = made
    kept = tmp_path / "kept"
    assert main(["summarize", str(source), "--json", "--save-text", str(kept)]) == 0
    summary.write_text(capsys.readouterr().out)
    source.unlink()
    (check,) = verify_summary(str(summary))
    assert check.verdict == "missing source" and all(row.kept for row in check.sentences)
    (file,) = kept.iterdir()
    file.write_bytes(file.read_bytes() + b"\xff")
    (check,) = verify_summary(str(summary))
    assert check.outcome == "unchecked" and all(row.kept is None for row in check.sentences)


def test_which_file_is_which(tmp_path, capsys):
    names = [tmp_path / folder / "same.txt" for folder in ("one", "two")]
    for path in names:
        path.parent.mkdir()
        path.write_text(f"The keeper of tower {path.parent.name} lit the lamp of the tower at dusk.\n")
    assert main(["summarize", *map(str, names), "--json"]) == 0
    summary = tmp_path / "s.json"
    summary.write_text(capsys.readouterr().out)
    moved = [path.rename(path.parent / "moved.txt") for path in names]
    checks = verify_summary(str(summary), list(map(str, reversed(moved))))  # by their digests
    assert [check.source for check in checks] == list(map(str, moved))
    assert all(check.verdict == "verbatim" for check in checks)
    with pytest.raises(UsageError, match=r"nobody\.txt: expected a source of the summary"):
        verify_summary(str(summary), ["nobody.txt"])


def test_many_documents_together_are_checked_each_in_its_place(tmp_path, capsys):
    for name, lines in (("a.md", LINES[:4]), ("b.md", LINES[5:])):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    names = [str(tmp_path / name) for name in ("a.md", "b.md")]
    assert main(["summarize", *names, "--together", "--sentences", "4", "--json"]) == 0
    summary = tmp_path / "s.json"
    summary.write_text(capsys.readouterr().out)
    checks = verify_summary(str(summary))
    assert [(check.file, check.verdict) for check in checks] == [(name, "verbatim") for name in names]
    assert sum(check.standing for check in checks) == 4 and all(check.sentences for check in checks)
    (tmp_path / "b.md").write_text("A line in front.\n" + "\n".join(LINES[5:]) + "\n")
    one, other = verify_summary(str(summary))
    assert (one.outcome, other.outcome, other.standing) == ("stands", "fails", 0)


@pytest.mark.parametrize("name", ["sentences", "documents", "notes", "text_folder", "page", "start"])
@pytest.mark.parametrize("value", [5, "x", 10**30, [1]])
def test_a_summary_that_says_nonsense_is_one_error(made, name, value):
    source, summary = made
    record = json.loads(summary.read_text())
    row = record["records"][0]
    (row["sentences"][0] if name in row["sentences"][0] else row)[name] = value
    summary.write_text(json.dumps(record))
    if name == "text_folder" and value == "x":  # a folder that is not there
        assert verify_summary(str(summary), [str(source)])[0].outcome == "stands"
    elif value == 5 and name in ("page", "start"):  # a place that is another
        assert verify_summary(str(summary), [str(source)])[0].outcome == "fails"
    else:
        with pytest.raises(InputError, match=name):
            verify_summary(str(summary), [str(source)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a summary of a document, found none"),
        ("The lamp.", "expected a summary in JSON"),
        ("[1]", "expected a summary (longseq.summary/1), found another document"),
        ('{"schema": "longseq.check/1"}', "found 'longseq.check/1'"),
        ('{"schema": "longseq.summary/9", "records": []}', "found longseq.summary/9; use the longseq that made it"),
        (
            '{"schema": "longseq.summary/1", "records": [{"kind": "dna"}]}',
            "expected a summary of a document, found none",
        ),
        ('{"schema": "longseq.summary/1", "records": [{"id": "x"}]}', "expected a record of a document"),
    ],
)
def test_what_is_no_summary_of_a_document(tmp_path, text, said):
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        verify_summary(str(path))
    assert said in str(caught.value)


def test_memory_does_not_grow_with_the_source(tmp_path, monkeypatch):
    monkeypatch.setattr("longseq.tokens.scratch.IN_MEMORY", 1 << 16)
    line = "Nothing of note was written down on this day, as on all the others of that year.\n"
    quote = "The lamp of the tower was lit."

    def peak(times: int) -> int:
        source, summary = tmp_path / "s.txt", tmp_path / "s.json"
        text = line * times + quote + "\n"
        source.write_text(text)
        place = {"rank": 1, "start": 7, "end": 7 + len(quote), "text": quote}
        claim = {"schema": "longseq.summary/1", "file": str(source), "index": 0, "id": "s.txt", "length": len(text)}
        claim |= {"sha256": hashlib.sha256(text.encode()).hexdigest(), "sentences": [place]}
        summary.write_text(json.dumps(claim))
        tracemalloc.start()
        (check,) = verify_summary(str(summary))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        (row,) = check.sentences
        assert (row.state, row.now.start, row.now.line) == ("moved", len(line) * times, times + 1)
        return found

    small = peak(20_000)
    assert peak(100_000) < small + (1 << 20)


def test_a_row_of_the_same_id_that_cannot_be_read_leaves_the_first_one_proved(tmp_path, capsys):
    rows, summary = tmp_path / "rows.jsonl", tmp_path / "rows.json"
    rows.write_text(json.dumps({"id": "a", "text": LINES[2]}) + '\n{"id": "a", "other": 1}\n')
    assert main(["summarize", str(rows), "--json"]) == 3
    summary.write_text(capsys.readouterr().out)
    (check,) = verify_summary(str(summary))
    assert (check.verdict, check.outcome, check.standing) == ("verbatim", "stands", 1)
