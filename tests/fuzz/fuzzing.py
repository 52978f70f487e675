"""What a reader of files owes to any bytes at all: a result, or an error of ours on one line, soon.

A target is a reader. Its seeds are files of `seeds/NAME/` that we wrote; what once broke it stays in `found/NAME/`.
`test_fuzz.py` changes seeds blindly, for a moment each; `guided.py` lets coverage guide it, for as long as one likes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from longseq.errors import LongseqError

HERE = Path(__file__).parent
SECONDS = 10.0
"""The longest that one file of a few kilobytes may take."""
MOST = 1 << 16
"""Bytes of a changed file."""


def _written(folder: Path, data: bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reader under fuzzing.

    `read(path)` reads all that the file holds, as a command would; `file` names the file, since a suffix may decide.
    `lay(folder, data)` writes the file where bytes as they stand would never pass a checksum: it packs them.
    """

    name: str
    file: str
    read: Callable[[Path], object]
    words: tuple[bytes, ...] = ()
    lay: Callable[[Path, bytes], Path] | None = None

    def kept(self, kind: str) -> list[Path]:
        return sorted((HERE / kind / self.name).glob("*"))

    def seeds(self) -> list[bytes]:
        found = [path.read_bytes() for path in self.kept("seeds")]
        assert found, f"{self.name} has no seed"
        return found

    def trial(self, folder: Path, data: bytes) -> float:
        """Seconds that the reader took for these bytes; whatever it raises is to be an error of ours, on one line."""
        path = self.lay(folder, data) if self.lay else _written(folder, data, self.file)
        started, said = time.perf_counter(), ""
        try:
            self.read(path)
        except LongseqError as error:
            said = str(error)
        took = time.perf_counter() - started
        assert "\n" not in said, f"more than a line: {said}"
        assert took < SECONDS, f"took {took:.1f} s"
        return took


@st.composite
def changed(draw: st.DrawFn, target: Target, seeds: list[bytes]) -> bytes:
    """A seed with a few slices replaced: by nothing, by any bytes, by a word of the format, by a part of a seed."""
    data = bytearray(draw(st.sampled_from(seeds)))
    words = st.sampled_from(target.words or (b"\0",))
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from((0, 1, 2, 4, 8, 64, len(data))))
        other = draw(st.sampled_from(seeds))
        start = draw(st.integers(0, len(other)))
        new = draw(st.one_of(st.binary(max_size=8), words, st.just(other[start : start + 64])))
        data[at : at + size] = new * draw(st.sampled_from((1, 1, 1, 2, 500)))
        del data[MOST:]
    return bytes(data)
