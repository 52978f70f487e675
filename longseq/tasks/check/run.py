"""All laws on all subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from longseq.config import require
from longseq.log import NullProgress, Progress
from longseq.results.check import CheckOutcome, DriftPoint, Figure, LawResult, SkippedLaw
from longseq.tasks.check import drift, gradient, lanes, operation, precision, split, strand
from longseq.tasks.check.case import Case, Law
from longseq.tasks.check.subject import Subject

LENGTH = 16384
"""Tokens of the longest reading, unless told otherwise."""
GROWING = 2048
"""The same where the state grows with the record."""
LONG_SUM = "long sum"
LONGEST = 1 << 20
"""Tokens of the longest reading at most: laws hold what they read in memory."""


LAWS = (
    Law("split", split.cut),
    Law("block", split.block, operation.needs_memory),
    Law("rescaling", split.rescaling, operation.needs_memory),
    Law("padding", lanes.padding),
    Law("lanes", lanes.lanes),
    Law("causality", lanes.causality),
    Law("gradient", gradient.gradient),
    Law("precision", precision.activations),
    Law("memory", precision.memory, operation.needs_memory),
    Law("drift", drift.drift),
    Law("size", drift.size, operation.needs_memory),
    Law("definition", operation.definition, operation.needs_memory),
    Law("epsilon", operation.epsilon, operation.needs_memory),
    Law(LONG_SUM, operation.long_sum, operation.needs_memory),
    Law("strand", strand.gap, strand.needs_dna),
)
"""In the order in which they are tried and reported."""


def check(
    subjects: Sequence[Subject],
    length: int | None = None,
    laws: Sequence[Law] = LAWS,
    progress: Progress | None = None,
    *,
    long_sum: int | None = None,
) -> CheckOutcome:
    """Try every law on every subject.

    Args:
        length: Tokens of the longest reading, 64 to `LONGEST`; None: 16,384, or 2,048 where the state grows
            with the record.
        progress: Told of each law that is done.
        long_sum: Tokens of the law of that name, on each subject with a memory; None: 64 × length.
    """
    require(length is None or 64 <= length <= LONGEST, "length", length, f"64 to {LONGEST:,} tokens")
    require(long_sum is None or long_sum >= 1, "long sum", long_sum, ">= 1 token")
    laws = [_summing(law, long_sum) for law in laws]
    progress = progress or NullProgress()
    results: list[LawResult] = []
    skipped: list[SkippedLaw] = []
    figures: list[Figure] = []
    drifted: list[DriftPoint] = []
    progress.start("check", None, "law")  # laws take so unequal times that a rate would mislead
    try:
        for subject in subjects:
            tokens = length or (GROWING if subject.grows else LENGTH)
            for law in laws:
                reason = law.unfit(subject)
                if reason is not None:
                    skipped.append(SkippedLaw(law=law.name, model=subject.name, reason=reason))
                else:
                    found = list(law.cases(subject, tokens))
                    figures += [item for item in found if isinstance(item, Figure)]
                    drifted += [item for item in found if isinstance(item, DriftPoint)]
                    results += _results(law, subject, [item for item in found if isinstance(item, Case)])
                progress.advance(1, last=law.name)
    finally:
        progress.finish()
    return CheckOutcome(laws=tuple(results), skipped=tuple(skipped), figures=tuple(figures), drift=tuple(drifted))


def _summing(law: Law, tokens: int | None) -> Law:
    """The law, and if it is that of the long sum, over so many tokens."""
    return replace(law, cases=partial(operation.long_sum, tokens=tokens)) if law.name == LONG_SUM else law


def _results(law: Law, subject: Subject, cases: list[Case]) -> list[LawResult]:
    """One a precision and limit: the case nearest to its limit, or furthest beyond it."""
    results = []

    def key(case: Case) -> tuple[str, float]:
        return case.precision, case.limit

    for (precision_name, limit), group in groupby(sorted(cases, key=key), key):
        tried = list(group)
        worst = max(tried, key=lambda case: case.figure)
        results.append(
            LawResult(
                law=law.name,
                model=subject.name,
                precision=precision_name,
                what=worst.what,
                worst=worst.figure,
                limit=limit,
                ok=worst.figure <= limit,
                cases=len(tried),
            )
        )
    return results
