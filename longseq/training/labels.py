"""Labels of the records of a store, from a table."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from longseq.errors import ConfigError, InputError, meant
from longseq.formats.aliases import read_aliases
from longseq.formats.features import holds_intervals
from longseq.formats.names import Matched, match
from longseq.formats.rows import ID, TITLE
from longseq.formats.table import Header, Row, Table, read_header, read_table
from longseq.log import count
from longseq.training.config import LabelConfig
from longseq.training.grouping import Groups, by_name
from longseq.training.holding_out import near, some

NONE = ("", "NA")
"""Cells that hold no label."""


class Labels(NamedTuple):
    """N records that have a label, in order of the store."""

    record: np.ndarray
    """(N,) int64, row of the record in the store."""
    groups: Groups
    """Of the N records."""
    names: tuple[str, ...]
    """C classes, in order of their names; of a number its column."""
    targets: np.ndarray
    """(N,) int64 class; (N, C) float32 of 0 and 1 for several; (N, 1) float64 numbers."""
    notes: tuple[str, ...]
    """What the reader should know."""


def read_labels(
    ids: Sequence[str],
    lengths: np.ndarray,
    task: str,
    config: LabelConfig,
    groups: Groups | None = None,
    *,
    own: bool = False,
    text: str | None = None,
) -> Labels:
    """Labels of the records named `ids` (R) with `lengths` (R,) letters; records of one id have the same one.

    Args:
        ids: names of the records, or of their files where `config.by` says so.
        groups: of the records where the table has no column of groups; None: by id.
        own: the table is an input, so its rows are the records.
        text: the column that was asked for with their texts.

    Raises:
        ConfigError: no such column; a file of intervals.
        InputError: a table that cannot be read; an id that is labelled twice, in two ways; ids that no record has, or
            records without label, where the configuration forbids them; a label that is no number; nothing to tell
            apart.
    """
    assert config.file is not None
    if holds_intervals(config.file):
        raise ConfigError(
            where="task",
            expected=f"'annotate', to learn from the intervals of {config.file}",
            found=repr(task),
            remedy="or give a table of ids and labels as labels.file",
        )
    header = read_header(config.file, text)
    named = config.id or (None if own else header.columns[0])
    column, group = _columns(config, header, named)
    table = read_table(config.file, {name for name in (named, column, group) if name is not None})
    if config.by == "file":
        ids = [os.path.abspath(name) for name in ids]
    rows, notes = _rows(table, named, column, config.by), list[str]()
    if config.by == "record" and not own:
        rows, notes = _renamed(table, rows, column, ids, config)
    notes.append(_unknown(table, rows, ids, config))
    labelled = [(i, rows[name]) for i, name in enumerate(ids) if name in rows and lengths[i] > 0]
    kept, found = [i for i, _ in labelled], [row for _, row in labelled]
    if not kept:
        raise InputError(where=table.source, expected="labels of the records that were read", found="none of any")
    notes.append(_unlabelled(table, ids, rows, len(kept), config))
    names, targets, said = _targets(table, found, column, task)
    notes.append(said)
    if group is not None:
        told = by_name([row.cells[group] for row in found])
    else:
        told = groups or by_name(ids)
        told = Groups(told.of[kept], told.names)
    return Labels(
        record=np.array(kept, np.int64),
        groups=told,
        names=names,
        targets=targets,
        notes=tuple(note for note in notes if note),
    )


def _columns(config: LabelConfig, header: Header, named: str | None) -> tuple[str, str | None]:
    """The columns of label and group; `named` is the one with ids, None: rows name themselves."""
    columns = header.columns
    for key in ("id", "column", "group"):
        name = getattr(config, key)
        if name is not None and name not in columns:
            expected = "a column of " + ", ".join(columns)
            raise ConfigError(where=f"labels.{key}", expected=expected, found=repr(name), remedy=meant(name, columns))
    group = config.group or ("group" if "group" in columns else None)
    passed = (ID, TITLE, header.text) if named is None else (named,)
    others = [name for name in columns if name not in (*passed, group)]
    if config.column is not None:
        return config.column, group
    if "label" in others:
        return "label", group
    if len(others) != 1:
        found = ", ".join(others) or "none beside the ids"
        raise ConfigError(
            where="labels.column", expected=f"the column of {config.file} to learn from", found=found, remedy="name it"
        )
    return others[0], group


def _rows(table: Table, named: str | None, column: str, by: str) -> dict[str, Row]:
    """The labelled rows by id."""
    rows: dict[str, Row] = {}
    for row in table.rows:
        name, label = row.id if named is None else row.cells[named], row.cells[column]
        if not name:
            raise InputError(where=table.where(row), expected=f"an id in column {named}", found="none")
        if label in NONE:
            continue
        if by == "file":
            name = beside(row.source, name)
        _add(table, rows, name, row, column)
    return rows


def _add(table: Table, rows: dict[str, Row], name: str, row: Row, column: str) -> None:
    other = rows.setdefault(name, row)
    if other.cells[column] != row.cells[column]:
        raise InputError(
            where=table.where(row),
            expected=f"one label of {name}, {other.cells[column]!r} as in line {other.line}",
            found=repr(row.cells[column]),
        )


def _renamed(
    table: Table, rows: dict[str, Row], column: str, ids: Sequence[str], config: LabelConfig
) -> tuple[dict[str, Row], list[str]]:
    """The rows by the names that the records have, and what to say of that."""
    matched = match_labels(rows, ids, config)
    renamed: dict[str, Row] = {}
    for name, row in rows.items():
        _add(table, renamed, matched.mapping.get(name, name), row, column)
    return renamed, list(matched.notes)


def match_labels(names: Iterable[str], ids: Sequence[str], config: LabelConfig) -> Matched:
    """Which records the names in the file of labels are.

    Raises:
        InputError: more than one, or a file of aliases that cannot be read.
    """
    alias = () if config.alias is None else read_aliases(config.alias)
    return match(names, ids, alias, where=config.file, remedy="labels.alias=FILE says which, two names a line")


def beside(table: str, name: str) -> str:
    """The whole path of a file that a table names, relative to the table."""
    return os.path.abspath(os.path.join(os.path.dirname(table), name))


def _unknown(table: Table, rows: dict[str, Row], ids: Sequence[str], config: LabelConfig) -> str:
    known = {name for name in ids if name in rows}
    unknown = sorted(rows.keys() - known, key=lambda name: rows[name].line)
    if not unknown:
        return ""
    if config.unknown == "error":
        skip = "labels.unknown=skip passes over them"
        others = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise InputError(
            where=table.where(rows[unknown[0]]),
            expected=f"ids of records ({some(ids, 5)})",
            found=f"{unknown[0]!r}{others} that no input holds",
            remedy=" ".join(filter(None, (_shorter(unknown[0], ids) or near(unknown[0], ids), skip))),
        )
    return f"note: {table.source} labels {count(len(unknown), 'record')} that no input holds ({unknown[0]} first)"


def _shorter(name: str, ids: Sequence[str]) -> str | None:
    """What to do about a name with more than an id, as whole headers of FASTA are."""
    first, _, more = name.partition(" ")
    return f"an id ends at the first blank: write {first!r};" if more and first in ids else None


def _unlabelled(table: Table, ids: Sequence[str], rows: dict[str, Row], kept: int, config: LabelConfig) -> str:
    missing = [name for name in ids if name not in rows]
    if missing and config.unlabelled == "error":
        raise InputError(
            where=table.source,
            expected="a label of every record",
            found=f"none of {missing[0]}" + (f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""),
            remedy="labels.unlabelled=skip passes over them",
        )
    left = len(ids) - kept
    return f"warning: {left:,} of {len(ids):,} records have no label or no letter, and are left out" if left else ""


def _targets(table: Table, rows: list[Row], column: str, task: str) -> tuple[tuple[str, ...], np.ndarray, str]:
    """Names, targets, and what to say of them."""
    cells = [row.cells[column] for row in rows]
    if task == "regress":
        numbers = np.array([_number(table, row, column) for row in rows])[:, None]
        if np.ptp(numbers) == 0:
            raise InputError(where=table.source, expected=f"numbers in {column} that differ", found=f"{cells[0]} only")
        return (column,), numbers, ""
    if task == "multilabel":
        sets = [{part.strip() for part in cell.split(";")} - {*NONE} for cell in cells]
        names = tuple(sorted(set().union(*sets)))
        if not names:
            raise InputError(where=table.source, expected=f"labels in {column}, separated by ';'", found="none")
        return names, np.array([[name in found for name in names] for found in sets], np.float32), ""
    names = tuple(sorted(set(cells)))
    if len(names) == 1:
        raise InputError(
            where=table.source, expected=f"two classes or more in {column}", found=f"{names[0]!r} of every record"
        )
    if 2 < len(names) == len({row.line for row in rows}):
        raise InputError(
            where=table.source,
            expected=f"classes of several records in {column}",
            found="another one of each record",
            remedy="task=regress for numbers, or labels.column for another column",
        )
    place = {name: i for i, name in enumerate(names)}
    several = sum(";" in name for name in names)
    note = f"note: {count(several, 'label')} with ';' read as one class each; task=multilabel separates them"
    return names, np.array([place[cell] for cell in cells], np.int64), note if several else ""


def _number(table: Table, row: Row, column: str) -> float:
    cell = row.cells[column]
    try:
        value = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(where=table.where(row), expected=f"a number in {column}", found=repr(cell))
    return value
