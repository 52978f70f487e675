"""One manual in three formats: how much of its plain text is found in what is read from its PDF and its EPUB.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/three_formats.py

Writes three_formats.json and three_formats.md beside itself. The data folder holds documents/debian_policy.txt.gz,
.pdf.gz and .epub. A sentence is what the splitter finds in prose, lists, quotations and notes of the plain text and
what ends with a stop: titles, entries of a table of contents and tables are none. It is found if its letters stand in
the other text, once white space is folded; then with one more kind of mark folded in both at a time, so that what
differs is told by kind.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

from provenance import provenance

from longseq.cli import main as longseq
from longseq.formats import read
from longseq.formats.atomic import write_aside
from longseq.formats.markdown import table
from longseq.tasks.document.candidates import find_sentences

SENTENCES = 50
"""Of each summary that is compared."""
EXAMPLES = 3
"""Sentences shown of each kind of difference."""
LEFT_OVER = "nothing above"
_STOP = re.compile(r"[.!?…:;][\"'”’)\]]*$")


def blanks(text: str) -> str:
    return " ".join(text.split())


def bare_letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def without_notes(text: str) -> str:
    """Without the numbers of notes: `[4]`, or a bare 4 behind a word or a stop."""
    return re.sub(r"\s?\[\d+\]|(?<=[.,;:)a-z])\d{1,2}(?=[\s.,;)]|$)", "", text)


FOLDS: list[tuple[str, Callable[[str], str]]] = [
    ("white space", blanks),
    ("quotation, code and emphasis marks", lambda text: re.sub(r"[\"“”„'’‘`*_]", "", text)),
    (
        "dashes and ligatures",
        lambda text: re.sub("[\u2010-\u2015-]+", "-", unicodedata.normalize("NFKC", text)),
    ),
    ("numbers of notes", without_notes),
    (
        "blanks around marks, as a line ends there",
        lambda text: re.sub(r"\s+(?=[-/.,;:)\]>])|(?<=[-/(\[<])\s+", "", text),
    ),
    ("all marks and blanks: letters and digits only", bare_letters),
]
"""What is folded, each on top of those before it. All but the last are marks of type that a reader calls the same."""


def text_and_sentences(path: Path) -> tuple[str, list[str], list[str]]:
    """The text as read, its sentences, and the titles of its sections in order."""
    (record,) = [next(read(str(path)))]
    pieces: list[str] = []
    sections: list[str] = []
    found: list[str] = []

    def kept():
        for piece in record.pieces:
            pieces.append(piece)
            yield piece

    for sentence in find_sentences(kept(), layout=record.layout):
        sections += [sentence.section] * (sentence.section not in sections[-1:])
        if sentence.part in ("prose", "item", "numbered", "quote", "note") and _STOP.search(sentence.sentence.text):
            found.append(sentence.sentence.text)
    return "".join(pieces), found, sections


def found_in(sentences: list[str], text: str) -> list[dict]:
    """A row a fold: how many sentences stand in the text, and examples of those that this fold brought."""
    rows: list[dict] = []
    folded, missing = sentences, set(range(len(sentences)))
    for name, fold in FOLDS:
        folded, text = [fold(sentence) for sentence in folded], fold(text)
        came = sorted(i for i in missing if folded[i] in text)
        missing -= set(came)
        rows.append(
            {
                "folded": name,
                "came": len(came),
                "found": len(sentences) - len(missing),
                "share": 1 - len(missing) / len(sentences),
                "examples": [blanks(sentences[i])[:160] for i in came[:EXAMPLES]] if rows else [],
            }
        )
    left = sorted(missing)
    rows.append(
        {
            "folded": LEFT_OVER,
            "came": len(left),
            "found": len(sentences),
            "share": 1.0,
            "examples": [blanks(sentences[i])[:160] for i in left[: 3 * EXAMPLES]],
        }
    )
    return rows


def summary_of(path: Path) -> set[str]:
    """Letters of the sentences that `longseq summarize` chooses."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = longseq(["summarize", str(path), "--sentences", str(SENTENCES), "--json"])
    if code:
        sys.exit(f"three_formats.py: longseq summarize {path.name} ended with {code}")
    (record,) = json.loads(out.getvalue())["records"]
    return {bare_letters(without_notes(row["text"])) for row in record["sentences"]}


