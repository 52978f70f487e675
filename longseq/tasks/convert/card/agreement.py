"""How near the student's final vectors are to the teacher's: against length, for retrieval, and for a task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longseq.errors import InputError
from longseq.metrics import paired
from longseq.metrics.agreement import cosines, neighbours_kept, spearman_of_pairs, units
from longseq.metrics.baselines import logistic
from longseq.metrics.classes import accuracy, confusion, macro_f1
from longseq.model import Checkpoint
from longseq.results.conversion import LengthRow, Retrieval, Skipped, TaskRow
from longseq.results.evaluation import Figure
from longseq.tasks.convert.card.config import CardConfig
from longseq.tasks.convert.card.readings import cut, firsts, means, read, streamed
from longseq.tokens.words import count_words

SHORTEST, MOST = 16, 64
"""Tokens of the shortest texts, and stretches of one length at most."""
FOLDS = 5
WORDS = 4
"""Of a paragraph that is a text of its own."""
_BLANK = re.compile(r"\n[^\S\n]*\n")


def lengths(
    teacher: Checkpoint, student: Checkpoint, rows: np.ndarray, config: CardConfig
) -> tuple[list[LengthRow], list[Skipped]]:
    """A row a length: texts within a segment, cut out of segments (N, segment), and runs of segments; and the lengths
    for which there is too little text."""
    size = teacher.config.segment
    within = [n for n in (SHORTEST << i for i in range(size.bit_length())) if n < size] + [size]
    found = [_within(teacher, student, rows, tokens, config) for tokens in within]
    beyond = [n for n in (size << i for i in range(1, config.longest.bit_length())) if n <= config.longest]
    here = [n for n in beyond if n <= len(rows) * size]
    skipped = [
        Skipped(what=f"agreement at {n:,} tokens", reason=f"the texts have {len(rows) * size:,} in whole segments")
        for n in beyond
        if n not in here
    ]
    if here:
        found += _beyond(teacher, student, rows, here, config)
    return found, skipped


def _within(teacher: Checkpoint, student: Checkpoint, rows: np.ndarray, tokens: int, config: CardConfig) -> LengthRow:
    number = min(len(rows), MOST, max(config.tokens // tokens, 2))
    ids = cut(teacher, rows[_spread(len(rows), number)], tokens)
    ours, theirs = (read(checkpoint.model.encoder, ids)[0].cpu().numpy() for checkpoint in (student, teacher))
    return _row(tokens, cosines(ours.mean(1), theirs.mean(1)), cosines(ours, theirs).mean(1), config)


def _beyond(
    teacher: Checkpoint, student: Checkpoint, rows: np.ndarray, here: Sequence[int], config: CardConfig
) -> list[LengthRow]:
    """The beginnings of long stretches: every length is read once, on the way to the longest."""
    size = teacher.config.segment
    whole = here[-1] // size
    number = min(len(rows) // whole, config.documents)
    pool: dict[int, list[float]] = {n: [] for n in here}
    token: dict[int, list[float]] = {n: [] for n in here}
    for at in np.linspace(0, len(rows) - whole, number).astype(int):
        ids = rows[at : at + whole].reshape(1, -1)
        ours, theirs = (
            np.concatenate([hidden[0].cpu().numpy() for hidden, _ in streamed(checkpoint, ids, config.chunk)])
            for checkpoint in (student, teacher)
        )
        alike = cosines(ours, theirs)
        for n in here:
            pool[n].append(float(cosines(ours[:n].mean(0), theirs[:n].mean(0))))
            token[n].append(float(alike[:n].mean()))
    return [_row(n, np.array(pool[n]), np.array(token[n]), config) for n in here]


def _row(tokens: int, pool: np.ndarray, token: np.ndarray, config: CardConfig) -> LengthRow:
    return LengthRow(tokens=tokens, texts=len(pool), pooled=_mean(pool, config), token=_mean(token, config))


def _spread(count: int, most: int) -> np.ndarray:
    """At most so many of the numbers below `count`, evenly spread."""
    return np.linspace(0, count - 1, min(count, most)).astype(int)


def _mean(values: np.ndarray, config: CardConfig) -> Figure:
    return Figure(**paired.mean(values, seed=config.seed)._asdict())


def vectors(checkpoint: Checkpoint, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Mean vectors (N, D) of the first segments of texts, and which texts (M,) bool have a token."""
    some = firsts(checkpoint, texts)
    there = np.array([len(ids) > 0 for ids in some], bool)
    return means(checkpoint.model.encoder, [ids for ids in some if len(ids)]), there


