"""`longseq generate`"""

from __future__ import annotations

import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from longseq.cli.options import column_option, computing, talking
from longseq.cli.talk import Talk

if TYPE_CHECKING:
    from longseq.model import Checkpoint
    from longseq.tasks.generate import Token

LENGTH = 200


@click.command()
@click.option("--model", metavar="NAME|DIR", default="dna", show_default=True, help="A language model.")
@click.option("--prompt", "text", metavar="TEXT", help="What is continued, or answered: DNA, or text.")
@click.option(
    "--prompt-file",
    "file",
    metavar="FILE",
    help="The same from a file of one record, or of one source a line; - is standard input.",
)
@column_option
@click.option(
    "--length", type=click.IntRange(0), default=LENGTH, show_default=True, help="Tokens to draw; for `dna`, bases."
)
@click.option(
    "--temperature",
    type=float,
    help="Below 1 likelier tokens; 0: the likeliest.  [default: 1; of a model that learned from pairs 0]",
)
@click.option("--top-k", type=int, help="Only so many of the likeliest tokens.")
@click.option("--top-p", type=float, help="Only the likeliest tokens that together reach this probability.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--any-letter", is_flag=True, help="Of DNA, not only A, C, G and T.")
@click.option("--ignore-end", is_flag=True, help="Go on behind the end of a document.")
@click.option("--state", metavar="FILE", help="A saved state that the prompt, if any, and the tokens follow.")
@click.option("--save-state", metavar="FILE", help="Save the state after the last token.")
@click.option("--force", is_flag=True, help="Replace what stands in --save-state.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@computing
@talking
def command(
    model: str,
    text: str | None,
    file: str | None,
    column: str | None,
    length: int,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    seed: int,
    any_letter: bool,
    ignore_end: bool,
    state: str | None,
    save_state: str | None,
    force: bool,
    as_json: bool,
    device: str,
    threads: int,
    precision: str,
    chunk: int | None,
    talk: Talk,
) -> None:
    """Continue a prompt, token by token, in memory that does not grow; or answer it, with a model that learned from
    pairs (`longseq train --task seq2seq`).

    The continuation goes to standard output as it is drawn, without the prompt. The same model, prompt, seed and
    threads give the same tokens; drawing some, saving the state and drawing more gives what drawing all at once does. A
    text ends where the model ends the document. States are those of `longseq score --save-state`. A model that learned
    from pairs reads a source and tells its target; of a file it answers each line by a line.
    """
    from longseq.errors import UsageError
    from longseq.tasks.generate import Sampling, generated, prompt, sources
    from longseq.tasks.summarize.model import load_checkpoint
    from longseq.tokens import DnaTokenizer
    from longseq.tokens.subwords import DnaSubwords

    began = time.monotonic()
    checkpoint = load_checkpoint(model, device=device, threads=threads)
    dna = isinstance(checkpoint.tokenizer, DnaTokenizer | DnaSubwords)
    paired = getattr(checkpoint.tokenizer, "separator", None) is not None
    given: dict[str, Any] = {"temperature": 0.0 if paired and temperature is None else temperature}
    given |= {"top_k": top_k, "top_p": top_p}
    sampling = Sampling(seed=seed, **{name: value for name, value in given.items() if value is not None})
    prompts: list[Any] = [prompt(text, file, dna=dna, column=column)]
    if paired:
        prompts = [iter([source]) for source in sources(text, file, column)] or [iter(())]
    if len(prompts) > 1 and (as_json or state or save_state):
        raise UsageError(
            "--json, --state and --save-state take one source", where=file, expected="one line", found=f"{len(prompts)}"
        )
    for pieces in prompts:
        tokens = generated(
            checkpoint,
            sampling,
            pieces,
            length,
            state=state,
            save_state=save_state,
            force=force,
            chunk=chunk,
            precision=precision,
            any_letter=any_letter,
            stop_at_end=not ignore_end,
            # Not into the text that is being written.
            progress=talk.progress() if as_json or not sys.stdout.isatty() else None,
        )
        if as_json:
            drawn = list(tokens)
            click.echo(_json(talk, checkpoint, drawn, device, precision, threads, time.monotonic() - began))
            return
        for token in tokens:
            sys.stdout.write(token.text)
            sys.stdout.flush()
        sys.stdout.write("\n")


def _json(
    talk: Talk, checkpoint: Checkpoint, drawn: list[Token], device: str, precision: str, threads: int, seconds: float
) -> str:
    from longseq import __version__
    from longseq.formats.jsonfile import to_json
    from longseq.results.run import Run, peak_rss_mb

    tokens = [token for token in drawn if token.id >= 0]
    run = Run(
        version=__version__,
        command=shlex.join(["longseq", *talk.arguments]),
        model=checkpoint.name,
        model_sha256=checkpoint.sha256,
        device=device,
        precision=precision,
        threads=threads,
        tokens=len(tokens),
        seconds=seconds,
        tokens_per_s=len(tokens) / seconds,
        peak_rss_mb=peak_rss_mb(),
    )
    end: Any = getattr(checkpoint.tokenizer, "end", None)
    document = {
        "schema": "longseq.generate/1",
        "run": run.to_json(),
        "text": "".join(token.text for token in drawn),
        "ended": bool(tokens) and tokens[-1].id == end,
        "ids": [token.id for token in tokens],
        "bits": [token.bits for token in tokens],
    }
    return to_json(document, indent=None)
