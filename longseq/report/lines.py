"""Lines of text for a terminal: columns side by side, figures, names cut to a width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from longseq.errors import printable

WIDTH = 44
"""Letters of a name that are shown."""


def screen(lines: Iterable[str]) -> str:
    """Lines as a terminal shows them, each ended by a line feed: control characters in them are spelled, since a
    document could rename the window by an escape, or hide a line behind a return."""
    return "".join("{}\n".format(printable(line).replace("\n", "\\n")) for line in lines)


def aligned(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns side by side, the first row their titles: names to the left, figures to the right; a column without a
    figure is left out."""
    columns = [i for i in range(len(table[0])) if any(row[i] not in ("", "NA") for row in table[1:])]
    figures = {i: all(row[i][:1].isdigit() or row[i] in ("", "NA", "-") for row in table[1:]) for i in columns[1:]}
    widths = {i: max(len(row[i]) for row in table) for i in columns}
    for row in table:
        cells = [row[i].rjust(widths[i]) if figures.get(i) else row[i].ljust(widths[i]) for i in columns]
        yield "  " + "  ".join(cells).rstrip()


def number(value: float | None, digits: int) -> str:
    """`1,234.50`, or NA."""
    return "NA" if value is None else f"{value:,.{digits}f}"


def ending(text: str, width: int = WIDTH) -> str:
    """The last letters: of paths the ends tell more than the beginnings."""
    return text if len(text) <= width else "…" + text[1 - width :]


def shortened(text: str, width: int = WIDTH) -> str:
    """The first letters."""
    return text if len(text) <= width else text[: width - 1] + "…"
