"""A trained softmax Transformer as a linear model, in stages: swap, attention transfer, distillation."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from longseq.errors import CheckpointError, ConfigError
from longseq.log import Progress
from longseq.model import Encoder, Model, load, save
from longseq.model.headed import VectorModel
from longseq.model.teachers import linear_form
from longseq.ops.machine import prepare as prepare_machine
from longseq.tasks.convert.settings import Settings
from longseq.tasks.convert.source import Original, Source, read_original, require_other
from longseq.tasks.convert.stage import run_of
from longseq.tasks.convert.work import Begun, Came, Work, forget
from longseq.tokens.stream import StreamTokenizer
from longseq.training import Plan, TrainConfig, train
from longseq.training.config import AdapterConfig
from longseq.training.transfer import (
    DistilConfig,
    DistilStage,
    Lesson,
    Stage,
    Teacher,
    TransferConfig,
    TransferStage,
    prepare,
    read_excluded,
)
from longseq.training.transfer.objectives import require_learners
from longseq.training.transfer.scoring import said

log = logging.getLogger("longseq")

SWAP, TRANSFER, DISTIL = "swap", "transfer", "distil"


@dataclass(frozen=True, kw_only=True)
class Linearised:
    """What a conversion to a linear model gave."""

    kind: str
    """bert, roberta, distilbert, nn.TransformerEncoder or longseq."""
    model: Model
    special: tuple[str, ...]
    """The special tokens around each segment."""
    left: tuple[str, ...]
    """Tensors of the teacher that no hidden vector depends on, and that are left out."""
    came: Mapping[str, Came]
    """What each stage came to, by name: swap, transfer, distil; empty where nothing was learned."""


def linearise(
    source: Source,
    settings: Settings,
    out: str | Path,
    *,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    announce: Callable[[str, Plan], None] = lambda stage, plan: None,
) -> Linearised:
    """Write the checkpoint `out` of the linear form of a Transformer, trained on texts to give the same vectors.

    Args:
        source: the Transformer.
        settings: the linear form and how it learns; with 0 steps in both stages weights are swapped, and no more.
        out: directory of the checkpoint.
        resume: go on with a conversion that stands in `out`, or begin where there is none.
        force: replace what stands there.
        progress: told of tokens.
        announce: called with the name of a stage and its plan before its first step.

    Raises:
        CheckpointError, UsageError, ConfigError: as `read_original`; settings that do not fit the model, or that are
            not those which the conversion began with; no texts; `out` is where the Transformer stands.
        InputError: texts that cannot be read, or nothing to learn from.
        OutputExistsError: `out` stands already, and neither `resume` nor `force` is set.
        StoppedError: TERM or USR1 came; what was done is saved.
        LongseqError: as `longseq.training.train`.
    """
    stages = [name for name in (TRANSFER, DISTIL) if getattr(settings, name).steps != 0]
    if stages and not settings.inputs:
        raise ConfigError(
            where="texts",
            expected="files or folders with texts to learn from",
            found="none",
            remedy="--texts PATH names some; --keep-softmax keeps the model's own attention, and needs none",
        )
    require_other(out, source.model)
    work = Work(out, Begun(source=source, settings=settings))
    work.check(resume=resume, force=force)
    original = read_original(source)
    if not isinstance(original.model, VectorModel) or not isinstance(original.tokenizer, StreamTokenizer):
        raise CheckpointError(where=source.model, expected="a model to give vectors of documents", found="another one")
    model: Model = linear_form(
        original.model,
        feature_map=settings.map,
        softmax_window=settings.window,
        memory_gate=settings.memory_gate,
        where=source.model,
    )
    came: dict[str, Came] = {}
    runs = {name: _config(name, model, settings) for name in stages}
    for name in stages:
        require_learners(model, getattr(settings, name))
    if stages:
        prepare_machine(settings.threads)
        lesson = _begin(original.model.encoder, original.tokenizer, settings, work, resume, progress)
        came = work.came()
        if SWAP not in came:
            came[SWAP] = Came(figures=dict(TransferStage(lesson, settings.transfer).score(model) or {}))
            work.keep(came)
            if came[SWAP].figures:
                log.info("swap: %s", said(came[SWAP].figures))
        for name in stages:
            run = work.run(name)
            if not (resume and name in came and name != stages[-1]):
                stage: type[Stage] = TransferStage if name == TRANSFER else DistilStage
                outcome = train(
                    runs[name],
                    run,
                    resume=resume,
                    progress=progress,
                    announce=partial(announce, name),
                    task=partial(_task, stage, lesson, getattr(settings, name), model),
                )
                came[name] = Came(
                    steps=outcome.step, tokens=outcome.tokens, seconds=outcome.seconds, figures=dict(outcome.figures)
                )
                work.keep(came)
            model = load(run / "model").model
    last = came[stages[-1]].figures if stages else {}
    save(
        out,
        model,
        original.tokenizer,
        card=_facts(original, model, settings, came),
        figures=last or None,
        force=force or bool(stages),
    )
    if not stages:
        forget(out)
    return Linearised(kind=original.kind, model=model, special=original.special, left=original.left, came=came)


def _task(
    stage: type[Stage], lesson: Lesson, settings: TransferConfig | DistilConfig, model: Model, config: TrainConfig
) -> Stage:
    return stage(lesson, settings, model)


def _begin(
    encoder: Encoder,
    tokenizer: StreamTokenizer,
    settings: Settings,
    work: Work,
    resume: bool,
    progress: Progress | None,
) -> Lesson:
    """The texts, read, and the teacher beside them."""
    config = encoder.config
    framed = tokenizer
    if config.frame:
        before, after = config.frame
        framed = tokenizer.framed(before, after, config.segment)
    excluded = read_excluded(settings.exclude)
    work.begin(resume=resume)
    try:
        texts = prepare(
            settings.inputs,
            work.texts,
            framed,
            config.segment,
            column=settings.texts.column,
            excluded=excluded,
            progress=progress,
        )
        work.say()
    except BaseException:
        work.tidy()
        raise
    return Lesson(texts=texts, settings=settings.texts, teacher=Teacher(encoder), tokenizer=tokenizer)


def _config(name: str, model: Model, settings: Settings) -> TrainConfig:
    """The run of a stage."""
    if name == TRANSFER:
        return run_of(model.config, settings.transfer, settings, settings.limit(name))
    distil = settings.distil
    return run_of(
        model.config, distil, settings, settings.limit(name), AdapterConfig(rank=distil.rank, alpha=distil.alpha)
    )


def _facts(original: Original, model: Model, settings: Settings, came: Mapping[str, Came]) -> dict[str, object]:
    """Of the model card."""
    config = model.config
    window = f"; softmax inside windows of {config.softmax_window} tokens" if config.softmax_window else ""
    memory = "through a gate that begins closed" if config.memory_gate else "beside its own"
    facts = {
        **original.facts(),
        "mixer": f"linear attention, feature map {config.feature_map}{window}",
        "segment": f"{config.segment} tokens, with positions of their own; earlier ones are read {memory}",
    }
    if came:
        facts["texts"] = ", ".join(Path(name).name for name in settings.inputs)
    for name, facts_of in came.items():
        facts[name] = facts_of.line(said)
    return facts
