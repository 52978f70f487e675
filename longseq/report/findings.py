"""Lines for a terminal of what was found at the ends of records and by models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from longseq.log import count
from longseq.results.dna import SequenceRow
from longseq.results.findings import Findings


class FindingsSeen:
    """What is kept of the findings of one input's records."""

    def __init__(self) -> None:
        self._repeats = self._with_telomeres = self._records = 0
        self._telomeres: Counter[str] = Counter()
        self._novelty: Counter[str] = Counter()
        self._last: Findings | None = None

    def add(self, row: SequenceRow) -> None:
        found = row.findings
        self._last, self._records = found, self._records + 1
        self._repeats += found.terminal_repeat is not None
        if found.telomeres:
            self._with_telomeres += 1
            self._telomeres.update(one.unit for one in found.telomeres)
        if found.novelty is not None:
            self._novelty[found.novelty] += 1

    def lines(self) -> Iterator[tuple[str, str]]:
        """Name and text of each line; two at most, of several records one."""
        ends = [*self._ends()]
        if ends:
            yield "ends", "; ".join(ends)
        if self._records == 1 and self._last is not None and self._last.representatives:
            kinds = (
                f"{one.start + 1:,}-{one.end:,} stands for {100 * one.share:.0f} %"
                for one in self._last.representatives
            )
            yield "typical", f"windows by embedding: {', '.join(kinds)}"

    def novelty(self) -> str:
        """What follows the bits a base: nothing where the model has no range."""
        told = self._novelty["in range"] + self._novelty["out of range"]
        if not told:
            return ""
        if self._records == 1 and self._last is not None and self._last.out_of_range is not None:
            return f"; {self._last.novelty} of the model, {100 * self._last.out_of_range:.0f} % of windows outside"
        return f"; {self._novelty['out of range']:,} of {count(told, 'record')} out of the model's range"

    @property
    def outside(self) -> int:
        """Records out of the range of the model."""
        return self._novelty["out of range"]

    def _ends(self) -> Iterator[str]:
        if self._records == 1 and self._last is not None:
            if (repeat := self._last.terminal_repeat) is not None:
                yield f"terminal repeat of {repeat.length:,} bp, {100 * repeat.identity:.2f} % equal"
            for one in self._last.telomeres:
                yield f"telomere {one.unit} ({one.strand}) at the {one.end}, {one.length:,} bp"
            return
        if self._repeats:
            yield f"terminal repeats in {count(self._repeats, 'record')}"
        if self._telomeres:
            units = ", ".join(f"{unit} at {number:,}" for unit, number in self._telomeres.most_common(2))
            yield f"telomeres: {units} ends, in {self._with_telomeres:,} records"
