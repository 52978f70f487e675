"""What commands that read files say of a run: where its results come from, and what went wrong."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from longseq.cli import exit
from longseq.cli.talk import Talk

if TYPE_CHECKING:
    from longseq.results.run import Run
    from longseq.results.source import SourceRow
    from longseq.tasks.document.written import Writer
    from longseq.tasks.summarize.model import LoadedModel

log = logging.getLogger("longseq")


def provenance(talk: Talk, loaded: Sequence[LoadedModel | Writer], sources: Sequence[SourceRow], seconds: float) -> Run:
    """Of a run that read `sources`, with a model or none."""
    from longseq import __version__
    from longseq.results.run import Run, peak_rss_mb

    tokens = sum(source.length for source in sources)
    run = Run(
        version=__version__,
        command=shlex.join(["longseq", *talk.arguments]),
        tokens=tokens,
        seconds=seconds,
        tokens_per_s=tokens / seconds,
        peak_rss_mb=peak_rss_mb(),
    )
    for model in loaded:
        names = ("device", "precision", "threads")
        facts = {name: getattr(model, name) for name in names}
        run = replace(run, model=model.name, model_sha256=model.sha256, **facts)
    return run


def say_shifts(loaded: Sequence[LoadedModel], sources: Sequence[SourceRow]) -> None:
    """Says which inputs are soft-masked otherwise than what a model learned from."""
    from longseq.tasks.summarize.model import mask_shift

    for model in loaded:
        for shift in filter(None, (mask_shift(source, model) for source in sources)):
            log.warning("%s", shift)


def verdict(sources: Sequence[SourceRow]) -> int:
    """Says what went wrong, and the exit code."""
    for line in (line for source in sources for line in source.problems):
        log.error("%s", line)
    return exit.DONE if all(source.whole for source in sources) else exit.PARTLY
