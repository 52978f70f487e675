"""The outcome of `check` as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.results.check import CheckOutcome, Figure, LawResult

HEAD = ("law", "in", "worst", "limit", "", "where it came closest")


def check_text(outcome: CheckOutcome, verbose: bool = False) -> str:
    """A table a model, its figures, and what does not apply where `verbose`; a last line says what came of it."""
    models = list(dict.fromkeys(law.model for law in outcome.laws))
    lines = []
    for model in models:
        lines += [model, *_table([law for law in outcome.laws if law.model == model])]
        figures = [figure for figure in outcome.figures if figure.model == model]
        lines += [f"  {figure_text(figure)}" for figure in figures]
        if verbose:
            lines += [f"  {law.law}: not tried, {law.reason}" for law in outcome.skipped if law.model == model]
        lines.append("")
    return "\n".join([*lines, verdict(outcome)]) + "\n"


def verdict(outcome: CheckOutcome) -> str:
    """One line."""
    broken = list(dict.fromkeys(law.law for law in outcome.broken))
    if broken:
        return f"broken: {', '.join(broken)}"
    return f"all {len(outcome.laws)} hold"


def figure_text(figure: Figure) -> str:
    """One figure in a line."""
    return f"{figure.name}: {figure.value:.4f} {figure.unit}"


def broken_text(law: LawResult) -> str:
    """One broken law in a line."""
    return f"{law.model}: {law.law} is broken: {law.worst:.2g}, limit {law.limit:.0e}, {law.precision}, {law.what}"


def _table(laws: list[LawResult]) -> Iterator[str]:
    rows = [HEAD]
    for law in laws:
        mark = "ok" if law.ok else "BROKEN"
        rows.append((law.law, law.precision, rounded(law.worst), rounded(law.limit), mark, law.what))
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    for row in rows:
        yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def rounded(value: float) -> str:
    """As a table has room for."""
    return f"{value:.0f}" if value in (0, 1) else f"{value:.1e}"
