"""The text of each document, kept as it was read: what offsets and digests of a summary speak of."""

from __future__ import annotations

import re
from pathlib import Path

from longseq.records import Record
from longseq.tasks.document.manuscript import Manuscript

COPIED = 1 << 20
"""Code points copied at a time."""
LONGEST_NAME = 120
"""Letters of a file's name."""
_UNSAFE = re.compile(r"[^\w.+-]+")


class TextFolder:
    """A file of UTF-8 for each document, named by its id.

    Args:
        folder: Where they are written.
        named: The folder as the user named it, whose place `folder` takes in the end.
    """

    def __init__(self, folder: Path, named: str | None = None):
        self._folder = folder
        self.named = str(folder) if named is None else named
        self._taken: set[str] = set()

    def save(self, record: Record, text: Manuscript, start: int = 0) -> str:
        """Write the text from its code point `start` on; the name of its file."""
        stem = _UNSAFE.sub("_", record.id).strip("._")[:LONGEST_NAME] or "document"
        name, number = f"{stem}.txt", 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{stem}-{number}.txt"
        self._taken.add(name.casefold())
        with open(self._folder / name, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            for at in range(start, len(text), COPIED):
                file.write(text.read(at, min(at + COPIED, len(text))).text)
        return name
