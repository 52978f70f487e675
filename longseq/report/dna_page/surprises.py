"""The windows that the model found hardest to predict, with their letters."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from longseq.report.lines import number, shortened
from longseq.report.page import Markup, element, table
from longseq.results.dna import RecordSummary, SurprisingWindow

SHOWN = 20
WIDTH = 60
"""Letters a line."""

Entry = tuple[float, int, str, int, SurprisingWindow, str]


class Surprises:
    """Takes records as they come, and keeps the windows of most bits a base; of equals the first."""

    def __init__(self) -> None:
        self._kept: list[Entry] = []
        self._seen = 0

    def dna(self, summary: RecordSummary) -> None:
        row = summary.row
        letters = summary.quotes or ("",) * len(row.surprising)
        for window, quote in zip(row.surprising, letters, strict=True):
            self._seen += 1
            if len(self._kept) < SHOWN:
                heapq.heappush(self._kept, (window.bits, -self._seen, row.id, summary.source, window, quote))
            elif window.bits > self._kept[0][0]:
                heapq.heapreplace(self._kept, (window.bits, -self._seen, row.id, summary.source, window, quote))

    def shown(self, samples: Sequence[str]) -> list[Markup]:
        """A table and the letters, most surprising first; nothing without a model's bits."""
        if not self._kept:
            return []
        found = sorted(self._kept, key=lambda entry: entry[:2], reverse=True)
        head = ("", *(("input",) if samples else ()), "window", "bits a base", "z within its record")
        rows = [
            (
                str(at),
                *((samples[source],) if samples else ()),
                element("a", _place(name, window), href=f"#surprise-{at}") if quote else _place(name, window),
                f"{window.bits:.3f}",
                number(window.z, 1),
            )
            for at, (_, _, name, source, window, quote) in enumerate(found, 1)
        ]
        what = "Windows with the most bits a base: those that the model, knowing all before them, foresaw least."
        letters = [_letters(at, entry) for at, entry in enumerate(found, 1) if entry[5]]
        return [element("p", what), table(head, rows, "Most surprising windows"), *letters]


def _letters(at: int, entry: Entry) -> Markup:
    _, _, name, _, window, quote = entry
    lines = "".join(f"{quote[i : i + WIDTH]}\n" for i in range(0, len(quote), WIDTH))
    cut = window.end - window.start - len(quote)
    more = f"… and {cut:,} more bases\n" if cut > 0 else ""
    title = f"{at}. {_place(name, window)}: letters"
    text = f">{name or '.'}:{window.start + 1}-{window.start + len(quote)}\n{lines}{more}"
    place = f"Letters of window {at}"
    inside = element("pre", text, class_="letters", tabindex="0", role="region", aria_label=place)
    return element("details", element("summary", title), inside, id=f"surprise-{at}")


def _place(name: str, window: SurprisingWindow) -> str:
    return f"{shortened(name) or '(no id)'}:{window.start + 1:,}-{window.end:,}"
