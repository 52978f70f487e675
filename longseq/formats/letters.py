"""Nucleotide letters in lines of text: taken out fast, checked, and named well when one is wrong."""

from __future__ import annotations

from typing import Literal

from longseq.errors import AlphabetError, place
from longseq.records import IUPAC, Record

OnUnknown = Literal["error", "N"]

LETTERS = IUPAC + b"U" + IUPAC.lower() + b"u"
"""All that a DNA record may hold: the fifteen codes and U, in either case."""

_AS_N = bytes(c if c in LETTERS else ord("n") if chr(c).islower() and c < 128 else ord("N") for c in range(256))
NO_PROTEIN = "give the nucleotide sequences: proteins are not read"
_PROTEIN_ONLY = b"EFILPQefilpq"
"""Amino acids whose letters are no nucleotide code: about a third of a protein, none of DNA with any IUPAC codes."""


def looks_like_protein(letters: bytes) -> bool:
    """Whether a tenth of the letters, of three kinds or more, stand for amino acids only."""
    other = len(letters) - len(letters.translate(None, _PROTEIN_ONLY))
    return other * 10 >= len(letters) > 0 and len(set(letters.upper()) & set(_PROTEIN_ONLY)) >= 3


def squeeze(run: bytes) -> bytes:
    """The letters of a run of lines: line ends, spaces and tabs go.

    `replace` of one byte is several times faster than any other way to do it.
    """
    letters = run.replace(b"\n", b"")
    for blank in (b"\r", b" ", b"\t"):
        if blank in letters:
            letters = letters.replace(blank, b"")
    return letters


def check(letters: bytes, run: bytes, record: Record, base: int, line: int | None, on_unknown: OnUnknown) -> bytes:
    """`letters` (squeezed from `run`, which begins at `base` and `line`) once they are known to be good.

    With `on_unknown="N"` other letters are read as N (lower case as n) and counted in the record's notes; `>` inside a
    line stays an error, since it is the header of a lost record, and so does protein.

    Raises:
        AlphabetError: names the record, the line of the letter, and its base, 1-based.
    """
    bad = letters.translate(None, LETTERS)
    if not bad:
        return letters
    protein = looks_like_protein(letters)
    if on_unknown == "N" and not protein:
        if b">" not in bad:
            record.notes = {**record.notes, "read_as_N": int(record.notes.get("read_as_N", 0)) + len(bad)}
            return letters.translate(_AS_N)
        bad = b">"
    at = min(run.find(bytes([code])) for code in set(bad))
    found = run[at : at + 1]
    if found == b">":
        remedy = "a header must begin its line: was a file without a final line feed joined to another?"
    elif protein:
        remedy = f"this looks like protein; {NO_PROTEIN}"
    else:
        remedy = "--on-unknown N reads it as N"
    raise AlphabetError(
        where=place(record.source, None if line is None else line + run.count(b"\n", 0, at), record.id),
        expected="a DNA letter",
        found=f"{_shown(found)} at base {base + len(squeeze(run[:at])) + 1}",
        remedy=remedy,
    )


def _shown(byte: bytes) -> str:
    return repr(byte.decode("ascii")) if byte.isascii() else f"byte 0x{byte.hex()}"
