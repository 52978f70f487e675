"""What a frozen model knows, by logistic regression on its hidden vectors, beside k-mers: shared by the recipes here.

Every set of features goes through the same regression, on the same folds; its penalty is chosen on a part of what is
learned from. Differences are of the same examples, with intervals over blocks, which no split divides.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longseq.metrics import baselines, classes
from longseq.metrics.paired import difference
from longseq.model import Checkpoint
from longseq.records import reverse_complement
from longseq.tokens import DnaTokenizer

TOGETHER = 1 << 14
"""Bases in a call of the encoder."""
PENALTIES = (10.0, 1000.0)
"""Of the regression, on features of unit variance; the one that is best in the validation part is taken."""
FOLDS = 5

Figure = Callable[[np.ndarray, np.ndarray], float]
"""Of truth (N,) and probabilities (N, C)."""


class Task(NamedTuple):
    """N examples that are told apart."""

    features: dict[str, np.ndarray]
    """(N, F) by name; the first one is what the others are set against."""
    truth: np.ndarray
    """(N,) classes."""
    blocks: np.ndarray
    """(N,) of neighbours that a split never divides."""


def data_folder(script: str) -> Path:
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit(f"{Path(script).name}: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    return Path(os.environ["LONGSEQ_DATA"]) / "dna"


def readings(checkpoint: Checkpoint, windows: Sequence[bytes], bins: int, layers: Sequence[str]) -> dict:
    """(N, 2, bins, D) float32 by name of the layer: the mean of hidden vectors in each of `bins` even parts of each
    window, read forwards, then on the other strand, both in the window's order. Windows are of one length."""
    import torch

    from longseq.streaming.hidden import layer_names

    encoder, length = checkpoint.model.encoder, len(windows[0])
    names = layer_names(checkpoint.config.layers)
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str) -> Callable:
        return lambda _, __, out: seen.update({name: out[0] if isinstance(out, tuple) else out})

    modules = dict(zip(names, [encoder.embedding, *encoder.layers], strict=False))
    handles = [modules[name].register_forward_hook(keep(name)) for name in layers if name in modules]
    found: dict[str, list] = {name: [] for name in layers}
    size = max(1, TOGETHER // length)
    try:
        for first in range(0, len(windows), size):
            some = windows[first : first + size]
            parts: dict[str, list] = {name: [] for name in layers}
            for strand in (0, 1):
                turned = [reverse_complement(letters) for letters in some] if strand else some
                ids = np.stack([DnaTokenizer().encode(letters)[0] for letters in turned]).astype(np.int64)
                with torch.inference_mode():
                    seen["final"] = encoder(torch.from_numpy(ids).to(encoder.embedding.weight.device))[0]
                    for name in layers:
                        hidden = seen[name].flip(1) if strand else seen[name]
                        pieces = [part.mean(1) for part in hidden.tensor_split(bins, 1)]
                        parts[name].append(torch.stack(pieces, 1).float().cpu().numpy())
            for name in layers:
                found[name].append(np.stack(parts[name], 1))
    finally:
        for handle in handles:
            handle.remove()
    return {name: np.concatenate(rows) for name, rows in found.items()}


def flat(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), -1)


def kmers(windows: Sequence[bytes], k: int, *, both: bool) -> np.ndarray:
    """(N, 4 + … + 4^k) shares of words, of both strands or of the one given."""
    encode = DnaTokenizer().encode
    return np.stack([baselines.kmer_shares(encode(letters)[0], k, both=both) for letters in windows])


def one_hot(windows: Sequence[bytes]) -> np.ndarray:
    """(N, 4 T): which base stands at each place."""
    codes = np.stack([DnaTokenizer().encode(letters)[0] for letters in windows])
    return flat((codes[:, :, None] == np.arange(4)).astype(float))


def fitted(rows: np.ndarray, task: Task, learned: np.ndarray, validated: np.ndarray) -> tuple[float, float]:
    """The penalty that costs least on the validation part of what is learned from, and that cost in nats."""
    count, part, costs = int(task.truth.max()) + 1, learned & ~validated, []
    for penalty in PENALTIES:
        told = baselines.logistic(rows[part], task.truth[part], rows[validated], count, penalty=penalty)
        costs.append(nats(task.truth[validated], told))
    best = int(np.argmin(costs))
    return PENALTIES[best], costs[best]


