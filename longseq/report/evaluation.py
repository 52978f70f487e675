"""An evaluation as text for a terminal: figures of each system, and by how much the summaries beat it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longseq.log import count
from longseq.report.bench import aligned
from longseq.results.evaluation import Evaluation, Figure, SystemRow

SHORT = {"rouge1": "R-1", "rouge2": "R-2", "rougeL": "R-L", "rougeLsum": "R-Lsum"}
NAMED = 5
"""Ids named of what was left out."""


def evaluation_text(found: Evaluation) -> str:
    """Plain text, ended by a line feed."""
    return "\n".join([*_head(found), *_systems(found), *_against(found)]) + "\n"


def left_out(found: Evaluation) -> Iterator[str]:
    """What was not compared, a line for each kind."""
    for what, ids in found.unmatched.items():
        if ids:
            some = ", ".join(ids[:NAMED]) + (f" and {len(ids) - NAMED} more" if len(ids) > NAMED else "")
            yield f"{what} left out, as nothing stands beside them: {len(ids):,} ({some})"


def _head(found: Evaluation) -> Iterator[str]:
    tokens = "; ".join(f"{what}{f' ({n:,})' if len(found.tokens) > 1 else ''}" for what, n in found.tokens.items())
    yield f"{count(found.documents, 'document')}; ROUGE F of {tokens}; intervals of 95 %"


def _systems(found: Evaluation) -> Iterator[str]:
    kinds = list(found.systems[0].rouge)
    titles = ("", *(SHORT[kind] for kind in kinds), "words", "coverage", "redundancy", "dangling")
    yield ""
    yield from aligned([titles, *(_cells(row, kinds) for row in found.systems)])


def _cells(row: SystemRow, kinds: Sequence[str]) -> tuple[str, ...]:
    return (
        row.system,
        *(f"{row.rouge[kind]['f'].value:.3f}" for kind in kinds),
        f"{row.words:,.0f}",
        "NA" if row.coverage is None else f"{row.coverage:.3f}",
        f"{row.redundancy:.3f}",
        f"{row.dangling:.3f}",
    )


def _against(found: Evaluation) -> Iterator[str]:
    if not found.against:
        own = found.systems[0]
        yield ""
        yield from aligned(
            [("", *SHORT.values()), (own.system, *(_interval(parts["f"]) for parts in own.rouge.values()))]
        )
        return
    yield ""
    yield "summaries less"
    rows = [(row.system, *(_interval(row.rouge[kind], sign="+") for kind in SHORT)) for row in found.against]
    yield from aligned([("", *SHORT.values()), *rows])


def _interval(figure: Figure, sign: str = "") -> str:
    return f"{figure.value:{sign}.3f} [{figure.low:{sign}.3f}, {figure.high:{sign}.3f}]"
