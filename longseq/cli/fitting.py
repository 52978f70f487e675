"""Options that were given, and others or inputs beside which they say nothing: refused where that is known before the
work, else said after it."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import click
from click.core import ParameterSource

from longseq.errors import UsageError

log = logging.getLogger("longseq")

OF_A_MODEL = ("model", "strands", "per_base")
"""Options of `summarize` that say nothing without the model that reads for bits."""
OF_COMPUTING = ("device", "precision", "chunk")
"""Without any model, a classifier included. Not `threads`, which job scripts give to every command."""
OF_DNA = (
    *("strands", "per_base", "window", "min_contig", "sample_fraction", "seed", "regions_fasta", "classifier"),
    *("pyrodigal", "on_unknown"),
)
"""Without DNA; so do those of a model, unless one writes of documents."""
OF_DOCUMENTS = (
    *("sentences", "words", "characters", "ratio", "by", "queries", "must_include", "exclude", "extractor", "together"),
    *("one_pass", "method", "save_text"),
)
"""Without a document."""


def given(context: click.Context, names: Iterable[str]) -> list[str]:
    """Those of the named parameters that stand on the command line, spelled as options; defaults do not count."""
    spelled = {param.name: param.opts[0] for param in context.command.params}
    return [spelled[name] for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]


def refuse(context: click.Context, names: Iterable[str], other: str, remedy: str = "leave one of them out") -> None:
    """Raises UsageError: one of the named parameters was given, which `other`, given as well, leaves nothing to say."""
    for option in given(context, names):
        raise UsageError(f"{option} cannot be combined with {other}", remedy=remedy)


def refuse_idle(context: click.Context, *, no_model: bool, classifier: bool, writes: bool, kind: str | None) -> None:
    """Of `summarize`, before its inputs are opened; `writes`: a model writes of documents.

    Raises:
        UsageError: an option of models without one, of DNA where all are documents, of documents where all are DNA.
    """
    if no_model:
        refuse(context, (*OF_A_MODEL, *(() if classifier else OF_COMPUTING)), "--no-model")
    if kind is not None:
        refuse(context, _of_dna(writes) if kind == "document" else OF_DOCUMENTS, f"--kind {kind}")


def say_idle(context: click.Context, kinds: Iterable[str | None], *, writes: bool) -> None:
    """Of `summarize`, when the kinds of its inputs are known: which options had no effect."""
    found = set(kinds)
    for kind, options, what in (("dna", _of_dna(writes), "DNA"), ("document", OF_DOCUMENTS, "a document")):
        if kind not in found and (idle := given(context, options)):
            log.warning("no input holds %s: %s had no effect", what, ", ".join(idle))


def _of_dna(writes: bool) -> tuple[str, ...]:
    return OF_DNA if writes else (*OF_DNA, "model", *OF_COMPUTING)