def scored(rows: np.ndarray, task: Task, learned: np.ndarray, validated: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """(M, C) probabilities of those `asked`, learned from the (N,) bool `learned`, of which `validated` is a part."""
    penalty, _ = fitted(rows, task, learned, validated)
    count = int(task.truth.max()) + 1
    return baselines.logistic(rows[learned], task.truth[learned], rows[asked], count, penalty=penalty)


def crossed(task: Task, name: str, seed: int) -> np.ndarray:
    """(N, C) probabilities, each fold of blocks by a fit to the others, the penalty chosen on the one that follows."""
    fold, rows = folds(task.blocks, seed), task.features[name]
    found = np.zeros((len(rows), int(task.truth.max()) + 1))
    for k in range(FOLDS):
        found[fold == k] = scored(rows, task, fold != k, fold == (k + 1) % FOLDS, fold == k)
    return found


def together(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N, C): the geometric mean of the probabilities of two regressions."""
    found = np.sqrt(one * other)
    return found / found.sum(1, keepdims=True)


def folds(blocks: np.ndarray, seed: int) -> np.ndarray:
    """(N,) fold of each example; blocks are dealt out in an order drawn at random."""
    names, place = np.unique(blocks, return_inverse=True)
    return np.random.default_rng(seed).permutation(np.arange(len(names)) % FOLDS)[place]


def nats(truth: np.ndarray, told: np.ndarray) -> float:
    return float(-np.log(np.maximum(told[np.arange(len(truth)), truth], 1e-12)).mean())


def accuracy(truth: np.ndarray, told: np.ndarray) -> float:
    return float((told.argmax(1) == truth).mean())


def macro_f1(truth: np.ndarray, told: np.ndarray) -> float:
    return classes.macro_f1(classes.confusion(truth, told.argmax(1), told.shape[1]))


def auc(truth: np.ndarray, told: np.ndarray) -> float:
    """Of class 1 of two; of more, the mean of each against the rest."""
    return _ranked(classes.auroc, truth, told)


def auprc(truth: np.ndarray, told: np.ndarray) -> float:
    return _ranked(classes.auprc, truth, told)


def _ranked(figure: Figure, truth: np.ndarray, told: np.ndarray) -> float:
    if told.shape[1] == 2:
        return figure(truth == 1, told[:, 1])
    return classes.one_against_rest(figure, np.eye(told.shape[1], dtype=bool)[truth], told)


FIGURES: dict[str, Figure] = {"accuracy": accuracy, "macro_f1": macro_f1, "auc": auc, "auprc": auprc}


def compared(truth: np.ndarray, told: dict[str, np.ndarray], blocks: np.ndarray, figures: Sequence[str]) -> list[dict]:
    """A row a set of features: its figures, and their differences to the first set, which is the yardstick."""
    first, rows = next(iter(told)), []
    for name, scores in told.items():
        row: dict = {"name": name} | {figure: FIGURES[figure](truth, scores) for figure in figures}
        if name != first:
            row["difference"] = {
                figure: difference(FIGURES[figure], truth, scores, told[first], blocks, draws=300)
                for figure in figures
            }  # fmt: skip
        rows.append(row)
        print({key: value for key, value in row.items() if key != "difference"}, flush=True)
    return rows


def verdict(rows: Sequence[dict], figure: str, names: Callable[[str], bool]) -> str:
    """One sentence: whether the best of the features that `names` picks are better than the first set."""
    best = max((row for row in rows if names(row["name"])), key=lambda row: row[figure])
    return sentence(best["name"], rows[0]["name"], figure, best["difference"][figure])


def sentence(ours: str, theirs: str, figure: str, found: Sequence[float]) -> str:
    value, low, high = found
    said = "better than" if low > 0 else "worse than" if high < 0 else "no different from"
    return f"{ours} is {said} {theirs} in {figure.replace('_', ' ')}: {value:+.3f} ({low:+.3f} to {high:+.3f})."


def cells(rows: Sequence[dict], figures: Sequence[str]) -> list[list[str]]:
    """Of a table: each figure, then its difference to the first row with the interval."""
    found = []
    for row in rows:
        line = [row["name"]]
        for figure in figures:
            line.append(f"{row[figure]:.3f}")
            value, low, high = row.get("difference", {}).get(figure, (math.nan,) * 3)
            line.append("" if math.isnan(value) else f"{value:+.3f} ({low:+.3f} to {high:+.3f})")
        found.append(line)
    return found


def origin(document: dict) -> str:
    """The last line of a page."""
    facts, model = document["provenance"], document["model"]
    return (
        f"Model {model['name']}, {model['parameters']:,} parameters, sha256 {model['sha256'][:12]}; what it has read, "
        f"without labels, is in its card. Seed {document['seed']}. {document['seconds']:.0f} s. Commit "
        f"{facts['commit'][:12]}, {facts['machine']}, {facts['cores']} cores, load {facts['load']:.1f}, "
        f"{facts['time']}.\n"
    )
