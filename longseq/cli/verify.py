"""`longseq verify SUMMARY [SOURCE…]`"""

from __future__ import annotations

import sys

import click

from longseq.cli import exit
from longseq.cli.options import talking
from longseq.cli.talk import Talk

CODES = {"stands": exit.DONE, "fails": exit.BAD_DATA, "unchecked": exit.PARTLY}


@click.command()
@click.argument("summary", metavar="SUMMARY")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option(
    "--texts", metavar="DIR", help="What summarize --save-text kept.  [default: where it wrote, or beside SUMMARY]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@talking
def command(summary: str, sources: tuple[str, ...], texts: str | None, as_json: bool, talk: Talk) -> int:
    """Whether each sentence of a summary still stands in its source where the summary says.

    SUMMARY is what `longseq summarize --json` or `--format jsonl` printed, the folder that it wrote, or `-`. Each
    source is read again, where the summary names it or from the SOURCE given (of a summary made from a pipe it has to
    be). What became of a sentence is said with its place: moved, altered or gone, for the source changed; and apart
    from that, whether only the extractor changed, which makes the text of a PDF or a web page.

    Exit codes: 0 all sentences stand, 1 some do not, 3 some could not be checked.
    """
    from longseq.formats.folders import files
    from longseq.formats.jsonfile import to_json
    from longseq.report.verification import verification_text
    from longseq.results.verification import VERIFY_SCHEMA, outcome
    from longseq.tasks.verify import verify_summary

    checks = verify_summary(summary, files(sources), texts=texts, progress=talk.progress())
    verdict = outcome(checks)
    if as_json:
        document = {
            "schema": VERIFY_SCHEMA,
            "summary": summary,
            "outcome": verdict,
            "documents": [check.to_json() for check in checks],
        }
        sys.stdout.write(to_json(document) + "\n")
    else:
        sys.stdout.write(verification_text(checks))
    return CODES[verdict]
