"""Write what the `text` model learns from, and what it never sees: training_data.py OUT.

OUT/train.jsonl and OUT/held_out.jsonl hold a document a line (id, kind, text); articles.tsv names
the articles. Every document is one whose licence lets
weights be given away: 80 articles of PLOS (CC BY), six novels by Jane Austen and poems of Tang and Song (public
domain), and the project's own sample. The Brown corpus and Debian's manual are not among them.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from opencc import OpenCC  # pip install opencc-python-reimplemented

HELD_OUT = 20
"""Every so manieth document of a kind is held out."""
POEMS = 40
"""Poems of a document: one alone is a line or two."""
OWN = Path(__file__).parents[3] / "data" / "lighthouse.md"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: training_data.py OUT")
    folder = Path(os.environ["LONGSEQ_DATA"]) / "documents"
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "articles.tsv", "w", encoding="utf-8") as file:
        for article in _lines(folder / "plos_dev.jsonl.gz"):
            print(article["id"], article["journal"], article["title"], sep="\t", file=file)
    kinds = {
        "articles": articles(folder / "plos_dev.jsonl.gz"),
        "novels": chapters(folder / "austen_6_novels.txt.gz"),
        "poems": poems(folder / "chinese_tang_song_20k.jsonl.gz"),
        "own": iter([("lighthouse", OWN.read_text("utf-8"))]),
    }
    with (
        open(out / "train.jsonl", "w", encoding="utf-8") as learned,
        open(out / "held_out.jsonl", "w", encoding="utf-8") as kept,
    ):
        for kind, documents in kinds.items():
            for number, (name, text) in enumerate(documents):
                file = kept if number % HELD_OUT == HELD_OUT // 2 else learned
                file.write(json.dumps({"id": name, "kind": kind, "text": text}, ensure_ascii=False) + "\n")


def articles(path: Path) -> Iterator[tuple[str, str]]:
    """Title, abstract and paragraphs, a heading where the section changes."""
    for article in _lines(path):
        parts, section = [article["title"], article["abstract"]], None
        for paragraph in article["paragraphs"]:
            if paragraph["section"] != section:
                section = paragraph["section"]
                parts.append(section)
            parts.append(paragraph["text"])
        yield article["id"], "\n\n".join(parts) + "\n"


def chapters(path: Path) -> Iterator[tuple[str, str]]:
    """A chapter each; every other one with the line breaks of the file, the rest a paragraph a line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        parts = re.split(r"(?im)^(?=chapter [ivxlc\d]+\.?\s*$)", file.read())
    for number, part in enumerate(parts):
        text = part.strip() + "\n"
        if number % 2:
            text = re.sub(r"(?<=\S)\n(?=\S)", " ", text)
        yield f"novels-{number}", text


def poems(path: Path) -> Iterator[tuple[str, str]]:
    """Bundles of poems drawn together at random, without a word about dynasty or author; every other bundle in
    simplified characters."""
    found = [f"{poem['title']}\n{poem['text']}\n" for poem in _lines(path)]
    order = np.random.default_rng(0).permutation(len(found))
    simplified = OpenCC("t2s")
    for number, start in enumerate(range(0, len(found), POEMS)):
        text = "\n".join(found[i] for i in order[start : start + POEMS])
        yield f"poems-{number}", simplified.convert(text) if number % 2 else text


def _lines(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main()
