"""JSON: read within bounds, what is ours as strictly as it is written; full precision, keys in order, NaN as null."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from itertools import chain
from pathlib import Path
from typing import Any

from longseq.formats.atomic import write_aside

DEEPEST = 100
"""Lists and objects inside one another; whoever walks what was read takes stack for each."""


def parsed(text: str | bytes) -> Any:
    """What a text of JSON from anywhere says.

    Raises:
        ValueError: it is none, or deeper than `DEEPEST`.
    """
    return _bounded(text)


def _bounded(text: str | bytes, **reading: Any) -> Any:
    try:
        document = json.loads(text, **reading)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if isinstance(text, str):
        opened = text.count("[") + text.count("{")
    else:
        opened = text.count(b"[") + text.count(b"{")
    if opened > DEEPEST and _deeper(document, DEEPEST):
        raise ValueError(_TOO_DEEP)
    return document


_TOO_DEEP = f"lists and objects more than {DEEPEST} deep"


def _deeper(document: Any, depth: int) -> bool:
    level = [document] if isinstance(document, list | dict) else []  # lists and objects that lie equally deep
    for _ in range(depth):
        parts = chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level)
        level = [part for part in parts if isinstance(part, list | dict)]
    return bool(level)


LONGEST = 1 << 26
"""Bytes of a document that is read whole: those of the largest tokenizers. In memory it takes ten times that."""


def read_json(path: str | Path, *, most: int = LONGEST) -> Any:
    """What a file of JSON in UTF-8 says.

    Raises:
        OSError: it cannot be read.
        ValueError: it is longer than `most` bytes, or `from_json` raises it.
    """
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"more than {most:,} bytes")
    return from_json(data.decode())


def from_json(text: str) -> Any:
    """What a text of JSON says that a program like this one wrote.

    Raises:
        ValueError: it is none, or deeper than `DEEPEST`; names a key twice in one object, of which another reader might
            take the other one; or has NaN, an infinity or a number beyond all floats, which JSON has not.
    """
    return _bounded(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_once)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number of JSON")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:80]!r} is there twice")
    return found


_UNSHOWN = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters that JSON takes as they are, and a terminal obeys."""


def to_json(document: Any, *, indent: int | None = 2) -> str:
    """Text of a document of mappings, sequences, dataclasses, NumPy scalars and arrays, without a line feed at the end.

    Raises:
        TypeError: a value that JSON cannot carry.
    """
    return shown(json.dumps(_plain(document), indent=indent, ensure_ascii=False, allow_nan=False))


def shown(text: str) -> str:
    """JSON with escapes for what a terminal would obey: it is read back as it was."""
    return _UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def write_json(path: str | Path, document: Any, *, force: bool = False, given: bool = True) -> None:
    """Write one JSON document, whole or not at all; `given` as `write_aside` has it.

    Raises:
        OutputExistsError: `path` stands already and `force` is not set.
    """
    text = to_json(document)
    with write_aside(path, force=force, given=given) as aside:
        # What is no text, as in the name of a file, becomes an escape of JSON (`\udcff`) and is read back as it was.
        aside.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return _plain(value.tolist())
    raise TypeError(f"JSON cannot carry a {type(value).__name__}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a JSON key must be text, found {key!r}")
    return key
