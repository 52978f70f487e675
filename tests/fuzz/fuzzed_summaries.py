"""What stands behind the readers of documents and sees their text: sentences, headings, summaries and their proof."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzzing import HERE, Target

from longseq.cli.summaries import summaries
from longseq.formats.jsonfile import to_json
from longseq.report.verification import verification_text
from longseq.results.run import Run
from longseq.tasks.document.candidates import find_sentences
from longseq.tasks.document.structure import blocks
from longseq.tasks.summarize.files import summarize_files
from longseq.tasks.summarize.request import Request, plain_request
from longseq.tasks.verify import verify_summary
from longseq.tokens.sentences import sentences

STOPS = "“ ” ( ) 。 「 」 ก । Mr. e.g. …".encode().split()
PROSE = (b". ", b".\n", b"\n\n", b"! ", b"? ", b'"', b"\r", *STOPS)
LINES = (
    b"# ",
    b"## ",
    b"===\n",
    b"---\n",
    b"```\n",
    b"- ",
    b"1. ",
    b"(a) ",
    b"> ",
    b"| a | b |\n",
    b"I. ",
    b"A. ",
    b".. ",
)
LINES += (b"Chapter 1\n", "第一章".encode(), b"[1] ", b"    ", b"\t", b"Q. ", b"References\n", b"1  ")
ROWS = b'{"text":" "id":" "title":" \\ud800 \\u0000'.split()
CLAIMS = (
    b'"start": "end": "text": "file": "notes":{ "column":[] "offset": null NaN \\ud800 [[[[ "documents": "text_file":'
)


def split(path: Path) -> None:
    """Sentences: what lies between them is white space."""
    text = path.read_bytes().decode("utf-8", "replace")
    found = [*sentences([text])]
    edges = [(0, 0), *((one.start, one.end) for one in found), (len(text), len(text))]
    for (_, end), (start, _) in pairwise(edges):
        assert end <= start and not text[end:start].strip()
    assert all(text[one.start : one.end] == one.text for one in found)


def lined(path: Path) -> None:
    """Lines and what they are: together they are the text."""
    text = path.read_bytes().decode("utf-8", "replace")
    assert "".join(block.text for block in blocks([text])) == text
    assert all(text[one.sentence.start : one.sentence.end] == one.sentence.text for one in find_sentences([text]))


def summarized(path: Path) -> None:
    """A summary with all that `--out` writes; each of its sentences stands in the document."""
    request = Request(kind="document")
    with TemporaryDirectory(dir=path.parent) as folder:
        out = str(Path(folder) / "out")
        leaving = {"style": "json", "plots": (), "force": False}
        with redirect_stdout(io.StringIO()), summaries(out, ["a"], 0, plain_request(request), **leaving) as made:
            made.sources = summarize_files([str(path)], request, sinks=made.sinks)
            made.run = lambda: Run(version="0", command="longseq summarize")
        checks = verify_summary(out)
    assert all(check.outcome == "stands" for check in checks), verification_text(checks)


def verified(path: Path) -> None:
    """A summary in a file and its source, beside it, in any state."""
    checks = verify_summary(str(path))
    verification_text(checks)
    to_json([check.to_json() for check in checks])


def claimed(folder: Path, data: bytes) -> Path:
    """These bytes as the summary of a source that is as it was."""
    return _beside(folder, data, (HERE / "seeds" / "verify_source" / "harbour.md").read_bytes())


def sourced(folder: Path, data: bytes) -> Path:
    """These bytes as the source of a summary that is as it was."""
    return _beside(folder, (HERE / "seeds" / "verify_claims" / "summary.json").read_bytes(), data)


def _beside(folder: Path, summary: bytes, source: bytes) -> Path:
    (folder / "harbour.md").write_bytes(source)
    path = folder / "summary.json"
    path.write_bytes(summary)
    return path


SUMMARIES = (
    Target(name="sentences", file="a.txt", read=split, words=PROSE),
    Target(name="headings", file="a.txt", read=lined, words=(*LINES, *PROSE), examples=50),
    Target(name="summary", file="a.md", read=summarized, words=(*LINES, *PROSE), examples=11),
    Target(name="summary_rows", file="a.jsonl", read=summarized, words=(*ROWS, *PROSE), examples=15),
    Target(name="verify_claims", file="summary.json", read=verified, words=(*CLAIMS.split(),), lay=claimed),
    Target(name="verify_source", file="harbour.md", read=verified, words=(*LINES, *PROSE), lay=sourced),
)
