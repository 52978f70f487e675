"""The report card of a conversion: measured, then written beside the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from longseq import __version__
from longseq.errors import CheckpointError
from longseq.log import NullProgress, Progress
from longseq.model import Checkpoint
from longseq.ops.machine import prepare
from longseq.report.conversion import write_conversion
from longseq.results.conversion import Conversion, ModelFacts, Skipped, Speed
from longseq.results.run import Run, peak_rss_mb
from longseq.tasks.bench.machine import load, processor
from longseq.tasks.convert.card.agreement import Labelled, lengths, retrieval, task
from longseq.tasks.convert.card.config import CardConfig
from longseq.tasks.convert.card.latency import latency
from longseq.tasks.convert.card.layers import Stages, even_entropy, layers
from longseq.tasks.convert.card.readings import chunk_of, segments
from longseq.tasks.convert.card.speed import speed
from longseq.tasks.convert.source import same_tokens

FULL = 8
"""Segments at which layers are looked."""


def report_card(
    teacher: Checkpoint,
    student: Checkpoint,
    texts: Sequence[str],
    out: str | Path,
    *,
    config: CardConfig | None = None,
    labelled: Sequence[Labelled] = (),
    stages: Stages | None = None,
    command: str = "",
    force: bool = False,
    progress: Progress | None = None,
) -> Conversion:
    """Measure what `student` kept of `teacher`, of which it was made, and write report.json and report.html into the
    folder `out`, which stands.

    Args:
        texts: that neither learned from. Short ones are joined where longer ones are needed.
        labelled: texts with classes, to be told from the vectors of either.
        stages: transfer error of each layer after each stage of the conversion, as that kept it.

    Raises:
        CheckpointError: no such pair.
        InputError: labels that cannot be told apart.
        OutputExistsError: a report stands already and `force` is off.
    """
    found = measured(
        teacher, student, texts, config or CardConfig(), labelled, stages, command=command, progress=progress
    )
    write_conversion(found, out, force=force)
    return found


def measured(
    teacher: Checkpoint,
    student: Checkpoint,
    texts: Sequence[str],
    config: CardConfig,
    labelled: Sequence[Labelled] = (),
    stages: Stages | None = None,
    *,
    command: str = "",
    progress: Progress | None = None,
) -> Conversion:
    """The figures of `report_card`."""
    require_pair(teacher, student)
    prepare(config.threads)
    began, progress = time.monotonic(), progress or NullProgress()
    run = Run(
        version=__version__,
        command=command,
        model=student.name,
        model_sha256=student.sha256,
        device=str(student.model.encoder.embedding.weight.device),
        threads=config.threads,
    )
    progress.start("report card", None, "part")
    try:
        rows = segments(teacher, texts, config.documents * max(config.longest // teacher.config.segment, FULL))
        parts, skipped = [], []
        if len(rows):
            parts = layers(teacher, student, rows[:: max(len(rows) // FULL, 1)][:FULL], stages or {})
            progress.advance(1)
            by_length, missing = lengths(teacher, student, rows, config)
            skipped += missing
        else:
            by_length = []
            size = f"{teacher.config.segment:,} tokens"
            skipped += [Skipped(what="layers and lengths", reason=f"the texts do not fill a segment of {size}")]
        progress.advance(1)
        near = retrieval(teacher, student, texts, config)
        if near is None:
            skipped.append(Skipped(what="retrieval", reason="there are less than two texts with a token"))
        told = [task(teacher, student, some, config) for some in labelled]
        progress.advance(1)
        fast, missing = _speed(teacher, student, config)
        progress.advance(1)
    finally:
        progress.finish()
    return Conversion(
        run=replace(run, seconds=time.monotonic() - began, peak_rss_mb=peak_rss_mb()),
        teacher=_facts(teacher),
        student=_facts(student),
        texts=len(texts),
        even=even_entropy(teacher.config.segment),
        layers=parts,
        lengths=by_length,
        retrieval=near,
        tasks=told,
        speed=fast,
        skipped=[*skipped, *missing],
    )


def _speed(teacher: Checkpoint, student: Checkpoint, config: CardConfig) -> tuple[Speed | None, list[Skipped]]:
    if not config.budget:
        return None, [Skipped(what="speed, memory and latency", reason="no time was given for them")]
    before = load()
    rows, skipped = speed(teacher.config, student.config, config)
    turn = latency(teacher, student, config)
    found = Speed(
        processor=processor(),
        threads=config.threads,
        chunk=chunk_of(student.config, config.chunk),
        load_before=before,
        load_after=load(),
        rows=rows,
        latency=turn,
    )
    return found, skipped


def require_pair(teacher: Checkpoint, student: Checkpoint) -> None:
    """Raise CheckpointError unless the teacher has softmax mixers in segments and the student could be made of it."""
    config = teacher.config
    if set(config.pattern) != {"softmax"} or config.visibility != "segment":
        raise CheckpointError(
            where=teacher.name,
            expected="softmax mixers in segments, as longseq convert --keep-softmax writes them",
            found=f"{' and '.join(config.pattern)}, {config.visibility}",
        )
    for name in ("width", "layers", "segment", "frame", "visibility"):
        wanted, found = getattr(config, name), getattr(student.config, name)
        if wanted != found:
            raise CheckpointError(
                where=student.name, expected=f"model.{name} {wanted} as in {teacher.name}", found=str(found)
            )
    if not same_tokens(teacher.tokenizer, student.tokenizer):
        raise CheckpointError(where=student.name, expected=f"the tokenizer of {teacher.name}", found="another")


def _facts(checkpoint: Checkpoint) -> ModelFacts:
    return ModelFacts(
        name=checkpoint.name,
        sha256=checkpoint.sha256,
        parameters=checkpoint.parameters,
        mixers=list(dict.fromkeys(checkpoint.config.pattern)),
        segment=checkpoint.config.segment,
    )
