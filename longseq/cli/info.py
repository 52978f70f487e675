"""`longseq info PATH`"""

from __future__ import annotations

from typing import Any

import click

from longseq.cli.options import column_option, talking
from longseq.cli.talk import Talk


@click.command()
@click.argument("path")
@click.option("--kind", type=click.Choice(["dna", "document"]), help="What a file is, whatever it looks like.")
@column_option
@click.option("--model", metavar="NAME|DIR", help="Check that a saved state belongs to this model.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@talking
def command(path: str, kind: Any, column: str | None, model: str | None, as_json: bool, talk: Talk) -> None:
    """Facts about a file, a checkpoint, a training run, a stopped conversion, a saved state or a batch of shards.

    PATH is a file of sequences or documents, a checkpoint directory or the name of a shipped one, the directory of a
    training run or of a conversion (where it stands), a saved state, the folder of a batch (which shards are done,
    failed, slow or left, and which to run again, as `sbatch --array=` takes them), or `-` for standard input.
    """
    from longseq.formats.jsonfile import to_json
    from longseq.report.facts import facts_text
    from longseq.tasks.info import describe

    facts = describe(path, kind=kind, column=column, model=model)
    click.echo(to_json(facts) if as_json else facts_text(facts), nl=as_json)
