"""What a command that measures leaves in `--out`: a JSON document, a page, and pictures where they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from longseq.errors import UsageError

PLOTS = "plots"
"""Folder of pictures in `--out`."""


@dataclass(frozen=True)
class Folder:
    """Where it is written."""

    path: Path
    name: str

    @property
    def plots(self) -> Path:
        return self.path / PLOTS

    def write(self, document: object, page: Iterable[str]) -> None:
        """`NAME.json` and `NAME.html`."""
        from longseq.formats.jsonfile import write_json

        write_json(self.path / f"{self.name}.json", document)
        with open(self.path / f"{self.name}.html", "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(page)


@contextmanager
def leaving(
    name: str, out: str | None, plots: Sequence[str], *, force: bool, more: Sequence[str] = ()
) -> Iterator[Folder | None]:
    """The folder that is `out` when the block ends well, made before the work: one that cannot be is refused then. An
    earlier run may have left the files `more` as well.

    Raises:
        UsageError: `plots` without `out`.
        OutputExistsError: `out` stands already and `force` is off.
    """
    if out is None:
        if plots:
            raise UsageError("--plots needs --out DIR")
        yield None
        return
    from longseq.formats.atomic import output_directory

    with output_directory(out, force=force, replaces=(f"{name}.json", f"{name}.html", PLOTS, *more)) as path:
        yield Folder(path, name)
