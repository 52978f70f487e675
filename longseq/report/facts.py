"""Facts by name as plain text: a line each, what is nested set in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longseq.errors import printable


def facts_text(facts: Mapping[str, object]) -> str:
    """What it is in a line, lines of `name  value`, and what can be done next, ended by a line feed; what is None or
    empty is left out."""
    packed = facts.get("container") not in (None, "plain")
    head = printable(f"{facts.get('path')}: {facts['is']}") + (f", packed by {facts['container']}" if packed else "")
    apart = ("what", "is", "path", "container", "next")
    rest = {name.replace("_", " "): value for name, value in facts.items() if name not in apart}
    lines = [head, *_lines(rest, "  ")]
    if facts.get("next"):
        lines.append(printable(f"next: {facts['next']}"))
    return "\n".join(lines) + "\n"


def _lines(facts: Mapping[str, object], margin: str) -> Iterator[str]:
    shown = {name: value for name, value in facts.items() if value is not None and value != {} and value != []}
    width = max((len(name) for name in shown), default=0) + 2
    for name, value in shown.items():
        if isinstance(value, Mapping):
            yield f"{margin}{name}"
            yield from _lines(value, margin + "  ")
        elif isinstance(value, str) and "\n" in value:
            yield f"{margin}{name}"
            yield from (f"{margin}  {line}".rstrip() for line in value.rstrip("\n").split("\n"))
        elif isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
            yield f"{margin}{name}"
            yield from (f"{margin}  {_row(item)}" for item in value)
        else:
            yield f"{margin}{printable(name):<{width}}{_plain(value)}"


def _row(item: Mapping[str, object]) -> str:
    shown = {name: value for name, value in item.items() if value is not None and value not in ({}, [], "")}
    return ", ".join(f"{name} {_plain(value)}" for name, value in shown.items())


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return printable(str(value))
