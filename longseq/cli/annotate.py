"""`longseq annotate INPUT --model DIR --out DIR`"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from longseq.cli.options import computing, reading, talking
from longseq.cli.sources import provenance, verdict
from longseq.cli.talk import Talk
from longseq.log import count


@click.command()
@click.argument("source", metavar="INPUT")
@click.option(
    "--model", metavar="DIR", required=True, help="Model of each base's class, as train --task annotate makes."
)
@click.option("--out", metavar="DIR", required=True, help="Write tracks, intervals and tables there.")
@click.option("--force", is_flag=True, help="Replace what an earlier run left in --out.")
@click.option("--min-length", type=click.IntRange(1), default=1, show_default=True, help="Bases of an interval.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Least mean probability of an interval.",
)
@reading(tables=False)
@computing
@talking
def command(
    source: str,
    model: str,
    out: str,
    force: bool,
    min_length: int,
    threshold: float,
    asked: Callable[[], dict[str, Any]],
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    talk: Talk,
) -> int:
    """Class probabilities of every base, and the intervals that they make.

    INPUT is a file in any of FASTA, FASTQ, GenBank, EMBL, 2bit, BAM, CRAM, SAM, as it is or packed, or `-` for
    standard input. The model reads each record and its reverse complement from end to end, without seams; the
    probabilities are averaged, those of classes `name+` and `name-` crosswise.

    DIR gets tracks/CLASS.bw (bigWig, float32, a gap where a base is N), intervals.bed (name, score, strand, mean
    probability in column 7), intervals.gff3, records.tsv and annotation.json. An interval is a run of bases of which
    one class is the likeliest; the background, the first class, makes none, and neither does N. Of a record that the
    file calls circular one may cross the origin: in GFF3 it ends behind the record's end, in BED it has two lines.
    """
    from longseq.formats.atomic import free_directory
    from longseq.results.run import Run
    from longseq.results.source import SourceRow
    from longseq.streaming.classes import ClassReader
    from longseq.tasks.annotate.run import Request, annotate
    from longseq.tasks.summarize.model import load_checkpoint

    began = time.monotonic()
    request = Request(source=source, shortest=min_length, threshold=threshold, **asked())
    free_directory(out, force=force)
    checkpoint = load_checkpoint(model, device=device, threads=threads)
    reader = ClassReader(checkpoint, chunk=chunk, precision=precision)

    def facts(row: SourceRow) -> Run:
        run = provenance(talk, [], [row], time.monotonic() - began)
        run = replace(run, model=model, model_sha256=checkpoint.sha256)
        return replace(run, device=device, precision=precision, threads=threads)

    row, intervals = annotate(request, reader, out, provenance=facts, force=force, progress=talk.progress())
    click.echo(f"{out}: {count(row.records, 'record')}, {count(row.length, 'base')}, {count(intervals, 'interval')}")
    return verdict([row])
