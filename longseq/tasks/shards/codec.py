"""Results as JSON and arrays, and back, at full precision: dataclasses, named tuples, tuples, mappings, scalars.

What a value is says its type, not its bytes: a coder is built once for each class, from the hints of its fields. JSON
holds the values in the order of the fields; arrays lie behind it, those of one kind in a row as one block.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from longseq.errors import InputError

_dtype, _PLAIN = cache(np.dtype), json.JSONDecoder().decode
ALIGN = 8
"""Bytes at whose multiples blocks of arrays begin."""
_SCALARS = (str, int, float, bool, type(None))

Encode = Callable[[Any, list[np.ndarray]], Any]
Decode = Callable[[Any, Iterator[np.ndarray]], Any]


class Coder(NamedTuple):
    """How values of one type are written and read."""

    encode: Encode | None
    """None: JSON takes them as they are."""
    decode: Decode | None
    described: str
    """The type, by its fields: who reads a value has to know the same one."""


def packed(value: Any) -> tuple[bytes, bytes]:
    """JSON of a dataclass, and the bytes of its arrays.

    Raises:
        TypeError: a value that is not of the type that its field says, or of one that cannot be written.
    """
    arrays: list[np.ndarray] = []
    encode = coder(type(value)).encode  # type: ignore[arg-type]
    assert encode is not None
    plain = encode(value, arrays)
    runs: list[list[Any]] = []
    for array in arrays:
        kind = [array.dtype.str, list(array.shape)]
        if runs and runs[-1][:2] == kind:
            runs[-1][2] += 1
        else:
            runs.append([*kind, 1])
    blocks, at = [], 0
    for _, _, count in runs:
        block = b"".join([np.ascontiguousarray(array).tobytes() for array in arrays[at : at + count]])
        blocks.append(block + b"\0" * (-len(block) % ALIGN))
        at += count
    text = json.dumps([plain, runs], default=_scalar, separators=(",", ":"))
    return text.encode(), b"".join(blocks)


def unpacked(kind: type, text: bytes, data: bytes) -> Any:
    """The value of a class whose `packed` form this is; its arrays cannot be written to."""
    plain, runs = _PLAIN(text.decode())
    decode = coder(kind).decode
    assert decode is not None
    return decode(plain, iter(_arrays(runs, data)))


def _arrays(runs: list[list[Any]], data: bytes) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    at = 0
    for name, shape, count in runs:
        dtype, size = _dtype(name), count
        for length in shape:
            size *= length
        found.extend(np.frombuffer(data, dtype, size, at).reshape(count, *shape))
        at += size * dtype.itemsize
        at += -at % ALIGN
    return found


def _scalar(value: Any) -> Any:
    """Of NumPy's, those that are the same as plain ones."""
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be kept")


