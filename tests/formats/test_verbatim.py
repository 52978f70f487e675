"""Of every format: each sentence of a summary is a slice of the text, and `verify` says so, or what changed."""

import gzip
import hashlib
import importlib
import io
import json
from itertools import chain

import pytest
from packed import docx, epub
from pdfs import page, pdf

from longseq.cli import main
from longseq.formats import read

LAMP = [
    "The lamp of the tower was lit at dusk by its keeper, who had oil for a year.",
    "In winter the stairs of the tower were so cold that “nobody” went down them.",
    "A keeper of the lamp cut its wick every night and wrote down how much oil it took.",
    "No ship was lost near the tower while the lamp burned, as the book of the harbour shows.",
]
BELL = [
    "Größe und Klang der Glocke waren weit über die Küste von 灯塔 hinaus bekannt.",
    "The bell was rung by hand in fog, four strokes a minute, until the engine came.",
    "When the engine of the bell broke down, the keeper rang it for thirty hours.",
]
BODY = "".join(f"<p>{' '.join(some)}</p>" for some in (LAMP, BELL))
ARTICLE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving DTD v1.2 20190208//EN" "a.dtd">'
    "<article><front><article-meta><title-group><article-title>Of Lamps</article-title></title-group></article-meta>"
    f"</front><body><sec><title>Of the lamp</title>{BODY}</sec></body></article>"
)
PROSE = "\n\n".join(" ".join(some) for some in (LAMP, BELL)) + "\n"


