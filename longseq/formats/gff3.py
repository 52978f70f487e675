"""GFF3: features of records, 1-based and closed (Sequence Ontology, "Generic Feature Format Version 3")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TextIO

from longseq.records import Interval

Phase = Literal[0, 1, 2]

_NAME = re.compile(r"[^a-zA-Z0-9.:^*$@!+_?|-]")
"""What a record's name may not hold as it is."""
_COLUMN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029%]")
_ATTRIBUTE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029%;=&,]")


class Gff3Writer:
    """Features into an open text file, as they come; `source` is the second column of each."""

    def __init__(self, file: TextIO, source: str = "longseq"):
        self._file, self._source = file, source
        self._file.write("##gff-version 3\n")

    def record(self, name: str, length: int, *, start: int = 0, circular: bool = False) -> None:
        """Announce a record, or what of it lies behind `start`, in front of its features; of a circular one features
        may end behind its length."""
        if length > start:
            self._file.write(f"##sequence-region {_escape(_NAME, name) or '.'} {start + 1} {length}\n")
        if circular:
            whole = Interval(record=name, start=0, end=length)
            self.write(whole, "region", attributes={"ID": f"{name}:1..{length}", "Is_circular": "true"})

    def write(
        self,
        interval: Interval,
        kind: str,
        *,
        score: float | None = None,
        phase: Phase | None = None,
        attributes: Mapping[str, str] | None = None,
        several: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """One feature of the type `kind`; `several` are attributes of several values.

        Raises:
            ValueError: an empty interval; a CDS without phase, which the format demands.
        """
        if not len(interval):
            raise ValueError("GFF3 has no empty features")
        if kind == "CDS" and phase is None:
            raise ValueError("a CDS has a phase")
        values = {**{name: (value,) for name, value in (attributes or {}).items()}, **(several or {})}
        pairs = ";".join(
            f"{_escape(_ATTRIBUTE, name)}={','.join(_escape(_ATTRIBUTE, value) for value in found)}"
            for name, found in values.items()
        )
        columns = (
            _escape(_NAME, interval.record) or ".",
            _escape(_COLUMN, self._source),
            _escape(_COLUMN, kind) or ".",
            str(interval.start + 1),
            str(interval.end),
            "." if score is None else f"{score:.6g}",
            interval.strand,
            "." if phase is None else str(phase),
            pairs or ".",
        )
        self._file.write("\t".join(columns) + "\n")


def _escape(pattern: re.Pattern[str], text: str) -> str:
    """Percent signs and hexadecimal bytes instead of what the pattern finds."""
    return pattern.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode(errors="replace")), text)
