"""metrics.jsonl: one line a step, one an evaluation; a resumed run goes on where its checkpoint stands."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path

from longseq.errors import LongseqError
from longseq.formats.atomic import write_aside


class Journal:
    """Lines of `{"step": …}`; what follows step `last` is dropped first, a line cut by a kill as well."""

    def __init__(self, path: Path, last: int = 0):
        kept = [line for line in _lines(path) if line["step"] <= last]
        with write_aside(path, force=True) as aside:
            aside.write_text("".join(_text(line) for line in kept), encoding="utf-8")
        self._path, self._file = path, open(path, "ab", buffering=0)  # noqa: SIM115
        self.failed: LongseqError | None = None
        """Why a line could not be written, once one could not: for the loop to raise in all processes."""

    def write(self, step: int, **facts: float | None) -> None:
        line = _text({"step": step, **facts}).encode()
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            reason, remedy = error.strerror or str(error), "make room, then go on with --resume"
            self.failed = LongseqError(f"cannot be written: {reason}", where=str(self._path), remedy=remedy)

    def close(self) -> None:
        self._file.close()


def _lines(path: Path) -> list[dict]:
    found = []
    if path.exists():
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(text))
            except ValueError:
                break  # the last line of a run that was killed
    return found


def _text(line: dict) -> str:
    plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}
    return json.dumps(plain) + "\n"