def retrieval(teacher: Checkpoint, student: Checkpoint, texts: Sequence[str], config: CardConfig) -> Retrieval | None:
    """Figures of at most `config.texts` of the texts, or of their paragraphs if there are fewer texts; None of less
    than two."""
    if len(texts) < config.texts:
        texts = [part for text in texts for part in _BLANK.split(text) if count_words(part) >= WORDS]
    some = [texts[i] for i in _spread(len(texts), config.texts)]
    ours, theirs = (vectors(checkpoint, some)[0] for checkpoint in (student, teacher))
    if len(ours) < 2:
        return None
    number = len(ours)
    # The mean over all pairs of two different texts, without a matrix of them.
    total = units(theirs).sum(0)
    apart = float((total @ total - number) / (number * (number - 1)))
    return Retrieval(
        texts=number,
        cosine=_mean(cosines(ours, theirs), config),
        apart=apart,
        spearman=spearman_of_pairs(ours, theirs),
        neighbour=_mean(neighbours_kept(ours, theirs).astype(float), config),
    )


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Texts with a class each."""

    file: str
    texts: Sequence[str]
    labels: Sequence[str]


def task(teacher: Checkpoint, student: Checkpoint, given: Labelled, config: CardConfig) -> TaskRow:
    """How well the classes are told from the vectors of either model. A class of which one text alone is read is left
    out: there is nothing to learn it from.

    Raises:
        InputError: fewer than two classes.
    """
    rows = _spread(len(given.texts), config.labelled)
    texts, labels = [given.texts[i] for i in rows], np.array([given.labels[i] for i in rows])
    read_by = {name: vectors(c, texts) for name, c in (("teacher", teacher), ("student", student))}
    labels = labels[read_by["teacher"][1]]
    kinds, numbers = np.unique(labels, return_counts=True)
    some = np.isin(labels, kinds[numbers > 1])
    names, truth, sizes = np.unique(labels[some], return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise too_few_classes(given.file, names.tolist())
    fold = dealt(truth, config.seed)
    told = {name: np.zeros(len(truth), int) for name in read_by}
    for part in range(FOLDS):
        here = fold == part
        for name, (found, _) in read_by.items():
            if here.any():
                found = found[some]
                told[name][here] = logistic(found[~here], truth[~here], found[here], len(names)).argmax(1)
    tables = {name: confusion(truth, answers, len(names)) for name, answers in told.items()}
    right = {name: (answers == truth).astype(float) for name, answers in told.items()}
    return TaskRow(
        file=given.file,
        texts=len(truth),
        classes=len(names),
        folds=FOLDS,
        frequent=float(sizes.max() / len(truth)),
        accuracy={name: accuracy(table) for name, table in tables.items()},
        macro_f1={name: macro_f1(table) for name, table in tables.items()},
        difference=_mean(right["student"] - right["teacher"], config),
    )


def too_few_classes(file: str, found: Sequence[str]) -> InputError:
    """Of those that have two texts."""
    return InputError(
        where=file, expected="two classes or more, of two texts each", found=", ".join(map(repr, found)) or "none"
    )


def dealt(truth: np.ndarray, seed: int) -> np.ndarray:
    """(N,) fold of each text, those of a class dealt out in turn."""
    draw, fold = np.random.default_rng(seed), np.zeros(len(truth), int)
    for kind in range(int(truth.max(initial=-1)) + 1):
        rows = draw.permutation(np.flatnonzero(truth == kind))
        fold[rows] = np.arange(len(rows)) % FOLDS
    return fold
