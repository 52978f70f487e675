"""Groups of records that a split never divides: those of an id, of a file, or of a group in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from longseq.errors import ConfigError, InputError, meant
from longseq.formats.table import Table, read_table
from longseq.training.columns import Names
from longseq.training.config import DataConfig
from longseq.training.holding_out import near
from longseq.training.store import Store, fingerprint

if TYPE_CHECKING:
    from longseq.training.documents import Documents


class Groups(NamedTuple):
    """G groups of R records."""

    of: np.ndarray
    """(R,) int64, place in `names` of each record's group."""
    names: Sequence[str]
    """(G) in order of their first record."""


class _First(Sequence[str]):
    """(G) names of groups, where each record has the name of its group."""

    def __init__(self, names: Sequence[str], of: np.ndarray):
        self._names = names
        self._first = np.flatnonzero(np.diff(np.maximum.accumulate(of), prepend=-1))

    def __len__(self) -> int:
        return len(self._first)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self._names[i] for i in self._first[at].tolist()]
        return self._names[int(self._first[at])]

    def __iter__(self) -> Iterator[str]:
        first = np.zeros(len(self._names), bool)
        first[self._first] = True
        return (name for name, is_first in zip(self._names, first.tolist(), strict=True) if is_first)


def by_name(names: Sequence[str]) -> Groups:
    """Records of one name are a group."""
    place: dict[str, int] = {}
    of = np.array([place.setdefault(name, len(place)) for name in names], np.int64)
    return Groups(of, list(place))


def groups_of(store: Store | Documents, config: DataConfig) -> Groups:
    """The groups that `data.groups` asks for.

    Raises:
        ConfigError: no such column of its table.
        InputError: a table that cannot be read, or that tells no group, or two, of a record.
    """
    if config.groups in ("record", "file"):
        names = store.ids if config.groups == "record" else Names(store.records, "source")
        of = names.places()
        return Groups(of, _First(names, of))
    table = read_table(config.groups)
    column = _column(table, config)
    told = _told(table, column)
    return by_name([_group(name, told, table, column) for name in store.ids])


def digest_of(digest: str, config: DataConfig) -> str:
    """That of the data, with the table of groups where there is one."""
    return digest if config.groups in ("record", "file") else fingerprint((config.groups,), digest)


def _column(table: Table, config: DataConfig) -> str:
    others = table.columns[1:]
    if config.groups_column is not None:
        if config.groups_column not in others:
            asked, expected = config.groups_column, "a column of " + ", ".join(others)
            raise ConfigError(
                where="data.groups_column", expected=expected, found=repr(asked), remedy=meant(asked, others)
            )
        return config.groups_column
    if "group" in others:
        return "group"
    if len(others) != 1:
        found = ", ".join(others) or "none beside the ids"
        raise ConfigError(
            where="data.groups_column",
            expected=f"the column of {table.source} with groups",
            found=found,
            remedy="name it",
        )
    return others[0]


def _told(table: Table, column: str) -> dict[str, str]:
    """The group of each id."""
    told: dict[str, str] = {}
    for row in table.rows:
        name, group = row.cells[table.columns[0]], row.cells[column]
        if group and told.setdefault(name, group) != group:
            raise InputError(
                where=table.where(row), expected=f"one {column} of {name}, {told[name]!r} as before", found=repr(group)
            )
    return told


def _group(name: str, told: dict[str, str], table: Table, column: str) -> str:
    if name not in told:
        ids = list(told)
        raise InputError(
            where=table.source,
            expected=f"a {column} of every record",
            found=f"none of {name!r}",
            remedy=near(name, ids) or "add a line",
        )
    return told[name]
