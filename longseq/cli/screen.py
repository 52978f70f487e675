"""What a terminal is given: text of input is shown there, and not obeyed.

stderr is talk: control characters and marks that turn the order of letters are spelled in it wherever it goes, since
logs are looked at on terminals too. stdout is results: on a terminal they are spelled, in a pipe and in a file the
text is as it was read, word for word.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from longseq.errors import printable


class Spelled:
    """A text stream through which nothing comes that a terminal obeys but tabs and line feeds."""

    def __init__(self, beneath: TextIO):
        self.beneath = beneath

    def write(self, text: str) -> int:
        self.beneath.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> _Bytes:
        """For who writes UTF-8 himself."""
        return _Bytes(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


class _Bytes:
    def __init__(self, text: Spelled):
        self._text = text

    def write(self, data: bytes) -> int:
        self._text.write(data.decode("utf-8", "backslashreplace"))
        return len(data)

    def flush(self) -> None:
        self._text.flush()


def beneath(stream: TextIO) -> TextIO:
    """The stream itself: for a bar, which moves the cursor, and spells what it shows."""
    return stream.beneath if isinstance(stream, Spelled) else stream


@contextmanager
def spelled() -> Iterator[None]:
    """Within, stdout and stderr are so."""
    before = sys.stdout, sys.stderr
    out, err = before
    if out is not None and out.isatty():
        sys.stdout = Spelled(out)
    if err is not None:
        sys.stderr = Spelled(err)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
