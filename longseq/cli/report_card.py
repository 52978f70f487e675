"""The report card of a conversion, as `longseq convert` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longseq.log import Progress
    from longseq.tasks.convert import Source
    from longseq.tasks.convert.card import Labelled


def report(
    source: Source,
    student: str,
    texts: Sequence[str],
    *,
    labelled: Sequence[Labelled] = (),
    threads: int = 1,
    command: str = "",
    force: bool = False,
    progress: Progress | None = None,
) -> str:
    """Write report.json and report.html into the folder of a checkpoint, and return what they say in a few lines.

    Args:
        source: the teacher of which it was made.
        student: the folder.
        texts: that it did not learn from.
        labelled: texts with classes.

    Raises:
        LongseqError: as `report_card`.
    """
    from longseq.model import load
    from longseq.report.conversion import conversion_text
    from longseq.tasks.convert.card import CardConfig, report_card
    from longseq.tasks.convert.card.texts import teacher_of
    from longseq.tasks.convert.work import stage_errors

    found = load(student)
    with teacher_of(source, found) as teacher:
        card = report_card(
            teacher,
            found,
            texts,
            student,
            config=CardConfig(threads=threads),
            labelled=labelled,
            stages=stage_errors(student, found.config.layers),
            command=command,
            force=force,
            progress=progress,
        )
    return conversion_text(card)
