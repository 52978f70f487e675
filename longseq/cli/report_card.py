"""The report card of a conversion, as `longseq convert` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longseq.log import Progress
    from longseq.tasks.convert import Source


def report(
    source: Source,
    student: str,
    texts: Sequence[str],
    *,
    labelled: Sequence[str] = (),
    column: str | None = None,
    label: str = "label",
    threads: int = 1,
    command: str = "",
    force: bool = False,
    progress: Progress | None = None,
) -> str:
    """Write report.json and report.html into the folder of a checkpoint, and return what they say in a few lines.

    Args:
        source: the teacher of which it was made.
        student: the folder.
        texts: files or folders with texts that it did not learn from.
        labelled: tables of texts with a class in the column `label`.
        column: with texts, where inputs are tables.

    Raises:
        LongseqError: as `report_card`.
    """
    from longseq.model import load
    from longseq.report.conversion import conversion_text, free_report
    from longseq.tasks.convert.card import CardConfig, report_card
    from longseq.tasks.convert.card.texts import read_labelled, read_texts, teacher_of
    from longseq.tasks.convert.work import stage_errors

    free_report(student, force=force)
    found = load(student)
    given = read_texts(texts, column)
    classes = [read_labelled(file, label, column) for file in labelled]
    with teacher_of(source, found) as teacher:
        card = report_card(
            teacher,
            found,
            given,
            student,
            config=CardConfig(threads=threads),
            labelled=classes,
            stages=stage_errors(student, found.config.layers),
            command=command,
            force=force,
            progress=progress,
        )
    return conversion_text(card)
