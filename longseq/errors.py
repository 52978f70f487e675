"""What can go wrong, said in one line: where, what was expected, what was found, and the way out.

    toy.fa.gz:12 (chrM): expected a DNA letter, found '!' at base 431; --on-unknown N reads it as N

The library raises; only `longseq.cli` turns a kind of error into an exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

LOOKED_AT = 10_000
"""Names among which one that may have been meant is looked for: each takes some microseconds."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves a cursor, ends a line, turns the order in which letters are shown, or is half of a surrogate pair."""
_LONGEST = 1500
"""Characters of each part of an error; names in files may have a million."""


class LongseqError(Exception):
    """Base of every error that is ours.

    Either `problem` says it all, or `expected` and `found` do; `where` is a file, a line, a record or a dotted
    configuration key; `remedy` is the way out.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        where: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        remedy: str | None = None,
    ):
        self.problem, self.where, self.expected, self.found, self.remedy = problem, where, expected, found, remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [_short(self.problem)] if self.problem else []
        if self.expected is not None:
            parts.append(f"expected {_short(self.expected)}, found {_short(str(self.found))}")
        text = ", ".join(parts)
        if self.where:
            text = f"{_short(self.where)}: {text}"
        if self.remedy:
            text = f"{text}; {_short(self.remedy)}"
        return printable(text.replace("\n", "\\n"))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[LongseqError], fields: dict[str, Any]) -> LongseqError:
    return kind(**{name: fields[name] for name in ("problem", "where", "expected", "found", "remedy")})


class InputError(LongseqError):
    """The data is not what its reader can take."""


class AlphabetError(InputError):
    """A letter outside the alphabet, or a checkpoint of another alphabet."""


class CheckpointError(InputError):
    """A checkpoint directory that is missing, incomplete, or of another kind."""


class StateError(InputError):
    """A state or snapshot that is damaged, or belongs to another model."""


class UsageError(LongseqError):
    """The request itself is wrong: a value, a combination, a missing extra."""


class ConfigError(UsageError):
    """A configuration value breaks its rule; `where` is the dotted key."""


class OutputExistsError(UsageError):
    """The output stands already and `--force` was not given."""


class StoppedError(LongseqError):
    """A signal asked for a stop; what was done is saved and can be resumed."""


def printable(text: str) -> str:
    """The text as a terminal, or a file of UTF-8, may be given it: control characters and halves of surrogate pairs
    spelled, `\\x1b`, `\\u202e`, but for tabs and line feeds."""
    return text if text.isprintable() else _CONTROLS.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 100]} … {text[-90:]}"


def alike(name: str, known: Iterable[str], *, most: int = 1, least: float = 0.6) -> list[str]:
    """Those of `known` that are spelled like `name`, case aside: what it begins first, then the nearest; `least`: how
    alike, from 0 to 1."""
    from difflib import get_close_matches

    spelled: dict[str, str] = {}
    for one in islice(known, LOOKED_AT):
        spelled.setdefault(one.casefold(), one)
    near = get_close_matches(name.casefold(), spelled, most, least)
    begun = [one for one in spelled if one.startswith(name.casefold()) and 2 * len(name) >= len(one)]
    return [spelled[one] for one in dict.fromkeys(begun + near)][:most]


def meant(name: str, known: Iterable[str]) -> str | None:
    """`did you mean train?`, of a name that is not known; None where none comes near."""
    near = alike(name, known)
    return f"did you mean {near[0]}?" if near else None


def place(source: str, line: int | None = None, record: str | None = None) -> str:
    """`toy.fa.gz:12 (chrM)` from its parts; `line` is 1-based, a record without a name is left out."""
    text = "<stdin>" if source == "-" else source
    if line is not None:
        text += f":{line}"
    if record:
        text += f" ({record})"
    return text
