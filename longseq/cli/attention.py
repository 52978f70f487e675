"""`longseq attention MODEL [FILE]`"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import Any

import click

from longseq.cli.leaving import leaving
from longseq.cli.options import device_option, plots_option, talking, threads_option
from longseq.cli.talk import Talk
from longseq.errors import InputError, UsageError

TOKENS = 64
MOST = 512
"""Tokens: that of `tasks.attention`, which is not imported for a page of help."""


@click.command()
@click.argument("model")
@click.argument("file", required=False)
@click.option("--text", metavar="TEXT", help="What is read: DNA, or text.")
@click.option("--region", metavar="NAME[:START-END]", help="Of FILE, this stretch; without it, its first record.")
@click.option("--tokens", type=click.IntRange(2, MOST), default=TOKENS, show_default=True, help="Of it that are shown.")
@click.option("--teacher", metavar="DIR", help="The Transformer that MODEL was converted from, to stand beside it.")
@click.option(
    "--head",
    "heads",
    metavar="LAYER.HEAD",
    multiple=True,
    help="Show this head, from 1.1 on; may be repeated.  [default: the one most, one middling, the one least like "
    "softmax]",
)
@click.option("--out", metavar="DIR", help="Write attention.json, the weights and a page, attention.html, there.")
@plots_option
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@threads_option
@device_option
@talking
def command(
    model: str,
    file: str | None,
    text: str | None,
    region: str | None,
    tokens: int,
    teacher: str | None,
    heads: tuple[str, ...],
    out: str | None,
    plots: tuple[str, ...],
    force: bool,
    as_json: bool,
    threads: int,
    device: str,
    talk: Talk,
) -> None:
    """The weights of attention heads on a short text, beside softmax, and how long each head remembers.

    MODEL is a checkpoint directory or the name of a shipped one; it reads the beginning of FILE, or of --text. What a
    head reads of a text is a table of weights, in its linear form as in softmax attention: both stand side by side.
    Beside linear and gated attention stands what softmax makes of the same queries and keys; with --teacher the softmax
    of the Transformer that MODEL was converted from, and how much of it each head kept. Mixers of the delta rule and
    others with signs have tables of their own, and no softmax beside them.

    weights.npy in --out is (layers, heads, tokens, tokens), NaN of layers without attention.
    """
    if (file is None) == (text is None):
        raise UsageError("what is to be read: a FILE or --text", remedy="give one of them")
    if region is not None and file is None:
        raise UsageError("--region is of a FILE", remedy="leave it out")
    import numpy as np

    from longseq import __version__
    from longseq.formats.jsonfile import to_json
    from longseq.report.attention import attention_text
    from longseq.report.attention_page import attention_page
    from longseq.report.plots.attention import save_attention
    from longseq.results.attention import shown
    from longseq.results.run import Run, peak_rss_mb
    from longseq.tasks.attention import look, reads_dna
    from longseq.tasks.summarize.model import load_checkpoint

    began = time.monotonic()
    with leaving("attention", out, plots, force=force, more=("weights.npy",)) as folder:
        checkpoint = load_checkpoint(model, device=device, threads=threads)
        dna = reads_dna(checkpoint)
        found = look(checkpoint, _pieces(file, text, region, dna=dna), tokens, teacher)
        known = {head.name for head in found.heads}
        for name in heads:
            if name not in known:
                raise UsageError(where="--head", expected=f"one of {', '.join(sorted(known))}", found=name)
        chosen = shown(found, heads)
        run = Run(
            version=__version__,
            command=shlex.join(["longseq", *talk.arguments]),
            model=model,
            model_sha256=found.sha256,
            device=device,
            threads=threads,
            tokens=found.read,
            seconds=time.monotonic() - began,
            peak_rss_mb=peak_rss_mb(),
        )
        if folder is not None:
            folder.write(found.to_json(run), attention_page(found, chosen, run))
            np.save(folder.path / "weights.npy", found.stacked())
            if plots:
                save_attention(folder.plots, plots, found, chosen)
    click.echo(to_json(found.to_json(run)) if as_json else attention_text(found), nl=as_json)


def _pieces(file: str | None, text: str | None, region: str | None, *, dna: bool) -> Iterator[Any]:
    """The letters of the record that is read."""
    if text is not None:
        yield text.encode(errors="surrogateescape") if dna else text
        return
    from longseq.formats import read
    from longseq.formats.region import pick_each
    from longseq.records import Interval

    assert file is not None
    with read(file, kind=None if dna else "document") as reading:
        records: Any = iter(reading)
        if region is not None:
            again = None if reading.size is None else lambda: read(file)
            records = pick_each(reading, (Interval.parse(region),), source=file, alias=(), again=again, strict=False)
        record = next(records, None)
        if record is None:
            raise InputError(where=file, expected="a record", found="none")
        if (record.kind == "dna") != dna:
            wanted = "DNA" if dna else "text"
            raise InputError(where=record.where, expected=f"{wanted}, which the model reads", found=record.kind)
        yield from record.pieces
