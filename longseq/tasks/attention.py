"""What the attention heads of a model do with a short text, beside softmax attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longseq.errors import CheckpointError, InputError, UsageError
from longseq.model import Checkpoint
from longseq.model.attention import Heads, log_decays, looked_at
from longseq.results.attention import AttentionLook, HeadLook
from longseq.tasks.convert.source import Original, Source, read_original, same_tokens
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import DnaSubwords

READ = 4096
"""Tokens over which decays are measured, where the text is as long."""
MOST = 512
"""Tokens of a table: all layers and heads of it are held."""
SAME = "softmax of the same queries and keys"


def look(checkpoint: Checkpoint, pieces: Iterator[Any], tokens: int, beside: str | None = None) -> AttentionLook:
    """Tables of all heads over the first `tokens` tokens of a record.

    Args:
        pieces: The record's letters, as the checkpoint's tokenizer takes them.
        tokens: At most `MOST`.
        beside: The Transformer that the model was converted from, for its own softmax; None: `SAME`, where there is
            any.

    Raises:
        InputError: there is not a token.
        CheckpointError: `beside` has other layers, heads or tokens, or is none.
        UsageError: the model has no attention.
    """
    config = checkpoint.config
    if config.visibility == "segment":
        tokens = min(tokens, config.segment)  # the softmax of a segment is over that segment
    original = None if beside is None else _original(checkpoint, beside)
    ids, names = _ids(checkpoint, pieces, READ)
    short = torch.from_numpy(ids[:tokens].astype(np.int64))
    encoder = checkpoint.model.encoder
    device = encoder.embedding.weight.device
    tables = looked_at(encoder, short.to(device))
    theirs = None if original is None else looked_at(original.model.encoder, short)
    decays = log_decays(encoder, torch.from_numpy(ids.astype(np.int64)).to(device))
    mixers = [config.pattern[i % len(config.pattern)] for i in range(config.layers)]
    heads, weights, softmax, without = [], {}, {}, []
    for i, (table, mixer, decay) in enumerate(zip(tables, mixers, decays, strict=True)):
        if table is None:
            without.append(f"layer {i + 1} ({mixer})")
            continue
        other = table.same if theirs is None else _weights(theirs[i])
        for h in range(config.heads):
            rows = table.weights[h].cpu()
            against = None if other is None else other[h].cpu()
            life = [] if mixer == "softmax" else half_lives(None if decay is None else decay[h].cpu())
            head = HeadLook(
                layer=i + 1,
                head=h + 1,
                mixer=mixer,
                overlap=None if against is None else overlap(rows, against),
                reach=reach(rows),
                half_life=life,
            )
            heads.append(head)
            weights[head.name] = rows.float().numpy()
            if against is not None:
                softmax[head.name] = against.float().numpy()
    if not heads:
        raise UsageError(
            "the model has no attention to look at", where=checkpoint.name, found=", ".join(dict.fromkeys(mixers))
        )
    return AttentionLook(
        model=checkpoint.name,
        sha256=checkpoint.sha256,
        beside=SAME if original is None else f"softmax of {original.name}",
        tokens=names[: len(short)],
        read=len(ids),
        heads=heads,
        weights=weights,
        softmax=softmax,
        without=without,
    )


def reads_dna(checkpoint: Checkpoint) -> bool:
    """Whether it reads DNA; else documents."""
    return isinstance(checkpoint.tokenizer, DnaTokenizer | DnaSubwords)


def overlap(weights: Tensor, other: Tensor) -> float | None:
    """Of (T, T) tables: Σ_s min(w, w'), mean over tokens; None where weights may be negative."""
    return None if (weights < 0).any() else float(torch.minimum(weights, other).sum(-1).mean())


def reach(weights: Tensor) -> float:
    """Of a (T, T) table: tokens from where it is read to where it stands, mean by the size of the weights."""
    place = torch.arange(len(weights), dtype=weights.dtype)
    far = (place[:, None] - place).abs()
    size = weights.abs()
    return float((size * far).sum() / size.sum())


def half_lives(log_decay: Tensor | None) -> list[float]:
    """Tokens after which half of a memory is left, by the mean of its (T, K) log-decays; None: it forgets nothing."""
    if log_decay is None:
        return [math.inf]
    means = log_decay.double().mean(0).tolist()
    return [math.log(2) / -mean if mean < 0 else math.inf for mean in means]


def _weights(heads: Heads | None) -> Tensor | None:
    return None if heads is None else heads.weights


def _ids(checkpoint: Checkpoint, pieces: Iterator[Any], most: int) -> tuple[np.ndarray, list[str]]:
    """The first ids, and what each stands for."""
    text: list[str] = []

    def kept() -> Iterator[Any]:
        for piece in pieces:
            text.append(piece.decode("ascii", "replace") if isinstance(piece, bytes) else piece)
            yield piece

    chunk = next(iter(checkpoint.tokenizer.chunks(kept(), most)), None)
    if chunk is None or not len(chunk.ids):
        raise InputError(where=checkpoint.name, expected="a text of one token or more", found="none")
    letters = "".join(text)
    spans = [(i, i + 1) for i in range(len(chunk.ids))] if chunk.offsets is None else chunk.offsets.tolist()
    return chunk.ids, [letters[start:end] for start, end in spans]


def _original(checkpoint: Checkpoint, name: str) -> Original:
    found = read_original(Source(model=name))
    ours, theirs = checkpoint.config, found.model.config
    shapes = [(one.layers, one.heads, one.frame) for one in (ours, theirs)]
    if shapes[0] != shapes[1] or not same_tokens(checkpoint.tokenizer, found.tokenizer):
        raise CheckpointError(
            where=name,
            expected=f"the Transformer that {checkpoint.name} was made of",
            found=f"{theirs.layers} layers of {theirs.heads} attention heads"
            + ("" if shapes[0] != shapes[1] else ", with another tokenizer"),
        )
    return found
