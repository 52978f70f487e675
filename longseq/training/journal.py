"""metrics.jsonl: one line a step, one an evaluation; a resumed run goes on where its checkpoint stands."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

from longseq.errors import LongseqError
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import parsed

Facts = Mapping[str, float | None]


class Journal:
    """Lines of `{"step": …}`; those of a resumed run that it is going to write again are dropped first, and a line cut
    by a kill as well."""

    def __init__(
        self, path: Path, last: int = 0, scored: int = -1, also: Callable[[int, Facts], None] = lambda step, facts: None
    ):
        """The run goes on after step `last`, and knows the evaluation after step `scored`; `also` is told each line."""
        ends = {False: last, True: scored}
        kept = [line for line in read_lines(path) if line["step"] <= ends[_of_evaluation(line)]]
        with write_aside(path, force=True, given=False) as aside:
            aside.write_text("".join(_text(line) for line in kept), encoding="utf-8")
        self._path, self._file = path, open(path, "ab", buffering=0)  # noqa: SIM115
        self._also = also
        self.failed: LongseqError | None = None
        """Why a line could not be written, once one could not: for the loop to raise in all processes."""

    def write(self, step: int, **facts: float | None) -> None:
        line = _text({"step": step, **facts}).encode()
        try:
            while line:  # what had no room is tried again, for the system to say why
                line = line[self._file.write(line) :]
        except OSError as error:
            reason, remedy = error.strerror or str(error), "make room, then go on with --resume"
            self.failed = LongseqError(f"cannot be written: {reason}", where=str(self._path), remedy=remedy)
        self._also(step, facts)

    def close(self) -> None:
        self._file.close()


def read_lines(path: Path) -> list[dict]:
    """Those of a journal, without one that was cut by a kill; none where there is no journal."""
    found = []
    if path.exists():
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = parsed(text)
            except ValueError:
                break  # the last line of a run that was killed
            if not isinstance(line, dict) or type(line.get("step")) is not int:
                break
            found.append(line)
    return found


def _of_evaluation(line: Facts) -> bool:
    return any(name.startswith("held_out_") for name in line)


def _text(line: Facts) -> str:
    plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}
    return json.dumps(plain) + "\n"
