"""`longseq train INPUT… --out RUN`"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longseq.cli import extract
from longseq.cli.options import talking
from longseq.cli.talk import Talk
from longseq.config import read_toml
from longseq.log import learned

if TYPE_CHECKING:
    from longseq.training import Outcome, Plan

log = logging.getLogger("longseq")


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1)
@click.option("--out", metavar="RUN", required=True, help="Directory of the run.")
@click.option("--config", metavar="FILE", help="Settings, as TOML.  [default with --resume: RUN/run.toml]")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="One setting, such as data.window=4096.")
@click.option(
    "--task",
    help="next, masked, classify, multilabel, regress, annotate, seq2seq, extract.  [default: what labels are for]",
)
@click.option("--labels", metavar="FILE", help="Labels of records (a table), or of bases (BED, GFF3, GTF, GenBank).")
@click.option("--tokenizer", metavar="FILE", help="Learn from documents, or DNA in words, cut by this tokenizer.json.")
@click.option("--from", "start", metavar="MODEL", help="Start from the encoder of this model.")
@click.option("--freeze", type=click.Choice(["nothing", "encoder"]), help="What is not trained.  [default: nothing]")
@click.option("--minutes", type=float, help="Wall time at most, over all resumes.")
@click.option("--device", help="auto, cpu, cuda, cuda:1.  [default: auto]")
@click.option("--threads", type=click.IntRange(1), help="Threads of the processor.")
@click.option("--precision", type=click.Choice(["fp32", "bf16", "fp16"]), help="Of matrix products.  [default: fp32]")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in RUN, or begin where there is none.")
@click.option("--force", is_flag=True, help="Start a run anew that stands in RUN.")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be done and how long it takes, try one step, write nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print plan and outcome as JSON.")
@talking
def command(
    inputs: tuple[str, ...],
    out: str,
    config: str | None,
    assignments: tuple[str, ...],
    task: str | None,
    labels: str | None,
    tokenizer: str | None,
    start: str | None,
    freeze: str | None,
    minutes: float | None,
    device: str | None,
    threads: int | None,
    precision: str | None,
    resume: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
    talk: Talk,
) -> None:
    """Train a model on DNA: to foretell the next base, or what labels say of records or of bases; on documents; or on
    pairs of texts.

    An INPUT is a file in any of FASTA, FASTQ, GenBank, EMBL, 2bit, with --tokenizer of text or Markdown, as it is or
    packed by gzip, bgzip, bzip2, xz or zstd, a table with a sequence or text a row (CSV, TSV, JSON lines, Parquet,
    Arrow; --set data.text=COLUMN), or a folder of such files. The labels of records are a table with their ids in the
    first column and the label in another (--set labels.column=NAME), or stand in the table that is the only INPUT,
    beside texts or names of files (path, file); a part of the records is held out, and the figures on it are printed
    beside what is reached without reading. Of pairs (--task seq2seq) an INPUT is a table with the columns source
    and target (--set pairs.source=NAME); `longseq generate` then answers a source. To extract (--task extract) --labels
    are what `longseq oracle` wrote of the documents; `longseq summarize --extractor RUN/model` then asks the model. The
    model ends up in RUN/model, for `--model`. TERM, USR1 or Ctrl-C save what was done; `--resume` goes on. Many
    processes: start the same command with srun or torchrun.
    """
    from longseq.config import load
    from longseq.errors import UsageError
    from longseq.formats.features import holds_intervals
    from longseq.training import TrainConfig, train

    if resume and force:
        raise UsageError("--resume and --force exclude each other", remedy="give one of them")
    kept = Path(out) / "run.toml"
    file = config or (kept if resume and kept.exists() else None)
    if extract.meant(task, config, assignments):
        others = {"--tokenizer": tokenizer, "--freeze": freeze, "--minutes": minutes, "--device": device}
        extract.train_extractor(
            out,
            config,
            assignments,
            {"inputs": inputs or None, "task": task, "labels": labels, "start": start, "threads": threads},
            others | {"--precision": precision, "--resume": resume, "--dry-run": dry_run},
            force=force,
            as_json=as_json,
            talk=talk,
        )
        return
    open_ = file is None or not _says_task(file)
    own = _own(inputs[0], task, assignments) if labels is None and open_ and len(inputs) == 1 else {}
    if own:
        assignments = ("task=classify", *assignments)
    elif labels is not None and open_:  # what `task` and the settings say comes after, and counts
        assignments = (f"task={'annotate' if holds_intervals(labels) else 'classify'}", *assignments)
    flags = {
        "task": task,
        "labels.file": labels,
        "data.tokenizer": tokenizer,
        "start": start,
        "freeze": freeze,
        "minutes": minutes,
        "device": device,
        "threads": threads,
        "precision": precision,
        "inputs": inputs or None,
        **own,
    }
    given = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in flags.items() if value is not None]
    settings = load(TrainConfig, file, [*assignments, *given])
    plans: list[Plan] = []

    def announce(plan: Plan) -> None:
        plans.append(plan)
        for line in plan.lines():
            if dry_run and not as_json:
                click.echo(line)  # the result of a dry run
            else:
                log.info("%s", line)

    outcome = train(
        settings, out, resume=resume, force=force, dry_run=dry_run, progress=talk.progress(), announce=announce
    )
    if not plans:
        return  # one of many processes: the first one speaks
    if as_json:
        click.echo(_json(plans[0], outcome))
    elif outcome.model is not None:
        click.echo(_line(outcome))


def _says_task(file: str | Path) -> bool:
    """Whether settings say what is learned, or from which labels; what cannot be read is said by who reads it next."""
    try:
        return bool({"task", "labels"} & read_toml(file).keys())
    except (OSError, ValueError):
        return True


def _own(name: str, task: str | None, assignments: tuple[str, ...]) -> dict[str, object]:
    """What the only input stands for where it is a table with labels and nothing else is asked for."""
    from longseq.training.alone import settings_of

    given = {key: value.strip("'\"") for key, _, value in (text.partition("=") for text in assignments)}
    if (task or given.get("task", "classify")) not in ("classify", "multilabel", "regress") or "labels.file" in given:
        return {}
    return settings_of(name, column=given.get("labels.column", "label"), text=given.get("data.text"))


def _line(outcome: Outcome) -> str:
    text = f"{outcome.model}: {learned(outcome.step, outcome.tokens, outcome.seconds)}"
    return f"{text}; {outcome.held_out}" if outcome.held_out else text


def _json(plan: Plan, outcome: Outcome) -> str:
    from longseq.formats.jsonfile import to_json

    return to_json({"schema": "longseq.train/1", "plan": plan, "outcome": outcome})
