"""The memory of a linear model, opened: what stands in earlier segments is of use to later ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from longseq.errors import CheckpointError, ConfigError, UsageError
from longseq.log import Progress, count
from longseq.model import Checkpoint, load, save
from longseq.model.headed import VectorModel
from longseq.ops.machine import prepare as prepare_machine
from longseq.tasks.convert.settings import OpeningSettings
from longseq.tasks.convert.source import Original, Source, read_original, require_other, same_tokens
from longseq.tasks.convert.stage import run_of
from longseq.tasks.convert.work import Came, OpeningBegun, Work
from longseq.tokens.stream import StreamTokenizer
from longseq.training import Plan, train
from longseq.training.transfer import OpeningStage, Reading, Shape, Teacher, prepare, read_excluded
from longseq.training.transfer.objectives import gates
from longseq.training.transfer.opened import said

TEACHER, CLOSED, BEFORE, OPENING = "teacher", "closed", "before", "opening"


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What the opening of a memory gave."""

    model: VectorModel
    segments: int
    """That the teacher read at once."""
    gates: tuple[tuple[float, ...], ...]
    """Of each layer and attention head, from -1 to 1; 0 is closed."""
    came: Mapping[str, Came]
    """How far the vectors of a segment's text are from the teacher's with earlier segments beside it: those of the
    teacher that reads each segment by itself, of the model with closed gates, with its gates as they were (where they
    were open), and what the opening came to. By name: teacher, closed, before, opening."""


def open_memory(
    student: str | Path,
    settings: OpeningSettings,
    out: str | Path,
    *,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    announce: Callable[[Plan], None] = lambda plan: None,
) -> Opened:
    """Write the checkpoint `out` of the model `student`, whose gates to earlier segments learned on long texts.

    A student reads the segments of a document one after the other. Its teacher reads the text of as many of them as it
    has positions for in one window, the last one first and the earlier ones behind it: what the student says of the
    last is drawn to what the teacher says.

    Args:
        student: a checkpoint that `linearise` made, with gates.
        settings: the teacher, the texts and how is learned.
        out: directory of the checkpoint.
        resume: go on with an opening that stands in `out`, or begin where there is none.
        force: replace what stands there.
        progress: told of tokens.
        announce: called with the plan before the first step.

    Raises:
        CheckpointError: `student` has no gates; a teacher of another kind, or with too few positions; as
            `read_original`.
        ConfigError, UsageError: settings that do not fit, or are not those which the opening began with; no texts.
        InputError: texts that cannot be read, or none longer than a segment.
        OutputExistsError: `out` stands already, and neither `resume` nor `force` is set.
        StoppedError: TERM or USR1 came; what was done is saved.
        LongseqError: as `longseq.training.train`.
    """
    if not settings.inputs:
        raise ConfigError(where="texts", expected="files or folders with long texts to learn from", found="none")
    if settings.teacher is None:
        remedy = "--teacher MODEL names the one that the model was converted from"
        raise UsageError("the teacher is missing", where=str(student), remedy=remedy)
    if Path(settings.teacher).is_file():
        remedy = "longseq convert FILE --keep-softmax --tokenizer FILE --out DIR makes one; name that"
        raise UsageError("is a file of weights, where a directory is needed", where=settings.teacher, remedy=remedy)
    require_other(out, student)
    require_other(out, settings.teacher)
    work = Work(out, OpeningBegun(model=str(student), settings=settings))
    work.check(resume=resume, force=force)
    found = load(student)
    model, tokenizer = _require_gates(found)
    teacher = read_original(Source(model=settings.teacher))
    shape = _shape(found, teacher, settings)
    prepare_machine(settings.threads)
    stage, came = _begin(found, model, tokenizer, teacher, shape, settings, work, resume, progress), work.came()
    if CLOSED not in came:
        came[TEACHER] = Came(figures=dict(stage.alone()))
        came[CLOSED] = Came(figures=dict(stage.score(model, opened=False)))
        if any(gate.any() for gate in gates(model)):
            came[BEFORE] = Came(figures=dict(stage.score(model)))
        work.keep(came)
    outcome = train(
        run_of(model.config, settings.opening, settings, settings.limit()),
        work.run(OPENING),
        resume=resume,
        progress=progress,
        announce=announce,
        task=lambda config: stage,
    )
    came[OPENING] = Came(
        steps=outcome.step, tokens=outcome.tokens, seconds=outcome.seconds, figures=dict(outcome.figures)
    )
    work.keep(came)
    made = load(work.run(OPENING) / "model").model
    assert isinstance(made, VectorModel)
    opened = Opened(
        model=made,
        segments=shape.most,
        gates=tuple(tuple(gate.detach().tanh().tolist()) for gate in gates(made)),
        came=came,
    )
    save(
        out,
        made,
        tokenizer,
        card=_card(found.card, opened, teacher, settings),
        figures=came[OPENING].figures or None,
        force=True,
    )
    return opened


