"""Articles with their abstracts, as documents to summarize: 80 of PLOS, CC BY."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

from longseq.records import Record
from longseq.tokens.sentences import sentences
from longseq.tokens.words import count_words


class Article(NamedTuple):
    """A text, and what its authors say it says."""

    id: str
    title: str
    text: str
    """Markdown: title and headings with `#`, a paragraph a line."""
    reference: list[str]
    """Sentences of the abstract."""
    words: int
    """Of the abstract."""

    def record(self) -> Record:
        """To be walked once."""
        return Record(id=self.id, kind="document", source=self.id, index=0, pieces=iter([self.text]))


def articles(data: Path) -> list[Article]:
    """All of `plos_dev.jsonl.gz` below the data folder, in order."""
    found = []
    with gzip.open(data / "documents" / "plos_dev.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            abstract = row["abstract"]
            reference = [sentence.text for sentence in sentences([abstract])]
            found.append(Article(row["id"], row["title"], _markdown(row), reference, count_words(abstract)))
    return found


def _markdown(row: dict) -> str:
    lines, above = [f"# {row['title']}", ""], []
    for paragraph in row["paragraphs"]:
        path = paragraph["section"].split(" / ") if paragraph["section"] else []
        for depth in range(len(path)):
            if path[: depth + 1] != above[: depth + 1]:
                lines += [f"{'#' * min(depth + 2, 6)} {path[depth]}", ""]
        above = path
        lines += [" ".join(paragraph["text"].split()), ""]
    return "\n".join(lines)
