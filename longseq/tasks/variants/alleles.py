"""What is asked of an allele: nothing, with the reason, or two windows that differ in it alone."""

from __future__ import annotations

import re
from typing import NamedTuple

from longseq.records import Variant
from longseq.tasks.variants.reference import Reference

REASONS = {
    "indel": "scored, but the ratio grows with the length: not comparable with single changes",
    "block": "scored, but several bases change at once: not comparable with single changes",
    "code_in_ref": "scored, but letters of REF other than A, C, G, T are not counted: not comparable with others",
    "no_alt": "there is no alternative allele",
    "same": "the allele is REF itself: nothing changes",
    "star": "the allele is missing because of a deletion upstream",
    "symbolic": "the allele is a name, not bases",
    "breakend": "the allele is a breakend, not bases",
    "too_long": "REF or the allele is longer than the limit",
    "ambiguous": "the allele holds a letter other than A, C, G, T",
    "ref_mismatch": "REF is not what stands in the reference",
    "outside": "REF lies outside the record",
    "no_record": "no record of the reference has this name",
}
"""Why an allele has no number, or one that is not comparable with those of single changes."""
FAULTS = ("ref_mismatch", "outside", "no_record")
"""Reasons that speak of data that do not belong together."""

_LETTERS = re.compile(r"[A-Za-z]+")
_BASES = re.compile(r"[ACGT]*")
_STANDS_FOR = {
    "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip


class Windows(NamedTuple):
    """The same stretch of the forward strand, with either allele in it."""

    alternative: bytes
    reference: bytes


class Allele(NamedTuple):
    """One alternative allele of a row."""

    alt: str | None
    """As the table spells it; None where there is none."""
    reason: str | None
    """One of `REASONS`, or two with `&` between them; None where the number compares with those of single changes."""
    windows: Windows | None = None
    """None where nothing is scored."""
    changed: int = 0
    """Bases that the longer of the two alleles has, without those that both share at their ends."""


def alleles(variant: Variant, reference: Reference, record: str | None, context: int, longest: int) -> list[Allele]:
    """Each alternative allele of a row, or one without a name where there is none.

    Args:
        record: the record's name in the reference; None where it has none.
        context: bases on either side of an allele, fewer at the ends of the record.
        longest: bases of the longest allele, REF or alternative, that is scored.
    """
    ref = variant.ref.upper().replace("U", "T")
    fault = _fault(variant.start, ref, reference, record)
    found = []
    for spelled in variant.alts or (None,):
        alt = None if spelled is None else spelled.upper().replace("U", "T")
        reason = fault or _refused(alt) or _unfit(ref, alt or "", longest)
        if reason is not None or record is None or alt is None:
            found.append(Allele(spelled, reason))
            continue
        skipped, old, new = trimmed(ref, alt)
        at = variant.start + skipped
        left = reference.fetch(record, max(at - context, 0), at)
        right = reference.fetch(record, at + len(old), at + len(old) + context)
        windows = Windows(left + new.encode() + right, left + old.encode() + right)
        changed = max(len(old), len(new))
        found.append(Allele(spelled, _kind(old, new), windows, changed))
    return found


def trimmed(ref: str, alt: str) -> tuple[int, str, str]:
    """How many letters both begin with, and the two without what they share at their ends, the right end first."""
    end = 0
    while end < min(len(ref), len(alt)) and ref[-1 - end] == alt[-1 - end]:
        end += 1
    ref, alt = ref[: len(ref) - end], alt[: len(alt) - end]
    start = 0
    while start < min(len(ref), len(alt)) and ref[start] == alt[start]:
        start += 1
    return start, ref[start:], alt[start:]


def _kind(old: str, new: str) -> str | None:
    """Why the number of a change cannot be compared with others; two reasons stand with `&` between them."""
    reasons = ["indel"] if len(old) != len(new) else ["block"] if len(old) > 1 else []
    if not _BASES.fullmatch(old):
        reasons.append("code_in_ref")
    return "&".join(reasons) or None


def _fault(start: int, ref: str, reference: Reference, record: str | None) -> str | None:
    if record is None:
        return "no_record"
    if start < 0 or start + len(ref) > reference.length(record):
        return "outside"
    found = reference.fetch(record, start, start + len(ref)).decode()
    same = found == ref or all(_agree(one, other) for one, other in zip(ref, found, strict=True))
    return None if same else "ref_mismatch"


def _agree(letter: str, found: str) -> bool:
    """Whether a letter of REF may stand for one of the reference, which may be a code for several."""
    return letter == found or (found in _STANDS_FOR and (letter == "N" or letter in _STANDS_FOR[found]))


def _refused(alt: str | None) -> str | None:
    """Why an allele is no string of letters."""
    if alt in (None, ".", ""):
        return "no_alt"
    if alt == "*":
        return "star"
    if alt.startswith("<") and alt.endswith(">"):
        return "symbolic"
    return None if _LETTERS.fullmatch(alt) else "breakend"


def _unfit(ref: str, alt: str, longest: int) -> str | None:
    if ref == alt:
        return "same"
    if max(len(ref), len(alt)) > longest:
        return "too_long"
    return None if _BASES.fullmatch(alt) else "ambiguous"
