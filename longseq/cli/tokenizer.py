"""`longseq tokenizer train INPUT…` and `longseq tokenizer show FILE [TEXT]`"""

from __future__ import annotations

from typing import Any

import click

from longseq.cli.options import column_option, talking, unknown_option
from longseq.cli.talk import Talk
from longseq.log import short

_KIND = click.option(
    "--kind", type=click.Choice(["dna", "document"]), help="What the inputs are, whatever they look like."
)


@click.group(no_args_is_help=False, epilog="Both take -q, -v and --debug; longseq tokenizer COMMAND --help says more.")
def command() -> None:
    """Learn a tokenizer from sequences or documents, and look at one."""


@command.command(short_help="Learn pieces, characters or words, or all words of K bases.")
@click.argument("inputs", metavar="[INPUT...]", nargs=-1)
@click.option("--out", metavar="FILE", required=True, help="The tokenizer.json to write.")
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@click.option("--vocabulary", type=int, help="Number of ids at most.  [default: 4096]")
@click.option(
    "--unit",
    type=click.Choice(["pieces", "characters", "words"]),
    help="What an id stands for; words are what stands between white space.  [default: pieces]",
)
@click.option(
    "--min-frequency",
    type=int,
    help="Times that a pair has to be seen to be joined, or a unit to be learned.  [default: 2]",
)
@click.option("--kmer", metavar="K", type=int, help="All words of K bases instead, 2 to 8; no INPUT is read.")
@click.option(
    "--ambiguity", type=click.Choice(["keep", "N"]), help="IUPAC codes of DNA: ids of their own, or N.  [default: keep]"
)
@click.option("--normalize", type=click.Choice(["none", "nfc", "nfkc"]), help="Normal form of a text.  [default: none]")
@click.option("--lowercase", is_flag=True, help="Read a text in lower case.")
@click.option(
    "--sample",
    metavar="LETTERS",
    type=int,
    help="Letters to learn from at most, drawn evenly from all.  [default: 4 million bases, 100 million code points]",
)
@click.option("--seed", type=int, help="Of the sample, and of where DNA is cut.  [default: 0]")
@_KIND
@column_option
@unknown_option
@talking
def train(
    inputs: tuple[str, ...],
    out: str,
    force: bool,
    vocabulary: int | None,
    unit: Any,
    min_frequency: int | None,
    kmer: int | None,
    ambiguity: Any,
    normalize: Any,
    lowercase: bool,
    sample: int | None,
    seed: int | None,
    kind: Any,
    column: str | None,
    on_unknown: Any,
    talk: Talk,
) -> None:
    """Learn byte-pair encoding from sequences or documents, characters or words from documents, or write out the words
    of K bases.

    An INPUT is a file of sequences or documents, packed or not, or a folder of them; all of one kind. The same inputs
    give the same tokenizer. Pieces of documents are read byte by byte, so that no letter is unknown, while a character
    or a word that was not learned is; DNA keeps its alphabet, and no token reaches over a letter that is not A, C, G or
    T. The file is one that the tokenizers library loads.
    """
    from longseq.errors import UsageError
    from longseq.formats.atomic import write_aside
    from longseq.tasks.tokenizer import counted_out, learned
    from longseq.tokens.train import Learning

    given = {
        "vocabulary": vocabulary,
        "unit": unit,
        "min_frequency": min_frequency,
        "ambiguity": ambiguity,
        "normalize": normalize,
        "lowercase": lowercase or None,
        "sample": sample,
        "seed": seed,
    }
    if kmer is not None and (inputs or any(given[name] is not None for name in given if name != "ambiguity")):
        raise UsageError("--kmer learns nothing", remedy="leave INPUT and all but --ambiguity out")
    if kmer is None and not inputs:
        raise UsageError("nothing to learn from", remedy="name files or folders, or give --kmer K")
    config = Learning(**{name: value for name, value in given.items() if value is not None})
    with write_aside(out, force=force) as aside:
        if kmer is not None:
            counted_out(kmer, config).save(aside)
            line = f"{out}: all words of {kmer} bases"
        else:
            found = learned(inputs, config, kind=kind, column=column, on_unknown=on_unknown, progress=talk.progress())
            found.tokenizer.save(aside)
            unit = "bases" if found.kind == "dna" else "letters"
            line = f"{out}: {found.tokenizer.vocabulary:,} ids from "
            line += f"{short(found.sampled)} of {short(found.letters)} {unit}"
    click.echo(line)


@command.command()
@click.argument("file")
@click.argument("text", required=False)
@click.option(
    "--input", "inputs", metavar="FILE", multiple=True, help="Count the tokens of a file or folder; may be repeated."
)
@_KIND
@column_option
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@talking
def show(
    file: str,
    text: str | None,
    inputs: tuple[str, ...],
    kind: Any,
    column: str | None,
    on_unknown: Any,
    as_json: bool,
    talk: Talk,
) -> None:
    """What a tokenizer is, and how it cuts a TEXT or files.

    FILE is any tokenizer.json. Bits a token are the entropy of the tokens' frequencies in what was read; divided by the
    letters a token they compare tokenizers.
    """
    from longseq.formats.jsonfile import to_json
    from longseq.tasks.tokenizer import describe

    facts = describe(file, text=text, inputs=inputs, kind=kind, column=column, on_unknown=on_unknown)
    click.echo(to_json(facts) if as_json else "\n".join(_lines(facts)))


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"{facts['kind']} for {facts['for']}, {facts['vocabulary']:,} ids"]
    if facts["for"] == "dna":
        codes = "ids of their own" if facts["ambiguity"] == "keep" else "read as N"
        lines.append(f"IUPAC codes: {codes}")
    elif facts["end"] is not None:
        lines.append(f"end of a document: id {facts['end']}")
    if not facts["exact"]:
        lines.append("has parts of unknown reach: texts over 262,144 letters are cut where that cannot be proven right")
    lines.append("longest: " + "  ".join(map(_spelled, facts["longest"])))
    if "tokens" in facts:
        lines.append(f"{facts['letters']:,} letters, {facts['tokens']:,} tokens, {facts['ids_used']:,} ids in use")
    if facts.get("tokens"):
        lines.append(
            f"{facts['letters_per_token']:.3f} letters a token, {facts['bits_per_token']:.3f} bits a token, "
            f"{facts['bits_per_letter']:.3f} bits a letter"
        )
    if facts.get("pieces"):
        lines.append(" ".join(map(_spelled, facts["pieces"])))
    return lines


def _spelled(word: str) -> str:
    """A word as it can be seen: blanks and controls by name."""
    return word if word.isprintable() and word.strip() == word and word else repr(word)
