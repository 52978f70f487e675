"""The table of a benchmark, made from what it measured: table.py RESULT.json [CARD.md].

It goes to RESULT.md beside the JSON, and as the last section of a model card if one is named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from longseq.formats.atomic import write_aside
from longseq.formats.markdown import table

SECTION = "## Measured"
"""Heading of the section of a model card that is written here."""


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: table.py RESULT.json [CARD.md]")
    file = Path(sys.argv[1])
    result = json.loads(file.read_text(encoding="utf-8"))
    rows = sorted(result["rows"], key=lambda row: row["bits_per_base"])
    brackets = next(list(row["by_position"]) for row in rows if "by_position" in row)
    cells = [
        [
            row["name"],
            f"{row['bits_per_base']:.4f}",
            *("" if (b := row.get("by_position", {}).get(name)) is None else f"{b:.4f}" for name in brackets),
        ]
        for row in rows
    ]
    origin = result["provenance"]
    text = "\n".join(
        [
            f"Trained on {', '.join(result['trained_on'])}; tested on {result['tested_on']}: {result['contigs']} "
            f"contigs, {result['bases_scored']:,} bases, strands: {result['strands']}. Bits per base, in all and by "
            "position in the contig.",
            "",
            table(["model", "all", *brackets], cells).rstrip("\n"),
            "",
            f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, {origin['time']}.",
            "",
        ]
    )
    with write_aside(file.with_suffix(".md"), force=True) as aside:
        aside.write_text(f"# {result['benchmark']}\n\n{text}", encoding="utf-8")
    for card in map(Path, sys.argv[2:]):
        facts = card.read_text(encoding="utf-8").partition(SECTION)[0].rstrip("\n")
        with write_aside(card, force=True) as aside:
            aside.write_text(f"{facts}\n\n{SECTION}\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
