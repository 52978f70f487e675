"""Configuration: frozen dataclasses, a TOML file, then `key=value`; wrong keys and values are errors that help.

A configuration is a keyword-only frozen dataclass whose fields may be other such dataclasses. Each field is followed
by a docstring with its unit; values are checked in `__post_init__` through `require`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from longseq.errors import ConfigError, meant

T = TypeVar("T")

LONGEST_CHUNK = 1 << 20
"""Tokens a recurrent call at most, wherever a chunk can be chosen: beyond it memory grows and nothing gets faster."""


LONGEST = 1 << 20
"""Bytes of a TOML file."""
DEEPEST = 32
"""Parts of a dotted key: what reads TOML takes time by their square."""
SHOWN = 200
"""Characters of what was found that an error shows."""
_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'""")
_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{DEEPEST}}}")


def require(holds: bool, key: str, value: object, rule: str) -> None:
    """Raise `ConfigError` with the dotted key, the value and the rule unless `holds`."""
    if not holds:
        raise ConfigError(where=key, expected=rule, found=_shown(value))


def require_one(key: str, value: object, choices: Iterable[str], rule: str = "one of ") -> None:
    """Raise `ConfigError`, with the one that may have been meant, unless `value` is one of the choices."""
    choices = tuple(choices)
    if value not in choices:
        raise ConfigError(
            where=key, expected=rule + ", ".join(choices), found=_shown(value), remedy=meant(_name(value), choices)
        )


def load(kind: type[T], file: str | Path | None = None, assignments: Iterable[str] = ()) -> T:
    """Defaults, then the TOML file, then each `dotted.key=value` in order.

    Raises:
        ConfigError: a file that cannot be read, an unknown key (the known ones are listed), a value of another type,
            or one that breaks its rule.
    """
    tree: dict[str, Any] = {}
    if file is not None:
        try:
            tree = read_toml(file)
        except OSError as error:
            raise ConfigError(error.strerror or "cannot be read", where=str(file)) from None
        except ValueError as error:
            raise ConfigError(where=str(file), expected="TOML", found=str(error)) from None
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(where=f"--set {text[:SHOWN]}", expected="KEY=VALUE", found=_shown(text))
        _assign(tree, key.strip().split("."), _parse(value.strip()))
    return from_mapping(kind, tree)


def read_toml(file: str | Path) -> dict[str, Any]:
    """What a TOML file in UTF-8 says.

    Raises:
        OSError: it cannot be read.
        ValueError: it is none, or none of a size and depth that settings have.
    """
    with open(file, "rb") as stream:
        data = stream.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ValueError(f"more than {LONGEST:,} bytes")
    return _toml(data.decode())


def _toml(text: str) -> dict[str, Any]:
    if _DOTTED.search(_QUOTED.sub("q", text)):
        raise ValueError(f"a key of {DEEPEST} parts or more")
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def from_mapping(kind: type[T], mapping: Mapping[str, Any], prefix: str = "") -> T:
    """Build a configuration dataclass from nested mappings; `prefix` is the dotted path so far, with its last dot."""
    if not isinstance(mapping, Mapping):
        raise ConfigError(where=prefix.rstrip(".") or None, expected="a table", found=_shown(mapping))
    hints = typing.get_type_hints(kind)
    names = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    values = {}
    for name, value in mapping.items():
        key = f"{prefix}{name[:80]}"
        if name not in names:
            deeper = [f"{prefix}{known}" for known in _keys(kind) if known.endswith(f".{name}")]
            near = f"did you mean {' or '.join(deeper)}?" if deeper else meant(key, (f"{prefix}{one}" for one in names))
            listed = "known: " + ", ".join(names)
            raise ConfigError("unknown key", where=key, remedy=f"{near} {listed}" if near else listed)
        values[name] = _convert(hints[name], value, key)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name not in values and field.default is field.default_factory:  # both missing
            raise ConfigError(where=f"{prefix}{field.name}", expected="a value", found="none")
    return kind(**values)


def _keys(kind: Any) -> list[str]:
    """Dotted keys of a dataclass, those of the dataclasses in it included."""
    keys = []
    for name, hint in typing.get_type_hints(kind).items():
        keys += [f"{name}.{inner}" for inner in _keys(hint)] if dataclasses.is_dataclass(hint) else [name]
    return keys


def to_mapping(config: object) -> dict[str, Any]:
    """Nested plain dictionaries: what `from_mapping` takes and JSON can carry."""
    return dataclasses.asdict(config)  # type: ignore[call-overload]


def to_toml(config: object) -> str:
    """The configuration as a TOML file that `load` reads back; what is None is left out."""
    return "\n".join(_toml_lines(to_mapping(config), "")) + "\n"


def _toml_lines(tree: Mapping[str, Any], path: str) -> list[str]:
    lines = [f"{name} = {_toml_value(v)}" for name, v in tree.items() if v is not None and not isinstance(v, Mapping)]
    for name, value in tree.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{path}{name}]", *_toml_lines(value, f"{path}{name}.")]
    return lines


def _toml_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    # A JSON string is a TOML basic string, DEL aside, which JSON leaves as it is.
    return (
        json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        if not isinstance(value, float)
        else repr(value)
    )


def _assign(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise ConfigError(where=".".join(path)[:SHOWN], expected="a table", found=_shown(tree))
    tree[path[-1]] = value


def _parse(text: str) -> Any:
    try:
        found = _toml(f"value = {text}")
    except ValueError:
        return text  # a bare word is a string: --set model.feature_map=relu
    return found["value"] if len(found) == 1 else text  # more keys: a second line is part of the value


def _convert(hint: Any, value: Any, key: str) -> Any:
    """`value` as a field of type `hint` holds it: a dataclass, T | None, Literal, tuple[T, ...], or a plain type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return from_mapping(hint, value, f"{key}.")  # type: ignore[arg-type]
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        return _convert(next(a for a in arguments if a is not type(None)), value, key)
    if origin is typing.Literal:
        if not any(value == a and type(value) is type(a) for a in arguments):  # True is no 1
            expected = "one of " + ", ".join(map(repr, arguments))
            near = meant(_name(value), map(str, arguments))
            raise ConfigError(where=key, expected=expected, found=_shown(value), remedy=near)
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(where=key, expected='a list, such as ["a", "b"]', found=_shown(value))
        return tuple(_convert(arguments[0], item, f"{key}[{i}]") for i, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(where=key, expected="a table", found=_shown(value))
        return {name: _convert(arguments[1], one, f"{key}.{name[:80]}") for name, one in value.items()}
    if type(value) is int and hint in (int, float) and not -(1 << 63) <= value < 1 << 63:
        raise ConfigError(where=key, expected=f"{_NAMES[hint]} of at most 64 bits", found=_shown(value))
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise ConfigError(where=key, expected=_NAMES.get(hint, str(hint)), found=_shown(value))
    if hint is float and not math.isfinite(value):
        raise ConfigError(where=key, expected="a finite number", found=_shown(value))
    if hint is str:
        _require_text(value, key)
    return value


def _require_text(value: str, key: str) -> None:
    """Raise where half of a surrogate pair is in it, but for those that stand for bytes of a file's name."""
    try:
        value.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise ConfigError(where=key, expected="text", found=_shown(value)) from None


def _shown(value: object) -> str:
    """What was found, as far as a line can tell it."""
    try:
        text = repr(value)
    except ValueError:  # of a number with thousands of figures
        return "a number too long to be shown"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"


def _name(value: object) -> str:
    return value if isinstance(value, str) else _shown(value)


_NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
