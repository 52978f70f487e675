"""What a function says of its inputs: walked once and forgotten, or kept and looked at."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from longseq.report.frame import Table
from longseq.report.view import ROWS, View, html_of, text_of
from longseq.results.frames import Framed
from longseq.results.source import SourceRow

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger("longseq")

T = TypeVar("T")
Walk = Generator[T, None, list[SourceRow]]
"""Results one by one, and in the end the inputs, as they were read."""


class Results(Framed, Generic[T]):
    """Results of inputs, in input order.

    `for one in results` reads the inputs as it goes and holds one result at a time, however many there are; a second
    loop reads them again. Whatever needs all of them (`len`, an index, a data frame, showing them) reads to the end
    once and keeps them, and from then on loops go over what is kept.

    Raises:
        InputError: from what reads, the first one, where no record of any input could be read. What could not be read
            beside others is said by the logger `longseq` and stands in `sources`.
    """

    def __init__(self, walk: Callable[[], Walk[T]]):
        self._walk = walk
        self._kept: list[T] | None = None
        self._sources: list[SourceRow] | None = None

    def __iter__(self) -> Iterator[T]:
        if self._kept is not None:
            yield from self._kept
            return
        sources = yield from self._walk()
        if self._sources is None:
            for line in (line for source in sources for line in source.problems):
                log.error("%s", line)
        self._sources = sources

    def collect(self) -> Self:
        """The same, read to the end and kept in memory."""
        if self._kept is None:
            self._kept = [one for one in self]  # noqa: C416 - list() would ask for the length first
        return self

    @property
    def _all(self) -> list[T]:
        kept = self.collect()._kept
        assert kept is not None
        return kept

    @property
    def sources(self) -> list[SourceRow]:
        """The inputs in order: what they are, how far they were read, and what went wrong. Reads to the end, if nothing
        did before."""
        if self._sources is None:
            self.collect()
        assert self._sources is not None
        return self._sources

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        return self._all[at]

    @property
    @abstractmethod
    def table(self) -> Table:
        """All of them as one table, of which data frames are made."""

    def to_arrow(self) -> pyarrow.Table:
        """All of them as a table of Arrow."""
        return self.collect().table.to_arrow()

    def _framed(self) -> Any:
        return self.to_arrow()

    def _views(self) -> Sequence[View]:
        return [self.collect().table.view()]

    def _shown(self) -> list[View]:
        """All that is shown: results, and what could not be read."""
        lines = [(line,) for source in self.sources for line in source.problems]
        problems = [View("not read", ("problem",), lines[:ROWS], max(len(lines) - ROWS, 0))] if lines else []
        return [*self._views(), *problems]

    def __repr__(self) -> str:
        return text_of(self._shown())

    def _repr_html_(self) -> str:
        return html_of(self._shown())
