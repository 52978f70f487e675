"""Summaries against references, document by document, beside baselines of the same length."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from longseq.errors import InputError
from longseq.formats import read
from longseq.formats.folders import files
from longseq.log import NullProgress, Progress
from longseq.metrics import paired
from longseq.metrics.rouge import KINDS, Overlap, by_words, rouge
from longseq.records import Record
from longseq.results.evaluation import Against, Evaluation, Figure, SystemRow
from longseq.results.run import Run
from longseq.tasks.evaluate.baselines import NAMES, baselines, prose
from longseq.tasks.evaluate.measures import concepts, coverage, dangling, redundancy
from longseq.tasks.evaluate.texts import REFERENCES, SUMMARIES, Texts, key, read_texts
from longseq.tokens.words import count_words

log = logging.getLogger("longseq")

OURS, PARTS = "summaries", ("precision", "recall", "f")


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """What is compared."""

    summaries: str
    """What `summarize --json` or `--out` wrote, a table, or documents."""
    references: str
    """A table, or documents."""
    documents: tuple[str, ...] = ()
    """What was summed up; without it there are no baselines."""
    column: str | None = None
    """Of the summaries' table."""
    reference_column: str | None = None
    document_column: str | None = None
    seed: int = 0
    """Of random sentences and of the intervals."""


@dataclass
class _Figures:
    """Of one system, a value a document."""

    rouge: dict[str, list[Overlap]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    words: list[int] = field(default_factory=list)
    coverage: list[float] = field(default_factory=list)
    redundancy: list[float] = field(default_factory=list)
    sentences: int = 0
    dangling: int = 0

    def f(self, kind: str) -> np.ndarray:
        return np.array([overlap.f for overlap in self.rouge[kind]])


def evaluate(request: EvaluateRequest, run: Run, progress: Progress | None = None) -> Evaluation:
    """Figures of every summary that has a reference (and a document, where documents are given), by id.

    Summaries and references are held in memory, documents one at a time. A baseline may have as many words as the
    summary beside which it stands.

    Raises:
        InputError: a file that cannot be read, an id twice, or nothing that belongs together.
    """
    summaries = read_texts(request.summaries, request.column, SUMMARIES, "--column")
    references = read_texts(request.references, request.reference_column, REFERENCES, "--reference-column")
    both = [id for id in summaries if id in references]
    progress = progress or NullProgress()
    progress.start("evaluate", len(both), "document")
    systems: dict[str, _Figures] = {}
    records: list[dict[str, object]] = []
    counted: Counter[str] = Counter()
    unread: list[str] = []
    for id, told, document in _systems(both, summaries, references, request, unread):
        reference = references[id]
        counted["rouge-score's words, stemmed" if by_words("\n".join(reference)) else "letters and words"] += 1
        row: dict[str, object] = {"id": id}
        for name, sentences in told.items():
            figures = systems.setdefault(name, _Figures())
            found = rouge(reference, sentences)
            row[name] = {kind: overlap.f for kind, overlap in found.items()}
            for kind, overlap in found.items():
                figures.rouge[kind].append(overlap)
            figures.words.append(sum(map(count_words, sentences)))
            figures.redundancy.append(redundancy(sentences))
            figures.sentences += len(sentences)
            figures.dangling += dangling(sentences, document)
            if request.documents:
                figures.coverage.append(coverage(concepts(document), sentences))
        records.append(row)
        progress.advance(1)
    progress.finish()
    unmatched = _unmatched(summaries, references, request, {str(row["id"]) for row in records}, unread)
    if not records:
        raise InputError(
            where=f"{request.summaries}, {request.references}" + "".join(f", {d}" for d in request.documents),
            expected="ids in common",
            found="; ".join(f"{what}: {_some(ids)}" for what, ids in unmatched.items() if ids) or "none at all",
        )
    return Evaluation(
        run=run,
        documents=len(records),
        tokens=dict(counted),
        systems=[_row(name, figures, request.seed) for name, figures in systems.items()],
        against=[_against(name, systems, request.seed) for name in systems if name != OURS],
        unmatched=unmatched,
        records=records,
    )


def _systems(
    both: Sequence[str],
    summaries: Texts,
    references: Texts,
    request: EvaluateRequest,
    unread: list[str],
) -> Iterator[tuple[str, dict[str, tuple[str, ...]], tuple[str, ...]]]:
    """(id, sentences by system, sentences of the document); to `unread` go documents without a summary or reference."""
    if not request.documents:
        yield from ((id, {OURS: summaries[id]}, ()) for id in both)
        return
    wanted, seen = set(both), set()
    for record in _documents(request):
        id = key(record.id)
        if id in seen:
            raise InputError(where=record.where, expected="an id once", found=f"{id!r} twice")
        seen.add(id)
        if id not in wanted:
            unread.append(id)
            continue
        source, ours = prose(record), summaries[id]
        budget, reference = sum(map(count_words, ours)), "\n".join(references[id])
        found = dict(baselines(source, reference, budget, id=id, seed=request.seed))
        yield id, {OURS: ours, **{name: found[name] for name in NAMES}}, source.texts


def _documents(request: EvaluateRequest) -> Iterator[Record]:
    for name in files(request.documents):
        with read(name, kind="document", text=request.document_column) as reading:
            yield from reading


def _unmatched(
    summaries: Texts, references: Texts, request: EvaluateRequest, done: set[str], unread: list[str]
) -> dict[str, list[str]]:
    found = {
        "summaries": [id for id in summaries if id not in done],
        "references": [id for id in references if id not in done],
    }
    return found | ({"documents": unread} if request.documents else {})


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")


def _figure(values: np.ndarray, seed: int) -> Figure:
    return Figure(**paired.mean(values, seed=seed)._asdict())


def _row(name: str, found: _Figures, seed: int) -> SystemRow:
    return SystemRow(
        system=name,
        words=float(np.mean(found.words)),
        rouge={
            kind: {part: _figure(np.array([getattr(overlap, part) for overlap in each]), seed) for part in PARTS}
            for kind, each in found.rouge.items()
        },
        coverage=float(np.mean(found.coverage)) if found.coverage else None,
        redundancy=float(np.mean(found.redundancy)),
        dangling=found.dangling / max(found.sentences, 1),
    )


def _against(name: str, systems: Mapping[str, _Figures], seed: int) -> Against:
    ours, theirs = systems[OURS], systems[name]
    return Against(system=name, rouge={kind: _figure(ours.f(kind) - theirs.f(kind), seed) for kind in KINDS})
