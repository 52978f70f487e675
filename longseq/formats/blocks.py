"""A byte stream seen through one block at a time, with the line number kept."""

from __future__ import annotations

from longseq.errors import InputError, place
from longseq.formats.containers import ByteStream

READ_BLOCK = 1 << 18
"""Bytes read at a time: a block and its copies stay in a core's cache."""
LONGEST_LINE = 1 << 20
"""Bytes that a header line may have; longer ones are no header."""


class Blocks:
    """`data[at:]` is what is left of the block in hand; `line` (1-based) is the line of `data[at]`.

    Whoever takes bytes from `data` moves `at` and adds the line feeds taken to `line`.
    """

    def __init__(self, stream: ByteStream, size: int):
        self.stream, self.size = stream, size
        self.data, self.at, self.line = b"", 0, 1
        self.ended = False
        """The stream has no more bytes; `data[at:]` may still hold some."""
        self.whole_line = True
        """The line that `readline` gave last had its line feed."""
        self._last = b"\n"

    def fill(self) -> bool:
        """Take the next block when this one is used up; False at the end of the stream."""
        if self.at < len(self.data):
            return True
        if self.data:
            self._last = self.data[-1:]
        self.data, self.at = self.stream.read(self.size), 0
        self.ended = not self.data
        return not self.ended

    def starts_line(self, at: int) -> bool:
        """Whether `data[at]` is the first byte of a line."""
        return (self.data[at - 1 : at] if at else self._last) == b"\n"

    def skip_mark(self) -> None:
        """Pass a byte order mark at the start of the stream."""
        if self.stream.peek(3) == b"\xef\xbb\xbf":
            self.stream.read(3)

    def skip_blank(self) -> None:
        """Pass white space, so that `data[at]` is something else unless the stream ended."""
        while self.fill():
            if self.data[self.at] not in b" \t\r\n":
                return
            rest = self.data[self.at :].lstrip(b" \t\r\n")
            at = len(self.data) - len(rest)
            self.line += self.data.count(b"\n", self.at, at)
            self.at = at

    def readline(self, limit: int = LONGEST_LINE) -> bytes | None:
        r"""The next line without `\n` or `\r\n`; None at the end.

        Raises:
            InputError: the line is longer than `limit` bytes.
        """
        at = self.at
        stop = self.data.find(b"\n", at)
        if at <= stop <= at + limit:  # nearly every line lies in one block: no need to collect it
            self.at = stop + 1
            self.line += 1
            self.whole_line = True
            return self.data[at : stop - 1 if self.data[stop - 1 : stop] == b"\r" and stop > at else stop]
        parts: list[bytes] = []
        size = 0
        while self.fill():
            stop = self.data.find(b"\n", self.at)
            parts.append(self.data[self.at : stop if stop >= 0 else len(self.data)])
            self.at = stop + 1 if stop >= 0 else len(self.data)
            size += len(parts[-1])
            if stop >= 0 or size > limit:
                break
        else:
            self.whole_line = False
            return b"".join(parts).removesuffix(b"\r") if parts else None
        line = parts[0] if len(parts) == 1 else b"".join(parts)
        if len(line) > limit:
            raise InputError(
                where=place(self.stream.source, self.line),
                expected=f"a line of at most {limit:,} bytes",
                found="a longer one",
            )
        self.line += 1
        self.whole_line = True
        return line[:-1] if line.endswith(b"\r") else line
