"""The command line: `longseq COMMAND …`. A command is imported when it runs, so help costs nothing.

Each module of a command holds a click command named `command`, which returns an exit code or nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from longseq.cli import exit
from longseq.cli.help import HelpContext
from longseq.cli.talk import Talk
from longseq.errors import meant

COMMANDS = {
    "summarize": "What is in sequences and documents, and where to look.",
    "annotate": "A class for each base, or genes of bacteria, as intervals.",
    "score": "Bits per base of records under a model, or what variants change.",
    "classify": "Classes of sequences or documents, by a model of your own.",
    "embed": "Vectors of records, windows, sections, sentences or bases.",
    "generate": "Continue a prompt, token by token, from a language model.",
    "train": "Train a model on sequences or documents.",
    "convert": "A trained BERT, RoBERTa or DistilBERT as a model of ours.",
    "tokenizer": "Learn a tokenizer from sequences or documents, and look at one.",
    "verify": "Prove that each sentence of a summary stands in its source.",
    "evaluate": "Summaries against references: ROUGE beside baselines.",
    "oracle": "Which sentences say what references say: for an extractor.",
    "check": "Prove that a model gives one answer, however a record is read.",
    "bench": "Speed and memory against length, on this machine.",
    "attention": "Weights of attention heads beside softmax, and how long they last.",
    "compare": "From recurrent nets to linear attention: models side by side.",
    "plan": "Cut a batch job into shards, and say how long they will take.",
    "merge": "Shards of a batch into the whole, as one process would write it.",
    "info": "What a file or folder is, and what can be done with it next.",
    "completion": "A script that lets Tab complete commands, options and values.",
}
"""Name, which is also the module's, and a line of help."""

EXAMPLES = {
    "summarize": "longseq summarize genome.fa.gz --out summary/",
    "annotate": "longseq annotate genome.fa.gz --model genes/model --out annotation/",
    "score": "longseq score variants.vcf.gz --reference genome.fa.gz --out scored.vcf.gz",
    "classify": "longseq classify contigs.fa --model genus/model --out classes/",
    "embed": "longseq embed genome.fa.gz --window 5000 --out vectors.parquet",
    "generate": "longseq generate --prompt ATGACCATTACG --length 300",
    "train": "longseq train genomes/*.fa --from dna --out run/ --minutes 10",
    "convert": "longseq convert all-MiniLM-L6-v2/ --out minilm/ --keep-softmax",
    "tokenizer": "longseq tokenizer train book.txt --unit characters --out tokenizer.json",
    "tokenizer train": "longseq tokenizer train book.txt --unit characters --out tokenizer.json",
    "tokenizer show": "longseq tokenizer show tokenizer.json 'A sentence to cut.'",
    "verify": "longseq verify summary/ book.pdf",
    "evaluate": "longseq evaluate summaries.json references.jsonl --documents articles.jsonl",
    "oracle": "longseq oracle articles.jsonl --out labels.jsonl",
    "check": "longseq check dna",
    "bench": "longseq bench --budget 60",
    "attention": "longseq attention dna genome.fa.gz --out attention/",
    "compare": "longseq compare --quick --out story/",
    "plan": "longseq plan genomes/*.fa.gz --shards 8 --out batch/",
    "merge": "longseq merge batch/ --out summary/",
    "info": "longseq info genome.fa.gz",
    "completion": "longseq completion bash",
}
"""A line of each command, and of the commands of a command, that works once the files are there; below its help."""


ASKED = "LONGSEQ_COMPLETE"
"""Variable by which a shell asks what could come next; the arguments are the words of its line, the last unfinished."""


class LazyGroup(click.Group):
    """Knows its commands by name; imports the one that is asked for."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"longseq.cli.{name}").command
        _teach(command, name)
        for inner, one in getattr(command, "commands", {}).items():
            _teach(one, f"{name} {inner}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if (near := meant(name, COMMANDS)) is not None:
            remedy = near
        elif os.path.exists(name):
            remedy = f"did you mean longseq summarize {name}?"
        else:
            remedy = f"commands: {', '.join(COMMANDS)}"
        raise click.UsageError(f"no such command {name!r}; {remedy}", ctx)


def _teach(command: click.Command, name: str) -> None:
    """Its page of help is like all others, and ends with its example."""
    command.context_class = HelpContext
    example = f"\b\nExample:\n  {EXAMPLES[name]}"  # \b: lines as they are
    if example not in (command.epilog or ""):
        command.epilog = f"{command.epilog}\n\n{example}" if command.epilog else example


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from longseq import __version__

        click.echo(f"longseq {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Genomes and long documents through linear attention, in constant memory.",
    epilog="longseq COMMAND --help says more. Exit codes: 0 done, 1 bad data, 2 usage, 3 finished with some records "
    "failed, 85 stopped and can be resumed, 130 interrupted.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_context
def group(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(exit.USAGE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code is returned, errors are said in a line on stderr."""
    # Compute threads that wait for one another spin for some ten microseconds and then sleep. Spinning for ever made
    # two threads on a busy machine slower than one; sleeping at once halves the speed of an idle one. Read when torch
    # wakes; the user's own setting wins.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    # Arrow's own pool keeps what was freed, tens of megabytes of it. Read when pyarrow is first imported.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    arguments = list(sys.argv[1:] if argv is None else argv)
    if ASKED in os.environ:
        from longseq.cli.completion.line import answer

        return answer(group, arguments)
    talk = Talk(arguments)

    def run() -> int:
        with group.make_context("longseq", arguments, obj=talk) as ctx:
            return group.invoke(ctx) or exit.DONE

    return exit.guarded(run, talk)
