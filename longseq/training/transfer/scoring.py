"""How far a model is from its teacher, on texts that it did not learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import torch
from torch.nn import functional as F

from longseq.model import Model
from longseq.training.batch import Batch
from longseq.training.transfer.bundles import padded
from longseq.training.transfer.teaching import Teacher, attention_errors, error, pooled
from longseq.training.transfer.texts import Texts

KINDS = ("segment", "sentence")


def held_out_batches(texts: Texts, rows: np.ndarray, tokens: int, batch: int, seed: int) -> list[np.ndarray]:
    """Rows to score, of one kind and about one length in each batch: about `tokens` of them, half in sentences; one
    of each kind at least."""
    found = []
    for number, kind in enumerate((False, True)):
        some = np.random.default_rng([seed, 3, number]).permutation(rows[texts.sentence[rows] == kind])
        some = some[: max(int((np.cumsum(texts.lengths[some]) <= tokens // 2).sum()), 1)]
        some = some[np.argsort(texts.lengths[some], kind="stable")]
        while len(some):
            size = max(batch // int(texts.lengths[some[-1]]), 1)
            found.append(some[-size:])
            some = some[:-size]
    return found


def sums(
    model: Model,
    teacher: Teacher,
    texts: Texts,
    batches: Iterable[np.ndarray],
    stop: Callable[[], bool] = lambda: False,
) -> np.ndarray | None:
    """What `figures` are made of; those of several processes add up. None if `stop` came true."""
    training, device = model.training, next(model.parameters()).device
    found = np.zeros(6 + len(model.encoder.layers))
    model.eval()
    try:
        for rows in batches:
            if stop():
                return None
            found += _of_batch(model, teacher, padded(texts, rows), bool(texts.sentence[rows[0]]), device)
    finally:
        model.train(training)
    return found


@torch.no_grad()
def _of_batch(model: Model, teacher: Teacher, batch: Batch, sentences: bool, device: torch.device) -> np.ndarray:
    given = batch.on(device)
    ids, mask = given["ids"], given.get("mask")
    answer = teacher(ids, mask)
    hidden = model.encoder(ids, None, mask)[0]
    cosine = F.cosine_similarity(pooled(hidden, mask), pooled(answer.hidden, mask)).sum().item()
    errors = torch.cat([error(hidden, answer.hidden, mask)[None], attention_errors(model.encoder, answer, mask)])
    of_kind = np.eye(2)[int(sentences)]
    return np.concatenate([of_kind * len(ids), of_kind * cosine, [batch.tokens], batch.tokens * errors.cpu().numpy()])


def figures(found: Sequence[float] | np.ndarray) -> dict[str, float]:
    """By name: cosine between the means of a text's hidden vectors, over all texts and over each kind; error of the
    final hidden vectors; error of attention given what the teacher's hears, the mean over layers and each layer's.
    Errors are relative to the size of what is wanted."""
    texts, cosines, (tokens, hidden, *attention) = found[:2], found[2:4], found[4:]
    told = {"cosine": sum(cosines) / sum(texts)}
    told |= {f"{kind}_cosine": c / n for kind, c, n in zip(KINDS, cosines, texts, strict=True) if n}
    told |= {"hidden_error": hidden / tokens, "attention_error": sum(attention) / len(attention) / tokens}
    told |= {f"attention_error_{n}": value / tokens for n, value in enumerate(attention, 1)}
    return {name: float(value) for name, value in told.items()}


def said(told: Mapping[str, float]) -> str:
    """For people."""
    errors = [f"{told[name]:.3g}" for name in told if name.startswith("attention_error_")]
    kinds = [f"{told[f'{kind}_cosine']:.4f} of {kind}s" for kind in KINDS if f"{kind}_cosine" in told]
    return f"cosine to the teacher {told['cosine']:.4f} ({', '.join(kinds)}); attention errors {' '.join(errors)}"
