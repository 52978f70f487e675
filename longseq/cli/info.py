"""`longseq info PATH`"""

from __future__ import annotations

from typing import Any

import click

from longseq.cli import exit
from longseq.cli.options import column_option, talking
from longseq.cli.talk import Talk


@click.command()
@click.argument("path")
@click.option("--kind", type=click.Choice(["dna", "document"]), help="What a file is, whatever it looks like.")
@column_option
@click.option("--model", metavar="NAME|DIR", help="Check that a saved state belongs to this model.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@talking
def command(path: str, kind: Any, column: str | None, model: str | None, as_json: bool, talk: Talk) -> int:
    """What a file or folder is, the facts about it, and what can be done with it next.

    PATH is a file of sequences, documents, variants, intervals, tracks, tables or vectors; a checkpoint directory or
    the name of a shipped one; the folder of a training run or of a conversion (where it stands); a saved state; the
    folder of a batch (which shards are done, failed, slow or left, and which to run again, as `sbatch --array=` takes
    them), a plan or a shard; what a command wrote; a tokenizer.json; settings; or `-` for standard input. Exit code 3:
    it ends too early, or some of it cannot be read.
    """
    from longseq.formats.jsonfile import to_json
    from longseq.report.facts import facts_text
    from longseq.tasks.info import describe

    facts = describe(path, kind=kind, column=column, model=model)
    click.echo(to_json(facts) if as_json else facts_text(facts), nl=as_json)
    return exit.PARTLY if facts.get("truncated") or facts.get("problem") else exit.DONE
