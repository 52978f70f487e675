"""`longseq.stream`."""

from __future__ import annotations

import os
from typing import Literal

from longseq.api.models import Named, Path, opened
from longseq.streaming.snapshot import Snapshot, load_snapshot
from longseq.streaming.stream import Letters, Stream


def stream(
    model: Named,
    letters: Letters,
    *,
    state: Snapshot | Path | None = None,
    layer: str = "final",
    chunk: int | None = None,
    precision: Literal["fp32", "bf16"] = "fp32",
) -> Stream:
    """Hidden vectors along one record of any length, chunk after chunk, in constant memory.

        for record in longseq.read("genome.fa.gz"):
            for start, end, _, hidden in longseq.stream(checkpoint, record):
                ...  # hidden: (end - start, D) float32

    The stream's `state` is all that the record leaves behind; `save` writes it to a file, from which a later stream
    goes on with letters appended: the same vectors as one reading, to rounding.

    Args:
        model: A name, a directory or a `Checkpoint`, which says the device.
        letters: A record of `longseq.read`, its letters (bytes or str), or these in pieces; the name of a file is none.
        state: What an earlier stream left, or a file of it; `letters` are those that come after.
        layer: Whose vectors: "final", what heads read; "0" or "embedding", "1" or "layer1", and so on.
        chunk: Tokens a call, 1 to 1,048,576; None: 2,048, or of a model with segments 512 in whole segments.
        precision: Of matrix products; memories are fp32.

    Returns:
        An iterator of `Passage(start, end, offsets, hidden)`: letters `[start, end)` and vectors (T, D) float32, T at
        most `chunk`; of DNA by letters T = end - start.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint. StateError: a state of another model, chunk or precision.
        ConfigError, UsageError: what cannot be. Wrong letters raise AlphabetError where they are read.
    """
    checkpoint = opened(model)
    start = load_snapshot(os.fspath(state), checkpoint) if isinstance(state, str | os.PathLike) else state
    return Stream(checkpoint, letters, start=start, layer=layer, chunk=chunk, precision=precision)
