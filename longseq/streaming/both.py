"""Both directions of a record of any length, in constant memory: one pass waits on disk for the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from longseq.config import require
from longseq.model import Encoder, State
from longseq.streaming.rows import RowSpool


def stream_both(
    encoder: Encoder,
    pieces: Iterable[np.ndarray],
    *,
    chunk: int = 2048,
    complement: np.ndarray | None = None,
    precision: str = "float32",
    folder: str | Path | None = None,
) -> Iterator[Tensor]:
    """What `longseq.model.both.read_both` gives for a record, chunk by chunk from its start.

    The record is read once and its ids spooled; the pass over the reverse leaves its hidden vectors on disk; the pass
    forwards picks them up. Each pass has a chunk grid of its own, from where it starts, so that a record and its
    reverse complement mirror each other to the bit. Memory in use: a piece, a chunk and a state. Disk: 4 bytes and D
    hidden numbers a token.

    Args:
        pieces: ids (T,) of consecutive tokens, of any lengths.
        chunk: tokens a call; a multiple of the segment with visibility "segment".
        complement: (vocabulary,) the id of each id's complement, for DNA; None: the plain reverse.
        precision: "float32" or "float16", of the readings on disk and handed out.
        folder: of the temporary file; None: where TMPDIR points.

    Yields:
        (t, 2 D) on the encoder's device, without history: t = `chunk` but for the last.

    Raises:
        UsageError: a chunk or precision that cannot be.
        LongseqError: the spool's folder takes no more.
    """
    require(chunk >= 1, "chunk", chunk, ">= 1 token")
    if encoder.config.visibility == "segment":
        segment = encoder.config.segment
        require(chunk % segment == 0, "chunk", chunk, f"a multiple of model.segment ({segment})")
    require(precision in ("float32", "float16"), "precision", precision, "'float32' or 'float16'")
    return _stream(encoder, pieces, chunk, complement, precision, folder)


def _stream(
    encoder: Encoder,
    pieces: Iterable[np.ndarray],
    chunk: int,
    complement: np.ndarray | None,
    precision: str,
    folder: str | Path | None,
) -> Iterator[Tensor]:
    width, device = encoder.config.width, encoder.embedding.weight.device
    with RowSpool(1, np.int32, folder) as ids, RowSpool(width, precision, folder) as backwards:
        length = 0
        for piece in pieces:
            ids.write(length, piece[:, None])
            length += len(piece)
        state: State | None = None
        for end in range(length, 0, -chunk):
            start = max(end - chunk, 0)
            reverse = ids.read(start, end)[::-1, 0]
            if complement is not None:
                reverse = complement[reverse]
            hidden, state = _read(encoder, reverse, state, precision)
            backwards.write(start, hidden[::-1])
        state = None
        for start in range(0, length, chunk):
            end = min(start + chunk, length)
            forwards, state = _read(encoder, ids.read(start, end)[:, 0], state, precision)
            yield torch.from_numpy(np.concatenate([forwards, backwards.read(start, end)], 1)).to(device)


def _read(encoder: Encoder, ids: np.ndarray, state: State | None, precision: str) -> tuple[np.ndarray, State]:
    """Ids (t,) → hidden (t, D) and the state."""
    tokens = torch.from_numpy(ids.astype(np.int64)).to(encoder.embedding.weight.device)[None]
    with torch.inference_mode():
        hidden, state = encoder(tokens, state)
        return hidden[0].to(getattr(torch, precision)).cpu().numpy(), state
