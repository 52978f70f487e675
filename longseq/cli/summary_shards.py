"""`summarize` in shards: one of them, or all of them at once."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from longseq.cli.sharding import Shards, run_jobs, run_shard
from longseq.cli.summaries import play
from longseq.cli.talk import Talk

if TYPE_CHECKING:
    from longseq.cli.summary_models import Models
    from longseq.tasks.shards.attempt import Attempt
    from longseq.tasks.shards.folder import Shard
    from longseq.tasks.shards.gather import Batch
    from longseq.tasks.summarize.request import Request


def in_shards(
    shards: Shards,
    inputs: tuple[str, ...],
    samples: list[str],
    request: Request,
    models: Models,
    *,
    out: str,
    style: str,
    plots: tuple[str, ...],
    force: bool,
    talk: Talk,
) -> int:
    """Do what `--shard` or `--jobs` asks for; the exit code.

    Raises:
        UsageError: a request that cannot be cut.
    """
    from longseq.formats.atomic import free_directory
    from longseq.tasks.shards.attempt import Attempt
    from longseq.tasks.shards.order import Order, Reading
    from longseq.tasks.summarize.files import summarize_part
    from longseq.tasks.summarize.kept import KINDS, Keeper
    from longseq.tasks.summarize.request import plain_request

    documents = request.documents
    cannot = {"--region": bool(request.regions), "--together": documents.together, "--one-pass": documents.one_pass}
    shards.refuse(cannot)
    reading = Reading(kind=request.kind, column=request.column, on_unknown=request.on_unknown)
    if shards.jobs is not None:
        free_directory(out, force=force)

        def whole(batch: Batch) -> int:
            return play(batch, out, force=force, talk=talk, style=style)

        return run_jobs(shards, inputs, reading, out, whole, talk=talk)
    shards.refuse({f"--format {style}": style != "text"})
    attempt = Attempt(shlex.join(["longseq", *talk.arguments]))
    digests: dict[str, str] = {}
    if any(models.named().values()):
        from longseq.tasks.shards.models import model_digests

        digests = model_digests(models.named())
    asked = {"request": plain_request(request), "samples": samples, "plots": list(plots), **models.plain()}
    order = Order(command="summarize", inputs=inputs, request=asked, models=digests, reading=reading)

    def work(shard: Shard, attempt: Attempt) -> None:
        writer = models.writer()
        shard.sources = summarize_part(
            inputs,
            shard.part,
            request,
            Keeper(shard.spool),
            surprisal=models.surprisal if models.reads else None,
            progress=talk.progress(),
            extras=models.extras(),
            writer=writer,
        )
        for model in models.used:
            attempt.read_by(model)
        for model in models.readers:
            shard.facts = {"model": model.name, "soft_masked": model.soft_masked}

    return run_shard(shards, order, out, KINDS, work, attempt=attempt, force=force, talk=talk)
