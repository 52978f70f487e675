"""A run of `generate`: prompt or sources, tokens, saved state."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.errors import InputError, UsageError, place
from longseq.formats import read
from longseq.formats.atomic import free_file
from longseq.log import NullProgress, Progress
from longseq.model import Checkpoint
from longseq.streaming import load_snapshot, save_snapshot
from longseq.tasks.generate.generator import Generator, Token
from longseq.tasks.generate.sampling import Sampling


def prompt(
    text: str | None, file: str | None, *, dna: bool, column: str | None = None
) -> Iterator[str] | Iterator[bytes]:
    """The letters of a prompt: what the command line says, or the one record of a file, of a table in `column`.

    Raises:
        InputError: a file that cannot be read or is of another kind.
        UsageError: both, or a second record.
    """
    if text is not None and file is not None:
        raise UsageError("--prompt and --prompt-file exclude each other", remedy="give one of them")
    if file is not None:
        return _record(file, dna, column)
    if text is None:
        return iter(())
    return iter([text.encode(errors="surrogateescape")]) if dna else iter([text])


def sources(text: str | None, file: str | None, column: str | None = None) -> list[str]:
    """What a model that learned from pairs is asked: the text that the command line says, or each line of a file.

    Raises:
        InputError: a file that cannot be read or is none of text, or a blank line in it.
        UsageError: both.
    """
    letters = "".join(str(piece) for piece in prompt(text, file, dna=False, column=column))
    if file is None:
        return [letters] if letters else []
    lines = letters.removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise InputError(where=place(file, number), expected="a source on each line", found="none")
    return lines


def _record(file: str, dna: bool, column: str | None) -> Iterator:
    with read(file, kind=None if dna else "document", text=column) as reading:
        for number, record in enumerate(reading):
            if number:
                raise UsageError("is a second record", where=record.where, remedy="a prompt is one record")
            if (record.kind == "dna") != dna:
                raise InputError(where=record.where, expected="DNA, which the model reads", found=record.kind)
            yield from record.pieces


def _told(pieces: Iterator[str] | Iterator[bytes], progress: Progress) -> Iterator:
    for piece in pieces:
        yield piece
        progress.advance(len(piece))


def generated(
    checkpoint: Checkpoint,
    sampling: Sampling,
    pieces: Iterator[str] | Iterator[bytes],
    length: int,
    *,
    state: str | None = None,
    save_state: str | None = None,
    force: bool = False,
    chunk: int | None = None,
    precision: str = "fp32",
    any_letter: bool = False,
    stop_at_end: bool = True,
    progress: Progress | None = None,
) -> Iterator[Token]:
    """Tokens behind a prompt, as they are drawn; after the last one the state is saved where that was asked for.

    Without a saved state to go on from later, letters that were left half are written as far as they are spelled, in
    a last token of their own (id -1, 0 bits). Of a model that learned from pairs the prompt is a source: a separator is
    read behind it, and what is drawn is its target.

    Raises:
        CheckpointError: no language model.
        StateError: `state` is damaged or belongs to another model.
        OutputExistsError: `save_state` stands already and `force` is off.
        InputError: of a source, a letter or word that the model never saw.
        UsageError: `save_state` is a directory, or its directory is missing; no source, nor a state behind one.
    """
    if save_state is not None:
        free_file(save_state, force=force)
    start = None if state is None else load_snapshot(state, checkpoint)
    given = {} if chunk is None else {"chunk": chunk}
    generator = Generator(checkpoint, sampling, start=start, precision=precision, any_letter=any_letter, **given)
    progress = progress or NullProgress()
    if generator.separator is None:
        progress.start("prompt", None, "letter")
        try:
            generator.read(_told(pieces, progress))
        finally:
            progress.finish()
    elif source := "".join(str(piece) for piece in pieces):
        generator.ask(source)
    elif start is None:
        raise UsageError("nothing is asked", remedy="give a source: --prompt or --prompt-file")
    progress.start("generate", length, "token")
    try:
        for token in generator.tokens(length, stop_at_end=stop_at_end):
            yield token
            progress.advance(1)
    finally:
        progress.finish()
    if save_state is not None:
        save_snapshot(save_state, generator.snapshot(), force=force)
    elif rest := generator.rest():
        yield Token(-1, 0.0, rest)
