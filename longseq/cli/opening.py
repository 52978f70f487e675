"""`longseq convert STUDENT --open-memory`: what is given, and what came of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from longseq.cli.talk import Talk
from longseq.log import count

if TYPE_CHECKING:
    from longseq.training import Plan

log = logging.getLogger("longseq")

OF_A_TRANSFORMER = (
    "report_of",
    "keep_softmax",
    "labelled",
    "no_report",
    "feature_map",
    "window",
    "tokenizer",
    "segment",
)
"""Options of `convert` that say nothing of a memory that is opened."""


def opened(
    student: str,
    out: str,
    flags: Mapping[str, object],
    assignments: Sequence[str],
    *,
    resume: bool,
    force: bool,
    talk: Talk,
) -> list[str]:
    """Open the memory of `student`; lines for people. `flags` are settings given as options, those not None.

    Raises:
        LongseqError: as `longseq.tasks.convert.open_memory`.
    """
    from longseq.config import load
    from longseq.tasks.convert import OpeningSettings, open_memory
    from longseq.training.transfer.opened import said

    given = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in flags.items() if value is not None]
    settings = load(OpeningSettings, None, [*assignments, *given])

    def announce(plan: Plan) -> None:
        for line in plan.lines():
            log.info("opening: %s", line)

    made = open_memory(student, settings, out, resume=resume, force=force, progress=talk.progress(), announce=announce)
    lines = [
        f"{out}: memory of {student} opened; segments of {made.model.config.segment} tokens beside "
        f"{count(made.segments, 'segment')} in one window of the teacher"
    ]
    for name, came in made.came.items():
        lines.append(f"{name}: {came.line(said, timed=True)}")
    for number, layer in enumerate(made.gates, 1):
        lines.append(f"gates of layer {number}: {' '.join(f'{gate:+.2f}' for gate in layer)}")
    return lines