@cache
def coder(hint: Any) -> Coder:
    """That of a type, as a field's hint names it.

    Raises:
        TypeError: values of it cannot be written.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS or hint is Any or origin is Literal:
        return Coder(None, None, getattr(hint, "__name__", "scalar"))
    if hint is np.ndarray:
        return Coder(_put, _take, "array")
    if origin in (types.UnionType, typing.Union):
        return _either(arguments)
    if origin in (tuple, Sequence, typing.get_origin(Sequence[int]), list):
        return _many(origin, arguments)
    if origin in (dict, typing.get_origin(Mapping[str, int])):
        return _mapping(arguments[1])
    if origin is typing.get_origin(Callable[[], int]):
        return Coder(_nothing, _nothing, "nothing")
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        return _fields(hint)
    raise TypeError(f"values of {hint} cannot be kept")


def _put(value: np.ndarray, arrays: list[np.ndarray]) -> int:
    if value.dtype == object:
        raise TypeError("arrays of objects cannot be kept")
    arrays.append(value)
    return 0


def _take(_: int, arrays: Iterator[np.ndarray]) -> np.ndarray:
    return next(arrays)


def _nothing(value: Any, _: Any) -> None:
    """What is called later cannot be written: it must be taken out before."""
    if value is not None:
        raise TypeError("a function cannot be kept")


def _either(arguments: tuple[Any, ...]) -> Coder:
    coders = [coder(one) for one in arguments if one is not type(None)]
    if all(one.encode is None for one in coders):
        return Coder(None, None, "scalar")
    if len(coders) > 1:
        raise TypeError(f"values of {arguments} cannot be told apart")
    return coders[0]  # None stays None wherever it stands


def _many(origin: Any, arguments: tuple[Any, ...]) -> Coder:
    make = list if origin is list else tuple
    if make is tuple and len(arguments) > 1 and arguments[-1] is not Ellipsis:
        return _each([coder(one) for one in arguments])
    inner = coder(arguments[0])
    encode, described = inner.encode, f"{inner.described}…"
    if encode is None:
        return Coder(lambda value, _: list(value), lambda value, _: make(value), described)
    return Coder(
        lambda value, arrays: [_encoded(inner, one, arrays) for one in value],
        lambda value, arrays: make([_decoded(inner, one, arrays) for one in value]),
        described,
    )


def _each(coders: list[Coder]) -> Coder:
    """Tuples of one length."""
    return Coder(
        lambda value, arrays: [_encoded(c, one, arrays) for c, one in zip(coders, value, strict=True)],
        lambda value, arrays: tuple([_decoded(c, one, arrays) for c, one in zip(coders, value, strict=True)]),
        ", ".join(one.described for one in coders),
    )


def _encoded(coder: Coder, value: Any, arrays: list[np.ndarray]) -> Any:
    return value if value is None or coder.encode is None else coder.encode(value, arrays)


def _decoded(coder: Coder, value: Any, arrays: Iterator[np.ndarray]) -> Any:
    return value if value is None or coder.decode is None else coder.decode(value, arrays)


def _mapping(hint: Any) -> Coder:
    inner = coder(hint)
    if inner.encode is None:
        return Coder(lambda value, _: dict(value), None, f"{{{inner.described}}}")
    return Coder(
        lambda value, arrays: {key: _encoded(inner, one, arrays) for key, one in value.items()},
        lambda value, arrays: {key: _decoded(inner, one, arrays) for key, one in value.items()},
        f"{{{inner.described}}}",
    )


def _fields(kind: type) -> Coder:
    hints = typing.get_type_hints(kind)
    plain = dataclasses.is_dataclass(kind)
    names = [field.name for field in dataclasses.fields(kind)] if plain else list(kind._fields)  # type: ignore[attr-defined]
    coders = [coder(hints[name]) for name in names]
    described = f"{kind.__name__}({', '.join(f'{n} {c.described}' for n, c in zip(names, coders, strict=True))})"
    encoders = [(i, c.encode) for i, c in enumerate(coders) if c.encode is not None]
    decoders = [(i, c.decode) for i, c in enumerate(coders) if c.decode is not None]

    nothing = _nothing_but_defaults(kind) if plain else None
    if plain and all(c.decode is _take for c in coders):
        return Coder(_whole(kind, names), _of_arrays(kind, names), described)

    def encode(value: Any, arrays: list[np.ndarray]) -> Any:
        if type(value) is not kind:
            raise TypeError(f"a {type(value).__name__} stands where a {kind.__name__} is to be kept")
        values = [getattr(value, name) for name in names]
        if nothing is not None and all(map(_is_default, values, nothing[1])):
            return 0
        for i, one in encoders:
            if values[i] is not None:
                values[i] = one(values[i], arrays)
        return values

    def decode(values: Any, arrays: Iterator[np.ndarray]) -> Any:
        if values == 0:
            assert nothing is not None
            return nothing[0]
        for i, one in decoders:
            if (plain_value := values[i]) is not None:
                values[i] = one(plain_value, arrays)
        if not plain:
            return kind(*values)
        made: Any = object.__new__(kind)  # its values were checked when it was made first
        made.__dict__.update(zip(names, values, strict=False))
        return made

    return Coder(encode, decode, described)


def _nothing_but_defaults(kind: type) -> tuple[Any, list[Any]] | None:
    """The value of a class whose fields are all as they are when nothing is said, and these; None: some must be said.

    Most records have none of what can be found in one, so that it is worth to keep it in a digit and to share it.
    """
    fields = dataclasses.fields(kind)
    if any(f.default is f.default_factory for f in fields):  # both missing
        return None
    made = kind()
    return made, [getattr(made, field.name) for field in fields]


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) in (tuple, dict) and not value and not default)


def _whole(kind: type, names: list[str]) -> Encode:
    def encode(value: Any, arrays: list[np.ndarray]) -> list[Any]:
        if type(value) is not kind:
            raise TypeError(f"a {type(value).__name__} stands where a {kind.__name__} is to be kept")
        for name in names:
            _put(getattr(value, name), arrays)
        return []

    return encode


def _of_arrays(kind: type, names: list[str]) -> Decode:
    """Of a class that has nothing but arrays: there may be twenty of them, in a record of two hundred letters."""

    def decode(_: Any, arrays: Iterator[np.ndarray]) -> Any:
        made: Any = object.__new__(kind)
        made.__dict__.update(zip(names, arrays, strict=False))  # names first: none too many is taken
        return made

    return decode


def described(kinds: Sequence[type]) -> list[str]:
    """The classes, by their fields."""
    return [coder(kind).described for kind in kinds]


def require_known(kinds: Sequence[type], written: Sequence[str], where: str) -> None:
    """Raise where what was written is of other classes than these."""
    if described(kinds) != list(written):
        raise InputError(
            where=where,
            expected="results as this version writes them",
            found="those of another one",
            remedy="run the shard again: --force",
        )
