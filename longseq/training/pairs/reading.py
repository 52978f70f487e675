"""Pairs from tables of any kind, as they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from longseq.errors import InputError, place
from longseq.formats.rows import as_text
from longseq.formats.tabular import open_rows
from longseq.training.config import PairConfig


class Pair(NamedTuple):
    source: str
    target: str
    group: str
    """What is held out together."""
    file: str
    line: int
    """1-based; the row where there are no lines."""


def read_pairs(names: Sequence[str], config: PairConfig) -> Iterator[Pair]:
    """The pairs of these tables, in order, without white space around them.

    Raises:
        InputError: a table that cannot be read or ends early, without such columns, or with an empty source or target.
    """
    wanted = [column for column in (config.source, config.target, config.group) if column]
    for name in names:
        rows = open_rows(name)
        try:
            for column in wanted:
                if column not in rows.columns:
                    raise rows.without(column, "pairs.source, pairs.target and pairs.group name columns")
            for row in rows.walk(wanted):
                if row.fault is not None:
                    raise row.fault
                where = place(name, row.line)
                source, target, *group = (_text(row.cells, column, where) for column in wanted)
                yield Pair(source, target, group[0] if group else source, name, row.line)
        finally:
            rows.stream.close()
        if rows.stream.truncated:
            raise InputError("ends early", where=name, remedy="copy or download the file again")


def _text(cells: Mapping[str, Any], column: str, where: str) -> str:
    text = as_text(cells.get(column)).strip()
    if not text:
        raise InputError(where=where, expected=f"text in {column!r}", found="nothing", remedy="leave the row out")
    return text
