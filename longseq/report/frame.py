"""A table in memory: shown in a notebook, and a frame of pandas, polars or Arrow in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from longseq.report.view import ROWS, View, cell, html_of, text_of
from longseq.results.frames import Framed

if TYPE_CHECKING:
    import pyarrow


class Table(Framed):
    """Columns of equal length and their types."""

    def __init__(self, title: str, types: Mapping[str, str], batch: Mapping[str, Any]):
        """`types` as `longseq.formats.parquet.ParquetWriter` spells them; `batch` has a sequence (N,) for each."""
        self.title, self.types, self._batch = title, dict(types), batch

    @classmethod
    def of_rows(cls, title: str, types: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> Table:
        """Of mappings, a row each; what a row lacks is null."""
        held = list(rows)
        return cls(title, types, {name: [row.get(name) for row in held] for name in types})

    def __len__(self) -> int:
        return len(self._batch[next(iter(self.types))])

    def to_arrow(self) -> pyarrow.Table:
        """A table of Arrow, NaN as null."""
        from longseq.formats.parquet import arrow_table

        return arrow_table(self.types, self._batch)

    def _framed(self) -> Any:
        return self.to_arrow()

    def view(self) -> View:
        """The first rows."""
        shown = {name: [cell(_plain(value)) for value in self._batch[name][:ROWS]] for name in self.types}
        told = [name for name, cells in shown.items() if any(cells) and "float32[" not in self.types[name]]
        rows = [*zip(*(shown[name] for name in told), strict=True)]
        return View(self.title, tuple(told), rows, len(self) - len(rows))

    def __repr__(self) -> str:
        return text_of([self.view()])

    def _repr_html_(self) -> str:
        return html_of([self.view()])


def _plain(value: Any) -> Any:
    """A number of numpy as Python's."""
    return value.item() if hasattr(value, "item") else value
