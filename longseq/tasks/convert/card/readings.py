"""Texts as ids in segments, and the hidden vectors of a model that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longseq.model import Checkpoint, Encoder, ModelConfig

BATCH = 4096
"""Tokens of a call, about."""


def segments(checkpoint: Checkpoint, texts: Sequence[str], most: int) -> np.ndarray:
    """(N, segment) int64 of the texts end to end, N <= `most` whole segments with their special tokens."""
    size, found = checkpoint.config.segment, []
    for chunk in _tokenizer(checkpoint).chunks((f"{text}\n\n" for text in texts), size):
        if len(chunk) == size:
            found.append(chunk.ids.astype(np.int64))
        if len(found) == most:
            break
    return np.stack(found) if found else np.zeros((0, size), np.int64)


def cut(checkpoint: Checkpoint, rows: np.ndarray, tokens: int) -> np.ndarray:
    """(N, tokens) of segments (N, segment): each as a text of so many tokens, the special ones included."""
    if not checkpoint.config.frame:
        return rows[:, :tokens]
    return np.concatenate([rows[:, : tokens - 1], rows[:, -1:]], 1)


def firsts(checkpoint: Checkpoint, texts: Sequence[str]) -> list[np.ndarray]:
    """Ids (T,) int64 of the first segment of each text; a text without a token has none."""
    size, found = checkpoint.config.segment, []
    for text in texts:
        chunk = next(_tokenizer(checkpoint).chunks(iter([text]), size), None)
        found.append(np.zeros(0, np.int64) if chunk is None else chunk.ids.astype(np.int64))
    return found


def means(encoder: Encoder, some: Sequence[np.ndarray]) -> np.ndarray:
    """(N, D) float32 mean vectors of texts as ids (T,), T > 0; those of one length are read together."""
    found = np.zeros((len(some), encoder.config.width), np.float32)
    for rows in _together([len(ids) for ids in some]):
        hidden, _ = read(encoder, np.stack([some[i] for i in rows]))
        found[rows] = hidden.mean(1).cpu().numpy()
    return found


def _together(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of texts of one length, at most about `BATCH` tokens."""
    by_length: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        by_length.setdefault(length, []).append(i)
    for length, rows in sorted(by_length.items()):
        size = max(BATCH // length, 1)
        yield from (rows[at : at + size] for at in range(0, len(rows), size))


def read(encoder: Encoder, ids: np.ndarray, state: Any = None) -> tuple[Tensor, Any]:
    """Hidden vectors (B, T, D) of ids (B, T), and the state."""
    with torch.inference_mode():
        return encoder(torch.from_numpy(ids).to(encoder.embedding.weight.device), state)


def streamed(checkpoint: Checkpoint, ids: np.ndarray, chunk: int) -> Iterator[tuple[Tensor, Any]]:
    """The same of ids (1, T) in calls of `chunk` tokens, rounded up to whole segments, one after the other."""
    state, size = None, chunk_of(checkpoint.config, chunk)
    for at in range(0, ids.shape[1], size):
        hidden, state = read(checkpoint.model.encoder, ids[:, at : at + size], state)
        yield hidden, state


def chunk_of(config: ModelConfig, chunk: int) -> int:
    """Tokens of a recurrent call: whole segments."""
    return -(-chunk // config.segment) * config.segment


def _tokenizer(checkpoint: Checkpoint) -> Any:
    return checkpoint.tokenizer  # of documents: `require_pair` has seen to it
