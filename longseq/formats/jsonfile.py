"""JSON: full precision, keys in the order given, NaN and infinities as null."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

from longseq.formats.atomic import write_aside

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
