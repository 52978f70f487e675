"""The picture of bits_per_base.py: bits against context, a panel for each question."""

from __future__ import annotations

from pathlib import Path

from longseq.formats.atomic import write_aside

TITLES = {"genus": "genus not learned from", "contigs": "other contigs learned from"}


def draw(questions: list[dict], file: Path) -> None:
    """One line a row that has figures by context; nothing is written where none has."""
    from matplotlib.figure import Figure

    shown = [question for question in questions if any("by_context" in row for row in question["rows"])]
    if not shown:
        return
    figure = Figure(figsize=(4.6 * len(shown), 3.8), dpi=110)
    for axes, question in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        for row in question["rows"]:
            if "by_context" in row:
                model = row["name"].startswith("model ")
                axes.plot(
                    list(row["by_context"]),
                    list(row["by_context"].values()),
                    label=row["name"],
                    linewidth=2.2 if model else 1.3,
                    linestyle="-" if model else "--",
                    marker="o",
                    markersize=4 if model else 3,
                )
        axes.set(title=TITLES[question["name"]], xlabel="bases of context", ylabel="bits per base")
        axes.title.set_fontsize(10)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=7)
    figure.tight_layout()
    with write_aside(file, force=True) as aside:
        figure.savefig(aside, format="png", metadata={"Software": None})
