"""The model that reads DNA for `summarize`: found, loaded, put on its device."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longseq.errors import InputError, UsageError

if TYPE_CHECKING:
    from longseq.model import Checkpoint
    from longseq.results.source import SourceRow
    from longseq.streaming import Surprisal

log = logging.getLogger("longseq")

SHIFT = 0.2
"""Difference of soft-masked shares from which an input is said to differ from what a model learned from."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model ready to read, and what a result says of it."""

    surprisal: Surprisal
    name: str
    sha256: str
    device: str
    precision: str
    threads: int
    """Threads of the processor; rounding depends on their number."""
    soft_masked: float | None = None
    """Share of the letters learned from that were in lower case; None where the checkpoint does not say."""


def load_model(
    name: str = "dna",
    *,
    device: str = "cpu",
    threads: int = 1,
    precision: str = "fp32",
    chunk: int | None = None,
) -> LoadedModel:
    """Load a shipped name or a checkpoint directory for reading DNA.

    Args:
        device: cpu, cuda, cuda:1.
        threads: Of the processor. One by default: a small model gains little from a second, and threads that wait for
            one another on a busy machine are several times slower than one.
        precision: fp32 or bf16; memories and gates are float32 in either.
        chunk: Bases a recurrent call; None is the reader's own choice.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint that reads DNA.
        UsageError: no such device.
    """
    found = ready(load_checkpoint(name, device=device, threads=threads), precision=precision, chunk=chunk)
    return replace(found, device=device, threads=threads)


def ready(checkpoint: Checkpoint, *, precision: str = "fp32", chunk: int | None = None) -> LoadedModel:
    """A checkpoint that reads DNA, on the device and with the threads that it has.

    Raises:
        CheckpointError, UsageError: as `Surprisal` does.
    """
    import torch

    from longseq.streaming import Surprisal

    given = {} if chunk is None else {"chunk": chunk}
    surprisal = Surprisal(checkpoint, precision=precision, **given)
    return LoadedModel(
        surprisal=surprisal,
        name=checkpoint.name,
        sha256=checkpoint.sha256,
        device=str(surprisal.device),
        precision=precision,
        threads=torch.get_num_threads(),
        soft_masked=checkpoint.soft_masked,
    )


def mask_shift(source: SourceRow, model: LoadedModel) -> str | None:
    """A warning where much more or less of an input is soft-masked than of what the model learned from."""
    here = None if source.totals is None else source.totals.softmask
    return shift_text(source.file, None if here is None else here / 100, model.name, model.soft_masked)


def shift_text(file: str, here: float | None, model: str, learned: float | None) -> str | None:
    """The same of a file of which the share `here` is soft-masked, None where case means nothing, and of a model that
    learned from the share `learned`."""
    if here is None or learned is None or abs(here - learned) <= SHIFT:
        return None
    return (
        f"warning: {file}: {100 * here:.1f} % of the letters are soft-masked, of those that {model} learned from "
        f"{learned:.1%}; case itself is not read, but these may be sequences of another kind"
    )


def load_checkpoint(name: str, *, device: str = "cpu", threads: int = 1) -> Checkpoint:
    """Load a shipped name or a checkpoint directory of any kind, on a device, with so many threads of the processor.

    Raises:
        CheckpointError, AlphabetError: no checkpoint.
        UsageError: no such device.
    """
    import torch

    from longseq.model import load
    from longseq.ops.machine import prepare

    prepare(threads)
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        found = str(error).splitlines()[0]
        raise UsageError(
            where="--device", expected=f"a usable device {device!r}", found=found, remedy="leave it out: --device cpu"
        ) from None
    checkpoint = load(name, device)
    log.debug("model %s: %s parameters, sha256 %s", name, f"{checkpoint.parameters:,}", checkpoint.sha256[:12])
    return checkpoint


def default_model(inputs: Sequence[str]) -> str:
    """The shipped model for what the first input holds: `dna` of sequences and of a stream, `text` of documents."""
    from longseq.formats import read

    try:
        if inputs[0] == "-":
            return "dna"
        with read(inputs[0]) as reading:
            return "text" if reading.kind == "document" else "dna"
    except InputError:
        return "dna"  # what is wrong is said where it is read