def _require_gates(found: Checkpoint) -> tuple[VectorModel, StreamTokenizer]:
    model, tokenizer = found.model, found.tokenizer
    fits = isinstance(model, VectorModel) and isinstance(tokenizer, StreamTokenizer)
    if not (fits and found.config.memory_gate):
        mixers = ", ".join(dict.fromkeys(found.config.pattern))
        raise CheckpointError(
            where=found.name,
            expected="a converted model with gates to earlier segments",
            found=f"{mixers} mixers without gates",
            remedy="longseq convert MODEL makes one, unless memory_gate=false is set",
        )
    assert isinstance(model, VectorModel) and isinstance(tokenizer, StreamTokenizer)
    return model, tokenizer


def _shape(found: Checkpoint, teacher: Original, settings: OpeningSettings) -> Shape:
    """Of what the teacher reads at once.

    Raises:
        CheckpointError: it is not the model's, or its positions do not hold two of the model's segments.
        ConfigError: more segments are asked for than they hold.
    """
    ours, theirs = found.config, teacher.model.config
    same = ours.width == theirs.width and ours.frame == theirs.frame and ours.vocabulary == theirs.vocabulary
    if not same or not same_tokens(teacher.tokenizer, found.tokenizer):
        raise CheckpointError(
            where=str(settings.teacher),
            expected=f"the model that {found.name} was converted from",
            found=f"{theirs.width} channels, {theirs.vocabulary:,} token ids"
            + ("" if not same else ", and another tokenizer"),
        )
    special, places, segment = len(ours.frame), theirs.segment, ours.segment
    most = (places - special) // (segment - special)
    if most < 2:
        shorter = (places - special) // 2 + special
        raise CheckpointError(
            where=str(settings.teacher),
            expected=f"at least {2 * segment - special} positions, for the text of two segments of {segment} tokens",
            found=str(places),
            remedy=f"convert it with --segment {shorter} or less, and open the memory of that",
        )
    asked = settings.opening.segments
    if asked > most:
        raise ConfigError(
            where="opening.segments", expected=f"at most {most}, for which the teacher has positions", found=str(asked)
        )
    return Shape(segment=segment, most=asked or most, special=special)


def _begin(
    found: Checkpoint,
    model: VectorModel,
    tokenizer: StreamTokenizer,
    teacher: Original,
    shape: Shape,
    settings: OpeningSettings,
    work: Work,
    resume: bool,
    progress: Progress | None,
) -> OpeningStage:
    """The texts, read in the model's segments, and the teacher beside them."""
    excluded = read_excluded(settings.exclude)
    work.begin(resume=resume)
    try:
        texts = prepare(
            settings.inputs,
            work.texts,
            tokenizer,
            shape.segment,
            column=settings.texts.column,
            excluded=excluded,
            progress=progress,
        )
        reading = Reading(
            texts=texts,
            settings=settings.texts,
            teacher=Teacher(teacher.model.encoder),
            tokenizer=tokenizer,
            shape=shape,
            student=found.sha256,
        )
        stage = OpeningStage(reading, settings.opening, model)
        work.say()
    except BaseException:
        work.tidy()
        raise
    return stage


def _card(before: str, opened: Opened, teacher: Original, settings: OpeningSettings) -> str:
    """The card of the model as it was, and what was done."""
    trained = settings.opening.trained
    facts = {
        "teacher": f"{teacher.name}, which reads {count(opened.segments, 'segment')} in one window",
        "texts": ", ".join(Path(name).name for name in settings.inputs),
        "trained": {"gates": "gates", "maps": "gates and feature maps", "all": "all weights"}[trained],
    }
    for name, came in opened.came.items():
        facts[name] = came.line(said)
    for number, layer in enumerate(opened.gates, 1):
        facts[f"gates of layer {number}"] = " ".join(f"{gate:+.3f}" for gate in layer)
    lines = [f"| {name} | {value} |" for name, value in facts.items()]
    return "\n".join([before.rstrip(), "", "## Memory opened", "", "| fact | value |", "|---|---|", *lines, ""])
