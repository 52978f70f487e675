"""Names of one record in two files: `NC_007795` is `gi|88193823|ref|NC_007795.1|`, `1` is `chr1`.

A name that stands in both files is itself. Else an alias counts, and else what two names have in common once the bars
of NCBI are unpacked (NCBI, "FASTA sequence identifiers"), a version that only one of them has is left out, and `chr`
is. Two versions of an accession are two sequences, and never the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from longseq.errors import InputError

Aliases = Iterable[tuple[str, str]]
"""Pairs of names of one record; which stands in which file does not matter."""

REMEDY = "say which with --alias FILE, two names of one record a line"
SHOWN = 5
"""Names that a note or an error lists."""

_ACCESSION = re.compile(r"(?=[A-Z])((?:[A-Z]{1,4}_)?[A-Z]{0,6}\d{5,})(?:\.(\d+))?")
_VERSION = re.compile(r"\.\d+$")
_CHROMOSOME = re.compile(r"(?i:chr(?:omosome)?)[_-]?(?=.)")
_MITOCHONDRION = frozenset(("M", "Mt", "MT"))
_TAGS = frozenset(("dbj", "emb", "ENA", "gb", "gi", "gnl", "lcl", "pdb", "ref", "tpd", "tpe", "tpg"))
_EXACT, _ALIAS, _LIKE = range(3)


class Matched(NamedTuple):
    """Which known name each wanted one is."""

    mapping: dict[str, str]
    """From wanted to known name."""
    missing: tuple[str, ...]
    """Wanted names that are none of the known ones."""
    notes: tuple[str, ...]
    """What was matched though it is spelled differently, for the reader; empty where nothing was."""


def match(
    wanted: Iterable[str], known: Iterable[str], alias: Aliases = (), *, where: str | None = None, remedy: str = REMEDY
) -> Matched:
    """Find each wanted name among the known ones, which are walked once and not kept.

    A known name that is wanted as it stands is given to no other by resemblance: of `MT` and `chrM`, wanted where only
    `MT` is known, the second is missing.

    Args:
        wanted: names in a table, of variants, of intervals, of a region.
        known: names of the records.
        where: the file with the wanted names, for errors.
        remedy: how to say which is meant, for errors.

    Raises:
        InputError: a wanted name resembles several known ones, or several wanted ones resemble one that is known; the
            candidates are listed.
    """
    names = dict.fromkeys(wanted)
    spelled: dict[str, list[tuple[str, int]]] = {}
    like: dict[str, list[tuple[str, str | None, int]]] = {}
    for name, other, rank in _spellings(names, alias):
        spelled.setdefault(other, []).append((name, rank))
        for key, version in _keys(other):
            like.setdefault(key, []).append((name, version, _ALIAS if rank == _ALIAS else _LIKE))
    found: dict[str, dict[int, dict[str, None]]] = {name: {} for name in names}
    for record in known:
        for name, rank in spelled.get(record, ()):
            found[name].setdefault(rank, {})[record] = None
        for key, version in _keys(record):
            for name, other_version, rank in like.get(key, ()):
                if version is None or other_version is None or version == other_version:
                    found[name].setdefault(rank, {})[record] = None
    mapping = {name: name for name in names if _EXACT in found[name]}
    users: dict[str, list[str]] = {}
    for name in names:
        if name in mapping or not found[name]:
            continue
        rank = min(found[name])
        candidates = [record for record in found[name][rank] if rank == _ALIAS or record not in mapping]
        if len(candidates) > 1:
            raise InputError(where=where, expected=f"one record for {name!r}", found=listed(candidates), remedy=remedy)
        if candidates:
            users.setdefault(candidates[0], []).append(name)
    for record, several in users.items():
        resembling = [name for name in several if _ALIAS not in found[name]]
        if len(several) > 1 and resembling:
            raise InputError(where=where, expected=f"one name for {record!r}", found=listed(several), remedy=remedy)
    mapping |= {name: record for record, several in users.items() for name in several}
    missing = tuple(name for name in names if name not in mapping)
    return Matched({name: mapping[name] for name in names if name in mapping}, missing, _notes(mapping))


def same_but_version(one: str, other: str) -> bool:
    """Whether two names resemble one another once versions are left out, of accessions or of what may be one: perhaps
    one was meant for the other."""
    ours, theirs = ({_VERSION.sub("", key) for key, _ in _keys(name)} for name in (one, other))
    return not ours.isdisjoint(theirs)


def listed(names: Iterable[str]) -> str:
    """The first few, for people."""
    first = list(islice(names, SHOWN + 1))
    return ", ".join(map(repr, first[:SHOWN])) + (" …" if len(first) > SHOWN else "")


def _spellings(names: dict[str, None], alias: Aliases) -> Iterable[tuple[str, str, int]]:
    """Each wanted name, one of its spellings, and how that one is known."""
    yield from ((name, name, _EXACT) for name in names)
    for one, other in alias:
        if one != other:
            yield from ((name, twin, _ALIAS) for name, twin in ((one, other), (other, one)) if name in names)


def _keys(name: str) -> set[tuple[str, str | None]]:
    """What names of one record have in common, each with the version where there is one."""
    return {_key(part) for part in _unpacked(name)}


def _key(part: str) -> tuple[str, str | None]:
    if accession := _ACCESSION.fullmatch(part):
        return accession[1], accession[2]
    bare = _CHROMOSOME.sub("", part, count=1) if part[:3].lower() == "chr" else part
    return ("MT" if bare in _MITOCHONDRION else bare), None


def _unpacked(name: str) -> list[str]:
    """The identifiers between the bars of NCBI, the tags before them left out; the name itself without bars."""
    parts = name.split("|")
    if len(parts) == 1 or parts[0] not in _TAGS:
        return [name] if name else []
    found, tag = [], ""
    for i, part in enumerate(parts):
        if part in _TAGS and (i == 0 or parts[i - 1] not in _TAGS):
            tag = part
        elif tag == "gi":
            found.append(f"gi|{part}")  # a bare number would be taken for a chromosome
        elif part and not (tag == "gnl" and parts[i - 1] == tag):  # gnl names a data base first
            found.append(part)
    return found


def _notes(mapping: dict[str, str]) -> tuple[str, ...]:
    changed = [f"{name} is {record}" for name, record in mapping.items() if name != record]
    if not changed:
        return ()
    more = f" … ({len(changed):,} in all)" if len(changed) > SHOWN else ""
    return (f"note: names matched: {', '.join(changed[:SHOWN])}{more}",)
