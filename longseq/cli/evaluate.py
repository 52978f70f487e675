"""`longseq evaluate SUMMARIES REFERENCES`"""

from __future__ import annotations

import logging
import shlex
import time
from contextlib import nullcontext
from dataclasses import replace

import click

from longseq.cli import exit
from longseq.cli.options import talking
from longseq.cli.talk import Talk

log = logging.getLogger("longseq")


@click.command()
@click.argument("summaries", metavar="SUMMARIES")
@click.argument("references", metavar="REFERENCES")
@click.option(
    "--documents", metavar="FILE", multiple=True, help="What was summed up, for baselines; may be given several times."
)
@click.option("--column", metavar="NAME", help="Column of a table of summaries.  [default: summary, text]")
@click.option(
    "--reference-column",
    metavar="NAME",
    help="Column of a table of references.  [default: abstract, summary, reference, highlights, text]",
)
@click.option("--document-column", metavar="NAME", help="Column of a table of documents.  [default: text]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of random sentences and of intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--out", metavar="FILE", help="Write the JSON document there.")
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@talking
def command(
    summaries: str,
    references: str,
    documents: tuple[str, ...],
    column: str | None,
    reference_column: str | None,
    document_column: str | None,
    seed: int,
    as_json: bool,
    out: str | None,
    force: bool,
    talk: Talk,
) -> int:
    """Summaries against references, by ROUGE, beside baselines of the same length.

    SUMMARIES is what `summarize --json` printed or `summarize --out` wrote, a table with the columns id and summary or
    text, or a folder of texts; REFERENCES a table with the columns id and abstract or summary, or a folder of texts. A
    text in a file of its own has the file's name for an id. With --documents, the first sentences, random ones,
    LexRank's and the best choice in sight of the reference stand beside.

    ROUGE is rouge-score's, stemmed; of references that are mostly in other letters than a to z, letters and words are
    counted. Exit code 3: something has no counterpart.
    """
    from longseq import __version__
    from longseq.formats.atomic import write_aside
    from longseq.formats.jsonfile import to_json
    from longseq.report.evaluation import evaluation_text, left_out
    from longseq.results.run import Run, peak_rss_mb
    from longseq.tasks.evaluate import EvaluateRequest, evaluate

    began = time.monotonic()
    request = EvaluateRequest(
        summaries=summaries,
        references=references,
        documents=documents,
        column=column,
        reference_column=reference_column,
        document_column=document_column,
        seed=seed,
    )
    run = Run(version=__version__, command=shlex.join(["longseq", *talk.arguments]))
    # An output that cannot be written is refused before anything is read.
    with write_aside(out, force=force) if out is not None else nullcontext() as aside:
        found = evaluate(request, run, talk.progress())
        found = replace(found, run=replace(run, seconds=time.monotonic() - began, peak_rss_mb=peak_rss_mb()))
        if aside is not None:
            aside.write_text(to_json(found.to_json()) + "\n", encoding="utf-8")
    click.echo(to_json(found.to_json()) if as_json else evaluation_text(found), nl=as_json)
    for line in left_out(found):
        log.error("%s", line)
    return exit.DONE if found.complete else exit.PARTLY
