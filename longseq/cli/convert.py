"""`longseq convert MODEL --out DIR`"""

from __future__ import annotations

import json
import logging
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longseq.cli.fitting import given, refuse
from longseq.cli.opening import OF_A_TRANSFORMER, opened
from longseq.cli.options import talking
from longseq.cli.report_card import report
from longseq.cli.talk import Talk
from longseq.log import count

if TYPE_CHECKING:
    from longseq.model import Model
    from longseq.training import Plan

log = logging.getLogger("longseq")

LISTED = 5
"""Tensors that were left out, by name."""
OF_LINEAR = (
    "texts",
    "exclude",
    "labelled",
    "no_report",
    "feature_map",
    "window",
    "minutes",
    "resume",
    "device",
    "threads",
    "precision",
)
"""Options that say nothing where the softmax is kept."""
OF_CONVERTING = ("exclude", "no_report", "feature_map", "window", "minutes", "segment", "resume", "device", "precision")
"""Options that say nothing of a conversion that stands."""
OF_A_REPORT = ("labelled", "no_report")
"""Options that say nothing without texts to report on."""


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("--out", metavar="DIR", help="Checkpoint directory to write.")
@click.option("--report", "report_of", metavar="DIR", help="Write the report card of a conversion that stands there.")
@click.option("--keep-softmax", is_flag=True, help="Keep the model's own attention: the same vectors, by segment.")
@click.option("--open-memory", is_flag=True, help="Of a linear MODEL: open its gates to earlier segments, on --texts.")
@click.option("--teacher", metavar="MODEL", help="With --open-memory: the Transformer that it was converted from.")
@click.option("--texts", metavar="PATH", multiple=True, help="File or folder with texts to learn from, without labels.")
@click.option(
    "--exclude", metavar="FILE", multiple=True, help="Texts to leave out, with all that hold a sentence of them."
)
@click.option("--labelled", metavar="FILE", multiple=True, help="Table of texts with classes, for the report card.")
@click.option("--no-report", is_flag=True, help="No report card of texts that were left out.")
@click.option("--map", "feature_map", metavar="NAME", help="Feature map of linear attention.  [default: wide-hedgehog]")
@click.option(
    "--window",
    metavar="TOKENS",
    type=click.IntRange(0),
    help="Tokens of windows inside a segment in which the softmax is kept; 0: none.  [default: 0]",
)
@click.option("--minutes", type=float, help="Wall time of the training at most, over all resumes.  [default: 40]")
@click.option("--tokenizer", metavar="FILE", help="tokenizer.json.  [default: that of MODEL, or its vocab.txt]")
@click.option(
    "--segment",
    metavar="TOKENS",
    type=click.IntRange(3),
    help="Tokens read at once, special ones included.  [default: as many as MODEL has positions]",
)
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="One setting, such as distil.rate=1e-4.")
@click.option("--device", help="auto, cpu, cuda, cuda:1.  [default: auto]")
@click.option("--threads", type=click.IntRange(1), help="Threads of the processor.")
@click.option("--precision", type=click.Choice(["fp32", "bf16", "fp16"]), help="Of matrix products.  [default: fp32]")
@click.option("--resume", is_flag=True, help="Go on where a conversion stopped in DIR, or begin where there is none.")
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@click.pass_context
@talking
def command(
    context: click.Context,
    model: str,
    out: str | None,
    report_of: str | None,
    keep_softmax: bool,
    open_memory: bool,
    teacher: str | None,
    texts: tuple[str, ...],
    exclude: tuple[str, ...],
    labelled: tuple[str, ...],
    no_report: bool,
    feature_map: str | None,
    window: int | None,
    minutes: float | None,
    tokenizer: str | None,
    segment: int | None,
    assignments: tuple[str, ...],
    device: str | None,
    threads: int | None,
    precision: str | None,
    resume: bool,
    force: bool,
    talk: Talk,
) -> None:
    """A trained Transformer as a linear model, which reads a text of any length in constant memory; or, with
    --keep-softmax, as it is. Either is a checkpoint that embed, check and info take.

    MODEL is a directory with the config.json and model.safetensors of a BERT, RoBERTa or DistilBERT, a softmax
    checkpoint of ours, or a safetensors file of the tensors of a model with one torch.nn.TransformerEncoder in it. What
    such a file does not say is set: teacher.heads=4, teacher.activation=gelu, teacher.norm_first=true,
    teacher.norm_epsilon=1e-5, teacher.embedding=NAME and teacher.positions=NAME of the tensors with embeddings of
    tokens and positions; --tokenizer is needed too. Pickles are refused.

    The linear model learns in two stages from --texts, any that `train` reads: each layer's attention what the softmax
    says of the same vectors (transfer), then the whole model the vectors of MODEL (distil). --set transfer.steps=0
    leaves a stage out, distil.rank=16 trains low-rank adapters in the second, texts.sentences=0.5 is the share of
    single sentences in what is read. DIR/training keeps what --resume needs, learning curves and errors of each layer.

    A report card of the texts to --exclude stands in DIR at the end, report.html and report.json: what was kept of
    MODEL, by layer, by length of a text and of classes that are told from vectors, speed and memory beside it, and one
    more turn of a conversation. --report DIR writes it anew, on the --texts given then.

    With --open-memory MODEL is a linear model that was made so, which reads each segment by itself at first: gates to
    earlier segments learn on long --texts what --teacher says of a segment with the earlier ones beside it.
    It must have positions for two segments; --segment of the conversion makes them shorter. --set opening.trained=maps
    or all learns more than the gates; with the gates alone, texts of one segment stay exactly as they were.

    A text is read in segments, with the model's special tokens around each and positions that start anew: hidden
    vectors are those of the original model, of a longer text those of its windows. Heads and poolers are left out.
    """
    from longseq.config import load
    from longseq.errors import UsageError
    from longseq.report.conversion import free_report
    from longseq.tasks.convert import Settings, Source, convert, linearise
    from longseq.tasks.convert.card.texts import read_labelled, read_texts
    from longseq.training.transfer import excluded_texts
    from longseq.training.transfer.scoring import said

    if (out is None) == (report_of is None):
        raise UsageError("--out DIR to convert, or --report DIR of a conversion that stands there", remedy="give one")
    if resume and force:
        raise UsageError("--resume and --force exclude each other", remedy="give one of them")
    if open_memory:
        refuse(context, OF_A_TRANSFORMER, "--open-memory")
    elif teacher is not None:
        raise UsageError("--teacher is of --open-memory alone", remedy="leave it out: MODEL is the teacher")
    if keep_softmax:
        refuse(context, OF_LINEAR, "--keep-softmax")
    if report_of is not None:
        refuse(context, ("keep_softmax", *OF_CONVERTING), "--report")
        if not texts:
            raise UsageError("--report needs texts", remedy="--texts PATH names some that it did not learn from")
    elif no_report:
        refuse(context, ("labelled",), "--no-report")
    if out is not None and not exclude:
        for option in given(context, OF_A_REPORT):
            raise UsageError(f"{option} is of a report card", remedy="--exclude FILE names the texts that it is of")
    flags = {
        "inputs": texts or None,
        "exclude": exclude or None,
        "minutes": minutes,
        "device": device,
        "threads": threads,
        "precision": precision,
    }
    if open_memory:
        assert out is not None
        flags["teacher"] = teacher
        for line in opened(model, out, flags, assignments, resume=resume, force=force, talk=talk):
            click.echo(line)
        return
    flags |= {"map": feature_map, "window": window}
    told = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in flags.items() if value is not None]
    settings = load(Settings, None, [*assignments, *told])
    if keep_softmax and settings != Settings(teacher=settings.teacher):
        raise UsageError("--keep-softmax leaves nothing to --set but teacher.*", remedy="leave the others out")
    source = Source(model=model, tokenizer=tokenizer, segment=segment, teacher=settings.teacher)
    card = partial(
        report,
        source,
        labelled=[read_labelled(file, column=settings.texts.column) for file in labelled],
        threads=settings.threads or 1,
        command=shlex.join(["longseq", *talk.arguments]),
        progress=talk.progress(),
    )
    if report_of is not None:
        if not Path(report_of).is_dir():
            raise UsageError("no conversion stands there", where=report_of, remedy="--out DIR makes one")
        free_report(report_of, force=force)
        click.echo(card(report_of, read_texts(texts, settings.texts.column), force=force), nl=False)
        return
    assert out is not None
    if keep_softmax:
        kept = convert(source, out, force=force)
        _say(out, kept.kind, kept.model, kept.special, kept.left, "softmax kept")
        return

    held_out = [] if no_report else excluded_texts(exclude)
    if exclude and not (no_report or held_out):
        log.warning("no report card: --exclude names ids of documents, and no texts")

    def announce(stage: str, plan: Plan) -> None:
        for line in plan.lines():
            log.info("%s: %s", stage, line)

    made = linearise(source, settings, out, resume=resume, force=force, progress=talk.progress(), announce=announce)
    config = made.model.config
    inside = f", softmax in windows of {config.softmax_window} tokens" if config.softmax_window else ""
    _say(out, made.kind, made.model, made.special, made.left, f"{config.feature_map} in place of the softmax{inside}")
    for name, came in made.came.items():
        click.echo(f"{name}: {came.line(said, timed=True)}")
    if held_out:
        click.echo(card(out, held_out, force=True), nl=False)


def _say(out: str, kind: str, model: Model, special: tuple[str, ...], left: tuple[str, ...], how: str) -> None:
    config = model.config
    parameters = sum(p.numel() for p in model.parameters())
    around = f", {' and '.join(special)} included" if special else ""
    line = f"{out}: {kind} of {count(config.layers, 'layer')}, {parameters:,} parameters, {how}"
    if config.visibility == "segment":
        line += f"; reads segments of {config.segment} tokens{around}"
    click.echo(line)
    if left:
        more = f" and {len(left) - LISTED} more" if len(left) > LISTED else ""
        click.echo(f"left out: {', '.join(left[:LISTED])}{more}")