def chapters(sections: list[str]) -> list[str]:
    """Outermost titles without their numbers, each once."""
    bare = (re.sub(r"^[\dA-Z]{1,2}\.\s+|[\"“”*]", "", section.split(" > ")[0]) for section in sections if section)
    return list(dict.fromkeys(title.casefold().strip() for title in bare))


def measured(folder: Path) -> dict:
    paths = {kind: folder / f"debian_policy.{kind}" for kind in ("txt.gz", "pdf.gz", "epub")}
    read_of = {kind: text_and_sentences(path) for kind, path in paths.items()}
    summaries = {kind: summary_of(path) for kind, path in paths.items()}
    sentences = read_of["txt.gz"][1]
    titles = {kind: chapters(sections) for kind, (_, _, sections) in read_of.items()}
    return {
        "benchmark": "One manual in three formats",
        "sentences": len(sentences),
        "found": {kind: found_in(sentences, read_of[kind][0]) for kind in ("pdf.gz", "epub")},
        "summaries": [
            {"of": one, "and": other, "share": len(summaries[one] & summaries[other]) / SENTENCES}
            for one, other in (("txt.gz", "pdf.gz"), ("txt.gz", "epub"), ("pdf.gz", "epub"))
        ],
        "summary_sentences": SENTENCES,
        "chapters": titles,
        "provenance": provenance(),
    }


def page(result: dict) -> str:
    """The tables of a result, as Markdown."""
    parts = [
        f"# {result['benchmark']}",
        f"The Debian Policy Manual as text, PDF and EPUB: of {result['sentences']:,} sentences of the plain text, how "
        "many stand in what is read from the other two. Each row folds one more kind of mark in both texts, on top of "
        "the rows above it. All rows but the last are marks of type, which a reader calls the same text: the plain "
        'text shows code as "code" and emphasis as \\*emphasis\\*, and its notes as [1]. Wanted: 97 % found, and '
        "85 % of the summaries the same.",
    ]
    for kind, rows in result["found"].items():
        cells = [[row["folded"], f"{row['came']:,}", f"{row['found']:,}", f"{row['share']:.1%}"] for row in rows[:-1]]
        parts += [f"## {kind.split('.')[0].upper()}", table(["folded", "came", "found", "share"], cells).rstrip("\n")]
        for row in rows[1:]:
            if row["examples"]:
                shown = "\n".join(f"* {_escaped(example)}" for example in row["examples"])
                parts += [f"{row['came']} by: {row['folded']}.", shown]
    cells = [[f"{row['of']} and {row['and']}", f"{row['share']:.0%}"] for row in result["summaries"]]
    parts += [
        "## Summaries",
        f"Share of the {result['summary_sentences']} sentences of one summary that the other has too, by letters, "
        "numbers of notes aside.",
        table(["formats", "the same"], cells).rstrip("\n"),
        "## Chapters",
        "Titles of the outermost sections: "
        + ", ".join(f"{len(titles)} in {kind}" for kind, titles in result["chapters"].items())
        + f"; {len(set.intersection(*map(set, result['chapters'].values())))} in all three.",
    ]
    origin = result["provenance"]
    parts.append(f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, {origin['time']}.")
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"([*_<>\[\]`])", r"\\\1", text)


def main() -> None:
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("three_formats.py: set LONGSEQ_DATA to the data folder, the one that holds documents/")
    result = measured(Path(os.environ["LONGSEQ_DATA"]) / "documents")
    file = Path(__file__).with_suffix(".json")
    with write_aside(file, force=True) as aside:
        aside.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with write_aside(file.with_suffix(".md"), force=True) as aside:
        aside.write_text(page(result), encoding="utf-8")


if __name__ == "__main__":
    main()
