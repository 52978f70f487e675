"""The feature table of GenBank flat files: key, strand and stretches of each feature.

Source: "The DDBJ/ENA/GenBank Feature Table Definition", section 3.4 (locations).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from longseq.errors import InputError, place
from longseq.formats.blocks import Blocks
from longseq.formats.header import decode

_PART = re.compile(r"(complement\()?[<>]?(\d+)(?:(?:\.\.|\.)[<>]?(\d+))?(?=[,)]|$)")


class Stretch(NamedTuple):
    line: int
    """1-based, of the feature's first line."""
    record: str
    """ACCESSION.VERSION, or the accession, or the name of the first line."""
    start: int
    """0-based."""
    end: int
    strand: Literal["+", "-"]
    key: str


def stretches(text: Blocks) -> Iterator[Stretch]:
    """Those of every feature, one for each part of a joined one; parts on other records are left out.

    Raises:
        InputError: a location that cannot be read.
    """
    source, record, key, location, first = text.stream.source, "", "", "", 0
    inside = False
    while (data := text.readline()) is not None:
        line = text.line - (1 if text.whole_line else 0)
        continued = inside and data.startswith(b" " * 21)
        if key and (not continued or data[21:22] == b"/"):
            yield from _parts(location, key, record, first, source)
            key = ""
        words = data.split()
        if data.startswith(b"LOCUS ") and len(words) > 1:
            record, inside = decode(words[1]), False
        elif data.startswith((b"ACCESSION ", b"VERSION ")) and len(words) > 1:
            record = decode(words[1])
        elif data.startswith(b"FEATURES"):
            inside = True
        elif inside and continued:
            location += decode(data).strip() if key else ""
        elif inside and data.startswith(b"     ") and len(words) == 2:
            key, location, first = decode(words[0]), decode(words[1]), line
        elif data[:1].strip():
            inside = False
    if key:
        yield from _parts(location, key, record, first, source)


def _parts(location: str, key: str, record: str, line: int, source: str) -> Iterator[Stretch]:
    turned = location.startswith("complement(") and _closes_last(location)
    inner = location[len("complement(") : -1] if turned else location
    found = False
    for part in _PART.finditer(re.sub(r"[\w.]+:[\d.<>]+(\^\d+)?|\d+\^\d+", "", inner)):
        start, end = int(part[2]) - 1, int(part[3] or part[2])
        if not 0 <= start < end:
            raise InputError(where=place(source, line), expected="1 <= start <= end", found=f"{location!r}")
        found = True
        yield Stretch(line, record, start, end, "-" if turned or part[1] else "+", key)
    if not found and ":" not in location and "^" not in location:
        raise InputError(where=place(source, line), expected=f"a location of {key}", found=f"{location!r}")


def _closes_last(location: str) -> bool:
    """Whether the first bracket is closed by the last character."""
    depth = 0
    for at, letter in enumerate(location):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return at == len(location) - 1
    return False
