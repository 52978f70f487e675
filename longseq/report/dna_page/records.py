"""A table of the longest records, and what was found in all."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from longseq.log import count
from longseq.report.findings import FindingsSeen
from longseq.report.lines import number, shortened
from longseq.report.page import Markup, element, table
from longseq.results.dna import RecordSummary, SequenceRow

SHOWN = 200
"""Rows; `sequences.tsv` has all."""


class Records:
    """Takes records as they come."""

    def __init__(self) -> None:
        self.findings: dict[int, FindingsSeen] = {}
        """By the place of the input."""
        self._kept: list[tuple[int, int, int, SequenceRow]] = []
        self._seen = 0

    def dna(self, summary: RecordSummary) -> None:
        row = summary.row
        seen = self.findings.get(summary.source)
        if seen is None:
            seen = self.findings[summary.source] = FindingsSeen()
        seen.add(row)
        self._seen += 1
        if len(self._kept) < SHOWN:
            heapq.heappush(self._kept, (row.length, -self._seen, summary.source, row))
        elif row.length > self._kept[0][0]:
            heapq.heapreplace(self._kept, (row.length, -self._seen, summary.source, row))

    def shown(self, records: int, samples: Sequence[str]) -> list[Markup]:
        """Longest first; columns without a value are left out."""
        rows = [
            _cells(row, samples[source] if samples else "")
            for _, _, source, row in sorted(self._kept, key=lambda entry: entry[:2], reverse=True)
        ]
        empty = ("", "NA", "0", "0.0")  # as a record may be called, too
        names = [name for name in rows[0] if name == "record" or any(row[name] not in empty for row in rows)]
        more = (
            f"The longest {len(rows)} of {count(records, 'record')}; sequences.tsv has all."
            if records > len(rows)
            else ""
        )
        parts = [element("p", more, class_="facts")] if more else []
        return [*parts, table(names, ([row[name] for name in names] for row in rows), "Records")]


def _cells(row: SequenceRow, sample: str) -> dict[str, str]:
    found = row.findings
    place = f":{row.start + 1:,}-{row.start + row.length:,}" if row.start or "offset" in row.notes else ""
    classes = found.classes
    likely = "" if classes is None or classes.probability is None else f" ({classes.probability:.2f})"
    ends = [f"repeat of {found.terminal_repeat.length:,} bp"] if found.terminal_repeat is not None else []
    ends += [f"telomere {one.unit} at the {one.end}" for one in found.telomeres]
    return {
        "record": (shortened(row.id) or "(no id)") + place,
        "input": sample,
        "description": shortened(row.description, 60),
        "bp": f"{row.length:,}",
        "GC, %": number(row.gc, 2),
        "N": f"{row.n:,}",
        "soft-masked, %": number(row.softmask, 1),
        "bits a base": number(row.bits_per_base, 3),
        "of the model's range": "" if found.novelty in (None, "unknown") else str(found.novelty),
        "class": "" if classes is None else f"{shortened(classes.label, 20)}{likely}",
        "genes": "" if found.genes is None else f"{found.genes.number:,}",
        "topology": "" if row.topology == "unknown" else row.topology,
        "ends": ", ".join(ends),
        "cut short": "yes" if row.truncated else "",
    }
