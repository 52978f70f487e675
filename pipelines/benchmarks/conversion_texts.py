"""The texts on which conversions are judged: 1,000 sentences and 500 paragraphs of four sources, the same from each.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/conversion_texts.py TOKENIZER.json

draws them anew and writes `conversion_ids.json`: where each stands, and no text. A paragraph has two sentences or more
and at most 256 tokens, special ones included; PLOS says where its own begin, Jane Austen and the Debian policy set
blank lines between theirs, and of Brown runs of two to eight sentences stand for them. A sentence has four words or
more, and is in none of the paragraphs drawn. No text is drawn twice.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/conversion_texts.py --write FILE.jsonl

writes the texts of the list, for `longseq convert --exclude`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.formats.atomic import write_aside
from longseq.tokens.sentences import sentences
from longseq.tokens.words import count_words

IDS = Path(__file__).with_name("conversion_ids.json")
SENTENCES, PARAGRAPHS, SEED = 1000, 500, 0
TOKENS, WORDS = 256, 4
"""At most, special ones included; at least."""
RUN = (2, 8)
"""Sentences of a paragraph where nobody said where one ends."""
SOURCES = ("plos_dev.jsonl.gz", "brown_dev.jsonl.gz", "austen_6_novels.txt.gz", "debian_policy.txt.gz")
DIGEST = 12
"""Hexadecimal digits of a text's sha256."""

Span = tuple[int, int]


class Document(NamedTuple):
    file: str
    id: str
    text: str
    paragraphs: list[Span] | None
    """Code points of each, where the source says so."""


class Text(NamedTuple):
    kind: str
    """sentence or paragraph."""
    id: str
    text: str


def held_out(data: Path) -> list[Text]:
    """The texts of the list, in its order: sentences, then paragraphs. `data` is the folder that holds documents/.

    Raises:
        ValueError: a text is not what it was when the list was made.
    """
    whole = {(document.file, document.id): document.text for document in documents(data)}
    found = []
    for kind, file, name, start, end, digest in json.loads(IDS.read_text(encoding="utf-8"))["texts"]:
        text = whole[file, name][start:end]
        if short(text) != digest:
            raise ValueError(f"{file}: {name} [{start}, {end}) is another text than the list says")
        found.append(Text(kind, f"{name}:{start}-{end}", text))
    return found


def documents(data: Path) -> Iterator[Document]:
    """All of the four sources, a PLOS article as its paragraphs with a blank line between them."""
    for file in SOURCES:
        with gzip.open(data / "documents" / file, "rt", encoding="utf-8") as lines:
            if not file.endswith(".jsonl.gz"):
                text = lines.read()
                yield Document(file, file.partition(".")[0], text, list(parted(text)))
                continue
            for row in map(json.loads, lines):
                text = row.get("text") or "\n\n".join(paragraph["text"] for paragraph in row["paragraphs"])
                places = list(parted(text, [p["text"] for p in row["paragraphs"]])) if "paragraphs" in row else None
                yield Document(file, row["id"], text, places)


def parted(text: str, given: list[str] | None = None) -> Iterator[Span]:
    """Paragraphs between blank lines, or these, each behind the one before."""
    if given is None:
        yield from (match.span() for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*(?<=\S)", text))
        return
    at = 0
    for paragraph in given:
        yield at, at + len(paragraph)
        at += len(paragraph) + 2


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


def draw(data: Path, tokenizer: str) -> list[list]:
    """Rows (kind, file, document, start, end, digest) of the list."""
    from longseq.tokens import load

    encode = load(tokenizer).encode
    generator = np.random.default_rng(SEED)
    found, seen = {"sentence": [], "paragraph": []}, set()
    for file in SOURCES:
        some = [document for document in documents(data) if document.file == file]
        split = [[(s.start, s.end) for s in sentences([document.text])] for document in some]
        parts = [paragraphs(document, spans, generator) for document, spans in zip(some, split, strict=True)]
        taken: dict[int, list[Span]] = {}
        for kind, spans, number in (
            ("paragraph", parts, PARAGRAPHS // len(SOURCES)),
            ("sentence", split, SENTENCES // len(SOURCES)),
        ):
            places = [(d, start, end) for d, part in enumerate(spans) for start, end in part]
            for i in generator.permutation(len(places)):
                d, start, end = places[i]
                text = some[d].text[start:end]
                inside = any(start < other_end and other < end for other, other_end in taken.get(d, []))
                if inside or count_words(text) < WORDS or len(encode(text)) + 2 > TOKENS or short(text) in seen:
                    continue
                seen.add(short(text))
                taken.setdefault(d, []).append((start, end))
                found[kind].append([kind, file, some[d].id, start, end, short(text)])
                number -= 1
                if not number:
                    break
    return [*found["sentence"], *found["paragraph"]]


def paragraphs(document: Document, split: list[Span], generator: np.random.Generator) -> Iterator[Span]:
    """Those with two sentences or more."""
    if document.paragraphs is None:
        at = 0
        while at < len(split):
            size = int(generator.integers(RUN[0], RUN[1] + 1))
            if len(split[at : at + size]) >= RUN[0]:
                yield split[at][0], split[min(at + size, len(split)) - 1][1]
            at += size
        return
    starts = np.array([start for start, _ in split])
    for start, end in document.paragraphs:
        if np.searchsorted(starts, end) - np.searchsorted(starts, start) >= RUN[0]:
            yield start, end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer", nargs="?", help="tokenizer.json that counts tokens: draw anew")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the texts of the list as JSONL")
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("conversion_texts.py: set LONGSEQ_DATA to the data folder, the one that holds documents/")
    data = Path(os.environ["LONGSEQ_DATA"])
    if options.tokenizer:
        rows = [json.dumps(row) for row in draw(data, options.tokenizer)]
        facts = {"seed": SEED, "tokens": TOKENS, "columns": ["kind", "file", "document", "start", "end", "sha256"]}
        lines = json.dumps(facts)[:-1] + ', "texts": [\n' + ",\n".join(rows) + "\n]}\n"
        with write_aside(IDS, force=True) as aside:
            aside.write_text(lines, encoding="utf-8")
    if options.write:
        write(held_out(data), options.write)


def write(texts: Iterable[Text | Document], file: Path) -> None:
    """A line of JSON a text."""
    with write_aside(file, force=True) as aside:
        lines = [json.dumps({"id": text.id, "text": text.text}, ensure_ascii=False) + "\n" for text in texts]
        aside.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
