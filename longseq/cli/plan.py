"""`longseq plan INPUT… --shards N --out DIR`"""

from __future__ import annotations

from typing import Any

import click

from longseq.cli.options import column_option, talking, unknown_option
from longseq.cli.talk import Talk
from longseq.log import count, duration


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--shards", type=int, required=True, help="Parts to cut the inputs into.")
@click.option("--out", metavar="DIR", required=True, help="Folder of the batch; plan.json is written there.")
@click.option(
    "--kind",
    type=click.Choice(["dna", "document", "variants"]),
    help="As the command will be told; of score VCF: variants.",
)
@column_option
@unknown_option
@click.option("--rate", type=float, metavar="LETTERS/S", help="Letters a second of one job, for the estimate.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@talking
def command(
    inputs: tuple[str, ...],
    shards: int,
    out: str,
    kind: Any,
    column: str | None,
    on_unknown: str,
    rate: float | None,
    as_json: bool,
    talk: Talk,
) -> None:
    """Which records each shard of a batch has, and what the longest one will take.

    Inputs are read once: DIR/plan.json has their sizes, digests, records and letters. They are cut between records
    only, so that the shard with the most letters has as few as can be. Then `longseq summarize INPUT... --shard I/N
    --out DIR` makes each shard, and `longseq merge DIR` the whole; a shard that finds no plan makes the same one. PDF,
    DOCX and EPUB count by their bytes.

    The estimate goes by --rate, else by the shards in DIR that are done.
    """
    from longseq.errors import UsageError
    from longseq.formats.folders import files
    from longseq.formats.jsonfile import to_json
    from longseq.tasks.shards.batch import rate_of
    from longseq.tasks.shards.order import Reading
    from longseq.tasks.shards.part import name_of
    from longseq.tasks.shards.plan import planned

    if rate is not None and rate <= 0:
        raise UsageError(where="--rate", expected="letters a second, above 0", found=str(rate))
    reading = Reading(kind=kind, column=column, on_unknown=on_unknown)
    plan = planned(out, files(inputs), shards, reading, talk.progress())
    rate = rate_of(out) if rate is None else rate
    seconds = None if rate is None else plan.longest / rate
    if as_json:
        estimate = {"longest_letters": plan.longest, "rate": rate, "longest_seconds": seconds}
        click.echo(to_json(plan.to_json() | {"estimate": estimate}))
        return
    for number, shard in enumerate(plan.shards, 1):
        click.echo(f"{name_of(number, shards)}  {count(shard.letters, 'letter')}, {count(shard.records, 'record')}")
    said = "--rate LETTERS/S says how long that takes" if seconds is None else f"about {duration(seconds)}"
    click.echo(f"{out}: {count(plan.letters, 'letter')}; the longest job has {plan.longest:,}: {said}")
