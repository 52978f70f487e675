"""`longseq convert MODEL --out DIR`"""

from __future__ import annotations

import click

from longseq.cli.options import talking
from longseq.cli.talk import Talk
from longseq.log import count

LISTED = 5
"""Tensors that were left out, by name."""


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("--out", metavar="DIR", required=True, help="Checkpoint directory to write.")
@click.option(
    "--keep-softmax", is_flag=True, required=True, help="Keep the model's own attention: the same vectors, by segment."
)
@click.option("--tokenizer", metavar="FILE", help="tokenizer.json.  [default: that of MODEL, or its vocab.txt]")
@click.option(
    "--segment",
    metavar="TOKENS",
    type=click.IntRange(3),
    help="Tokens read at once, special ones included.  [default: as many as MODEL has positions]",
)
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Shape of a file: teacher.heads=4.")
@click.option("--force", is_flag=True, help="Replace what stands in --out.")
@talking
def command(
    model: str,
    out: str,
    keep_softmax: bool,
    tokenizer: str | None,
    segment: int | None,
    assignments: tuple[str, ...],
    force: bool,
    talk: Talk,
) -> None:
    """A trained Transformer as a checkpoint that embed, check and info take, its weights one to one.

    MODEL is a directory with the config.json and model.safetensors of a BERT, RoBERTa or DistilBERT, a softmax
    checkpoint of ours, or a safetensors file of the tensors of a model with one torch.nn.TransformerEncoder in it. What
    such a file does not say is set: teacher.heads=4, teacher.activation=gelu, teacher.norm_first=true,
    teacher.norm_epsilon=1e-5, teacher.embedding=NAME and teacher.positions=NAME of the tensors with embeddings of
    tokens and positions; --tokenizer is needed too. Pickles are refused.

    A text is read in segments, with the model's special tokens around each and positions that start anew: hidden
    vectors are those of the original model, of a longer text those of its windows. Heads and poolers are left out.
    """
    from longseq.config import load
    from longseq.tasks.convert import Settings, Source, convert

    teacher = load(Settings, None, assignments).teacher
    found = convert(Source(model=model, tokenizer=tokenizer, segment=segment, teacher=teacher), out, force=force)
    config = found.model.config
    parameters = sum(p.numel() for p in found.model.parameters())
    special = f", {' and '.join(found.special)} included" if found.special else ""
    line = f"{out}: {found.kind} of {count(config.layers, 'layer')}, {parameters:,} parameters, softmax kept"
    if config.visibility == "segment":
        line += f"; reads segments of {config.segment} tokens{special}"
    click.echo(line)
    if found.left:
        more = f" and {len(found.left) - LISTED} more" if len(found.left) > LISTED else ""
        click.echo(f"left out: {', '.join(found.left[:LISTED])}{more}")
