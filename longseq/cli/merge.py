"""`longseq merge SHARD… --out OUT`"""

from __future__ import annotations

import importlib

import click

from longseq.cli.options import talking
from longseq.cli.talk import Talk
from longseq.errors import InputError, UsageError

PLAYERS = {
    "annotate": "longseq.cli.annotate",
    "classify": "longseq.cli.classify",
    "embed": "longseq.cli.embed",
    "score": "longseq.cli.score",
    "score --reference": "longseq.cli.variants",
    "summarize": "longseq.cli.summaries",
}
"""By the command that made the shards: the module whose `play(batch, out, *, force, talk)` writes the whole, says what
went wrong and gives the exit code."""


@click.command()
@click.argument("paths", metavar="DIR|SHARD...", nargs=-1, required=True)
@click.option("--out", metavar="PATH", required=True, help="What --out of the single run would be.")
@click.option("--npy", metavar="FILE", help="Of embed: write the vectors alone there as well.")
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out.")
@talking
def command(paths: tuple[str, ...], out: str, npy: str | None, force: bool, talk: Talk) -> int:
    """Shards into the whole: the files that one process would have written, byte for byte.

    Give the folder of a batch, or the folders of its shards (DIR/*-of-8). All shards must be there, once each, of one
    version, model and request, and of inputs that did not change meanwhile; what is not so is named. What differs by
    nature (seconds, memory, command, host) stands in run.json, and in the `run` block of JSON documents alone. Memory
    does not grow with the number of records. The exit code is that of the single run: 3 where records failed.
    """
    from longseq import __version__
    from longseq.tasks.shards.gather import gathered

    batch = gathered(paths, talk.progress())
    if batch.command not in PLAYERS or batch.version != __version__:
        raise InputError(
            where=str(batch.folders[0]),
            expected=f"shards of longseq {__version__}",
            found=f"those of {batch.command}, {batch.version}",
            remedy="merge them by the version that made them",
        )
    if npy is not None and batch.command != "embed":
        raise UsageError(f"--npy says nothing of {batch.command}", remedy="leave it out")
    more = {} if npy is None else {"npy": npy}
    return importlib.import_module(PLAYERS[batch.command]).play(batch, out, force=force, talk=talk, **more)
