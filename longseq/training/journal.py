"""metrics.jsonl: one line a step, one an evaluation; a resumed run goes on where its checkpoint stands."""

from __future__ import annotations

import json
import math
from pathlib import Path

from longseq.formats.atomic import write_aside


class Journal:
    """Lines of `{"step": …}`; what follows step `last` is dropped first, a line cut by a kill as well."""

    def __init__(self, path: Path, last: int = 0):
        kept = [line for line in _lines(path) if line["step"] <= last]
        with write_aside(path, force=True) as aside:
            aside.write_text("".join(_text(line) for line in kept), encoding="utf-8")
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115

    def write(self, step: int, **facts: float | None) -> None:
        self._file.write(_text({"step": step, **facts}))
        self._file.flush()

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