def word(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


FILES = {
    "a.txt": PROSE.encode(),
    "mark.txt": b"\xef\xbb\xbf" + PROSE.replace("\n", "\r\n").encode(),
    "china.txt": PROSE.replace("ö", "o").replace("ß", "ss").replace("ü", "u").encode("gb18030"),
    "a.txt.gz": gzip.compress(PROSE.encode(), mtime=0),
    "a.md": f"# Of the lamp\n\n{PROSE}".encode(),
    "a.rst": f"Of the lamp\n===========\n\n{PROSE}".encode(),
    "a.html": f"<!DOCTYPE html><html><head><meta charset=utf-8></head><body>{BODY}</body></html>".encode(),
    "a.pdf": pdf(page(" ".join(LAMP)), page(" ".join(BELL[1:]))),
    "a.epub": epub({"one": f"<p>{' '.join(LAMP)}</p>", "two": f"<p>{' '.join(BELL)}</p>"}, spine=["two", "one"]),
    "a.docx": docx(word(" ".join(LAMP)) + word(" ".join(BELL))),
    "a.xml": ARTICLE.encode(),
    "a.jsonl": b"".join(
        json.dumps({"id": "ab"[k], "body": " ".join(t)}).encode() + b"\n" for k, t in enumerate((LAMP, BELL))
    ),
    "a.csv": ("id,body\n" + "".join(f'x{k},"{" ".join(t)}"\n' for k, t in enumerate((LAMP, BELL)))).encode(),
}
EXTRACTORS = {"a.html": "html", "a.pdf": "pdf", "a.epub": "epub", "a.docx": "docx", "a.xml": "jats"}


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([*map(str, arguments)])
        return code, capsys.readouterr().out

    return call


@pytest.fixture(params=FILES)
def source(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(FILES[request.param])
    return path


def summarized(run, source, *options):
    """The summary of a file, written beside it."""
    code, out = run("summarize", source, "--json", *options)
    assert code == 0
    summary = source.parent / "summary.json"
    summary.write_text(out)
    return summary, json.loads(out)["records"]


def test_each_sentence_is_its_slice_and_is_proved(run, source):
    summary, records = summarized(run, source, "--column", "body", "--sentences", 4)
    read_again = {}
    with read(str(source), kind="document", text="body") as reading:
        for record in reading:
            read_again[record.index] = "".join(record.pieces)
    data = gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes()
    assert len(records) == len(read_again)
    for record in records:
        text = read_again[record["index"]]
        assert record["file_sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
        assert record["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        assert (record["extractor"] is None) == (source.name not in EXTRACTORS)
        assert record["sentences"]
        for row in record["sentences"]:
            assert row["text"] == text[row["start"] : row["end"]] != ""
            assert (row["page"] is not None) == (source.suffix == ".pdf")
            if row["byte_start"] is not None:
                assert row["text"] == data[row["byte_start"] : row["byte_end"]].decode()
        plain = source.name in ("a.txt", "mark.txt", "a.txt.gz", "a.md", "a.rst")
        assert all((row["byte_start"] is not None) == plain for row in record["sentences"])
    code, out = run("verify", summary)
    assert code == 0 and out.count("): verbatim; " if len(records) > 1 else ": verbatim; ") == len(records)


@pytest.mark.parametrize("name", EXTRACTORS)
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("same", [True, False])
def test_an_extractor_that_changed_is_not_taken_for_the_source(run, tmp_path, monkeypatch, name, kept, same):
    source = tmp_path / name
    source.write_bytes(FILES[name])
    summary, (record,) = summarized(run, source, *(["--save-text", tmp_path / "kept"] if kept else []))
    module = f"longseq.formats.{EXTRACTORS[name]}"
    monkeypatch.setattr(f"{module}.VERSION", 99)
    if not same:
        module = importlib.import_module(module)
        alone = module.alone
        monkeypatch.setattr(module, "alone", lambda record, pieces: alone(record, chain(["Front.\n\n"], pieces)))
    code, out = run("verify", summary, "--json")
    (check,) = json.loads(out)["documents"]
    assert check["verdict"] == "extractor changed"
    assert f"longseq.{EXTRACTORS[name]}/99" in check["remarks"][0] and record["extractor"] in check["remarks"][0]
    assert code == (0 if same or kept else 3)
    assert all(row["kept"] is (True if kept else None) for row in check["sentences"])
    for row in check["sentences"]:
        if same:
            assert row["state"] == "stands" and row["now"] is None
        else:
            assert (row["state"], row["now"]["start"]) == ("moved", row["said"]["start"] + 8)


def test_a_pdf_that_was_edited_names_the_page(run, tmp_path):
    source = tmp_path / "a.pdf"
    source.write_bytes(FILES["a.pdf"])
    summary, _ = summarized(run, source)
    source.write_bytes(pdf(page(" ".join(LAMP)), page("A page put in between the others."), page(BELL[2])))
    code, out = run("verify", summary, "--json")
    (check,) = json.loads(out)["documents"]
    assert code == 1 and check["verdict"] == "source changed"
    rows = {row["text"]: row for row in check["sentences"]}
    assert rows[BELL[2]]["state"] == "moved"
    assert (rows[BELL[2]]["said"]["page"], rows[BELL[2]]["now"]["page"]) == (2, 3)
    assert rows[BELL[1]]["state"] == "gone"
    assert all(rows[text]["state"] == "stands" for text in LAMP if text in rows)
    assert "moved from page 2, " in run("verify", summary)[1]


def test_a_row_that_moved_is_known_by_its_id(run, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_bytes(FILES["a.jsonl"])
    summary, _ = summarized(run, source, "--column", "body")
    first, second = FILES["a.jsonl"].splitlines(keepends=True)
    source.write_bytes(b'{"id": "new", "body": "Short."}\n' + first)
    code, out = run("verify", summary, "--json")
    one, other = json.loads(out)["documents"]
    assert code == 1
    assert (one["id"], one["outcome"], one["standing"]) == ("a", "stands", len(one["sentences"]))
    assert other["id"] == "b" and all(row["state"] == "gone" for row in other["sentences"])
    source.write_bytes(second + first)
    code, out = run("verify", summary, "--json")
    assert code == 0 and all(check["verdict"] == "source changed" for check in json.loads(out)["documents"])


def test_a_pipe_is_checked_by_its_text(run, tmp_path, monkeypatch):
    class Pipe:
        buffer = io.BytesIO(PROSE.encode())

    monkeypatch.setattr("sys.stdin", Pipe)
    code, out = run("summarize", "-", "--json")
    summary, source = tmp_path / "s.json", tmp_path / "any.txt"
    summary.write_text(out)
    source.write_text(PROSE)
    code, out = run("verify", summary)
    assert code == 3 and "missing source" in out and "name the source" in out
    assert run("verify", summary, source)[0] == 0
    source.write_text("No more of it. " + PROSE)
    code, out = run("verify", summary, source)
    assert code == 1 and f"standard input, read from {source}: source changed" in out
