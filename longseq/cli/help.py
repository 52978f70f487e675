"""Pages of help: options in groups where there are many, and values by short names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import click

MANY = 18
"""Options from which a page parts them into groups."""
OTHERS = "Options"
GROUPS = {
    "Options for DNA": (
        *("no-model", "window", "strands", "min-contig", "sample-fraction", "seed", "per-base", "regions-fasta"),
        *("classifier", "pyrodigal", "track", "track-format"),
    ),
    "Options for genes": ("genetic-code", "min-gene", "mixed"),
    "Options for variants": ("reference", "context", "longest-allele"),
    "Options for documents": (
        *("save-text", "method", "sentences", "words", "characters", "ratio", "query", "must-include", "extractor"),
        *("together", "one-pass", "evidence"),
    ),
    "What is read": ("kind", "column", "region", "alias", "strict", "on-unknown", "sample"),
    "Batches and long runs": ("jobs", "shard", "resume", "snapshot-every", "state", "save-state"),
    "Computing": ("device", "threads", "precision", "chunk"),
    "Messages": ("quiet", "verbose", "debug", "help"),
}
"""By the name of the option; the others come first."""
OWN = {"summarize": {"by": "Options for documents", "exclude": "Options for documents"}}
"""Options that mean the same nowhere else, by command."""
_VALUES = {"INTEGER RANGE": "N", "INTEGER": "N", "FLOAT RANGE": "X", "FLOAT": "X"}


class HelpFormatter(click.HelpFormatter):
    """Writes the options of a command in groups."""

    command = ""
    """Name of the command whose page it is."""

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **options: Any) -> None:
        rows = [(_value(term), _bounds(text)) for term, text in rows]
        if len(rows) < MANY or not all(term.startswith("-") for term, _ in rows):
            super().write_dl(rows, *args, **options)
            return
        own = OWN.get(self.command, {})
        parted: dict[str, list[tuple[str, str]]] = {OTHERS: [], **{title: [] for title in GROUPS}}
        for row in rows:
            name = _name(row[0])
            title = own.get(name) or next((title for title, names in GROUPS.items() if name in names), OTHERS)
            parted[title].append(row)
        super().write_dl(parted.pop(OTHERS), *args, **options)
        for title, some in parted.items():
            if some:
                self.dedent()
                with self.section(title):
                    super().write_dl(some, *args, **options)
                self.indent()


class HelpContext(click.Context):
    """A context whose pages are written so."""

    def make_formatter(self) -> click.HelpFormatter:
        formatter = HelpFormatter(width=self.terminal_width, max_width=self.max_content_width)
        formatter.command = self.info_name or ""
        return formatter


def _name(term: str) -> str:
    """`quiet` of `-q, --quiet`."""
    found = re.search(r"--([a-z-]+)", term)
    return found[1] if found else term


def _value(term: str) -> str:
    for long, short in _VALUES.items():
        term = term.replace(f" {long}", f" {short}")
    return term


def _bounds(text: str) -> str:
    """`[x>=1]`, which goes without saying of most, is left out, and `[0<=x<=1]` is `[0 to 1]`."""
    text = re.sub(r"(\S+?)<=x<=([^\];]+)", r"\1 to \2", text)
    return re.sub(r"  \[x>=?\d+\]|; x>=?\d+(?=\])", "", text)
