"""`longseq oracle DATA… --out LABELS`"""

from __future__ import annotations

import logging

import click

from longseq.cli import exit
from longseq.cli.options import column_option, talking
from longseq.cli.talk import Talk

log = logging.getLogger("longseq")


@click.command()
@click.argument("documents", metavar="DATA...", nargs=-1, required=True)
@click.option("--references", metavar="FILE", help="Their references, by id.  [default: a column of DATA]")
@column_option
@click.option(
    "--reference-column",
    metavar="NAME",
    help="Column of the references.  [default: abstract, summary, reference, highlights, text]",
)
@click.option("--words", type=click.IntRange(1), help="Words to choose at most.  [default: as many as the reference]")
@click.option("--out", metavar="FILE", required=True, help="Write the labels there, a line of JSON a document.")
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@talking
def command(
    documents: tuple[str, ...],
    references: str | None,
    column: str | None,
    reference_column: str | None,
    words: int | None,
    out: str,
    force: bool,
    talk: Talk,
) -> int:
    """Which sentences of documents say what their references say: labels for an extractor.

    DATA is a table with the columns id, text and abstract or summary, or documents. Of each document those sentences
    are chosen, one after the other, that raise ROUGE-1 and ROUGE-2 against its reference most. A line of JSON holds id,
    budget, rouge1, rouge2 of the choice, and sentences: start, end (code points of the text), words, label (1: chosen),
    held (share of it that the reference holds). `longseq train DATA --task extract --labels LABELS` learns from them.

    Exit code 3: some documents have no reference.
    """
    from longseq.log import count
    from longseq.tasks.evaluate.labels import LabelRequest, write_labels

    request = LabelRequest(
        documents=documents, references=references, column=column, reference_column=reference_column, words=words
    )
    found = write_labels(request, out, force=force, progress=talk.progress())
    chosen = f"{found.chosen:,} of {count(found.sentences, 'sentence')}"
    said = f"{count(found.documents, 'document')}, {chosen} chosen"
    click.echo(f"{out}: {said}; ROUGE-1 {found.rouge1:.3f}, ROUGE-2 {found.rouge2:.3f}")
    if found.unmatched:
        some = ", ".join(found.unmatched[:5]) + (" …" if len(found.unmatched) > 5 else "")
        log.error("%s without a reference: %s", count(len(found.unmatched), "document"), some)
        return exit.PARTLY
    return exit.DONE
