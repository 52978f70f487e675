"""The tables of bits_per_base.json: table.py RESULT.json [CARD.md].

They go to RESULT.md beside the JSON, and as the last section of a model card if one is named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from longseq.formats.atomic import write_aside
from longseq.formats.markdown import table

SECTION = "## Measured"
"""Heading of the section of a model card that is written here."""
TITLES = {
    "genus": "A genus that was not learned from",
    "contigs": "Contigs of a genome whose other contigs were learned from",
}


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: table.py RESULT.json [CARD.md]")
    file = Path(sys.argv[1])
    result = json.loads(file.read_text(encoding="utf-8"))
    origin = result["provenance"]
    parts = [
        f"Tested on {result['tested_on']}, strands: {result['strands']}. Bits per base, in all and by what was read "
        "before of the record: a contig, or all contigs end to end where the state is carried over the genome. "
        f"Differences: the model less the row, both read in the same way; intervals: {result['intervals']}."
    ]
    for question in result["questions"]:
        parts += described(question)
    if file.with_suffix(".png").exists():
        parts += [f"![Bits per base against context]({file.with_suffix('.png').name})"]
    made = f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, {origin['time']}."
    with write_aside(file.with_suffix(".md"), force=True) as aside:
        aside.write_text("\n\n".join([f"# {result['benchmark']}", *parts, made]) + "\n", encoding="utf-8")
    pictures = [part for part in parts if part.startswith("![")]
    text = "\n\n".join([part for part in parts if part not in pictures] + [made])
    for card in map(Path, sys.argv[2:]):
        facts = card.read_text(encoding="utf-8").partition(SECTION)[0].rstrip("\n")
        with write_aside(card, force=True) as aside:
            aside.write_text(f"{facts}\n\n{SECTION}\n\n{text}\n", encoding="utf-8")


def described(question: dict) -> list[str]:
    """Paragraphs and tables of one question."""
    rows = sorted(question["rows"], key=lambda row: row["bits_per_base"])
    brackets = list(rows[0]["by_position"])
    cells = [
        [
            row["name"],
            row["state"],
            bits(row["bits_per_base"]),
            gap(row.get("model_less_it")),
            *(bits(row["by_position"][name]) for name in brackets),
        ]
        for row in rows
    ]
    parts = [
        f"### {TITLES[question['name']]}",
        f"{question['contigs']} contigs, {question['bases_scored']:,} bases. Static orders learned from "
        f"{', '.join(question['static_orders_trained_on'])}.",
        table(["model", "state", "all", "model less it", *brackets], cells).rstrip("\n"),
    ]
    rows = [row for row in rows if "by_context" in row]
    if rows:
        names = list(rows[0]["by_context"])
        falls = list(rows[0]["context_falls"])
        cells = [
            [row["name"], *(bits(row["by_context"][n]) for n in names), *(gap(row["context_falls"][n]) for n in falls)]
            for row in rows
        ]
        parts += [
            "The same bases with so much context (from half of it to all of it), and what more context changes:",
            table(["model", *names, *falls], cells).rstrip("\n"),
        ]
    return parts


def bits(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def gap(found: dict | None) -> str:
    return "" if found is None else f"{found['difference']:+.4f} ({found['low']:+.4f} to {found['high']:+.4f})"


if __name__ == "__main__":
    main()
