"""What a reader of files owes to any bytes at all: a result, or an error of ours on one line, soon, in little memory.

A target is a reader. Its seeds are files of `seeds/NAME/` that we wrote; what once broke it stays in `found/NAME/`.
`test_fuzz.py` changes seeds blindly, for a moment each; `guided.py` lets coverage guide it, for as long as one likes.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from longseq.errors import LongseqError

HERE = Path(__file__).parent
SECONDS = 10.0
"""Of a processor, the most that one file of a few kilobytes may take."""
MEMORY = 1 << 30
"""Bytes, the most that it may ask for."""
LINE = 10_000
"""Characters of the longest line that an error may be."""
MOST = 1 << 16
"""Bytes of a changed file."""
NUMBERS = (
    *(b"0", b"-1", b"127", b"255", b"65535", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807"),
    *(b"9223372036854775808", b"1e9", b"nan", b"inf", b"1_0", b"\xc2\xb2", b"\xd9\xa3", b"9" * 5000),
    *(b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 8, b"\0" * 8),
)
"""Words of any format: the ends of whole numbers, what only looks like one, and the same as bytes."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reader under fuzzing.

    `read(path)` reads all that the file holds, as a command would; `file` names the file, since a suffix may decide.
    `lay(folder, data)` writes the file where bytes as they stand would never pass a checksum: it packs them. An error
    is to be of `error`. `made()` gives seeds that are made rather than kept. `examples` are changed blindly: as many as
    take two seconds, or fewer that find as much.
    """

    name: str
    file: str
    read: Callable[[Path], object]
    words: tuple[bytes, ...] = ()
    lay: Callable[[Path, bytes], Path] | None = None
    error: type[LongseqError] = LongseqError
    made: Callable[[], list[bytes]] | None = None
    examples: int = 50

    def kept(self, kind: str) -> list[Path]:
        return sorted((HERE / kind / self.name).glob("*"))

    def seeds(self) -> list[bytes]:
        found = [path.read_bytes() for path in self.kept("seeds")] + (self.made() if self.made else [])
        assert found, f"{self.name} has no seed"
        return found

    def laid(self, folder: Path, data: bytes) -> Path:
        """The file with these bytes."""
        if self.lay:
            return self.lay(folder, data)
        path = folder / self.file
        path.write_bytes(data)
        return path

    def trial(self, folder: Path, data: bytes) -> None:
        """Read these bytes; whatever that raises is to be an error of ours, on one line."""
        path, said = self.laid(folder, data), ""
        started = time.process_time()
        try:
            with _memory(MEMORY):
                self.read(path)
        except self.error as error:
            said = str(error)
        took = time.process_time() - started
        assert len(said.splitlines()) <= 1, f"more than a line: {said!r}"
        assert len(said) <= LINE, f"an error of {len(said):,} characters: {said[:500]!r}"
        assert took < SECONDS, f"took {took:.1f} s"


@contextmanager
def _memory(size: int) -> Iterator[None]:
    """Whoever asks for more than `size` bytes in here is refused them."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@st.composite
def changed(draw: st.DrawFn, target: Target, seeds: list[bytes]) -> bytes:
    """A seed with a few slices replaced: by nothing, by any bytes, by a word of the format, by a part of a seed."""
    data = bytearray(draw(st.sampled_from(seeds)))
    words = st.sampled_from((*target.words, *NUMBERS))
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from((0, 1, 2, 4, 8, 64, len(data))))
        other = draw(st.sampled_from(seeds))
        start = draw(st.integers(0, len(other)))
        new = draw(st.one_of(st.binary(max_size=8), words, st.just(other[start : start + 64])))
        data[at : at + size] = new * draw(st.sampled_from((1, 1, 1, 2, 500)))
        del data[MOST:]
    return bytes(data)
