"""What is said of the rows of a table of variants, from what their windows cost.

The table is walked several times and never held; what is kept of a window is a digest and a number.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from longseq.errors import InputError
from longseq.formats.digest import require_digest, same_digest
from longseq.formats.names import listed, match
from longseq.formats.vcf import VcfFile, VcfRow
from longseq.records import reverse_complement
from longseq.results.source import SourceRow
from longseq.tasks.sources import NAMED
from longseq.tasks.variants.alleles import FAULTS, Allele, Windows, alleles
from longseq.tasks.variants.kept import Kept, digest
from longseq.tasks.variants.reference import Reference
from longseq.tasks.variants.request import VariantRequest


class AlleleScore(NamedTuple):
    """What is said of one alternative allele."""

    alt: str | None
    """As the table spells it; None where the row has none."""
    llr: float | None
    """Log-likelihood ratio, alternative minus reference, in nats; mean of both strands. None where `reason` says so."""
    forward: float | None
    """The same of the forward strand."""
    reverse: float | None
    """The same of the reverse complement."""
    changed: int
    """Bases of the longer allele, without those that both share at their ends; 0 where there is no number."""
    reason: str | None
    """A key of `alleles.REASONS`, two with `&` between them, or None."""


class Answer(NamedTuple):
    """A row, and its alleles in order; of a row without an alternative one allele that has no name."""

    row: VcfRow
    alleles: tuple[AlleleScore, ...]


class VariantAnswers(ABC):
    """Opened with a request; gives `answers`, as often as wanted, once `scores` has what windows cost. Close it."""

    def __init__(self, request: VariantRequest):
        """Read the names of the table and the reference.

        Raises:
            InputError: either cannot be read, a row is none, or no name of the table is one of the reference.
        """
        self.request = request
        self.scores = Kept()
        self.tally: tuple[int, Counter[str | None]] = (0, Counter())
        """Alleles that got a number, and all by reason, as the last walk of `answers` found them."""
        self._errors: list[str] = []
        self._faulty = 0
        self.table = VcfFile(request.variants)
        try:
            self.rows = 0
            wanted: dict[str, None] = {}
            for row in self.table.rows():
                self.rows += 1
                wanted[row.variant.record] = None
            self.records = tuple(wanted)
            """Names in the table, in the order of their first rows."""
            self.digests = same_digest(request.variants), same_digest(request.reference)
            """Of both files as they lie there."""
            self.reference = Reference(request.reference, on_unknown=request.on_unknown)
        except BaseException:
            self.table.close()
            raise
        try:
            require_digest(request.reference, self.digests[1])
            self._match()
        except BaseException:
            self.close()
            raise

    def _match(self) -> None:
        found = match(self.records, self.reference.names, self.request.alias, where=self.request.variants)
        self.names, self.notes = found.mapping, found.notes
        if self.records and not self.names:
            raise InputError(
                where=self.request.variants,
                expected=f"names of records of {self.request.reference}: {listed(self.reference.names)}",
                found=listed(self.records),
                remedy="say which is which with --alias FILE",
            )

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """All that the number of a window depends on, and where its windows come from."""

    def answers(self) -> Iterator[Answer]:
        """A row each, in the order of the table."""
        self._errors, self._faulty = [], 0
        self.tally = (0, Counter())
        for row in self.table.rows():
            found = self._alleles(row)
            self._note(row, found)
            scored, reasons = self.tally
            reasons.update(allele.reason for allele in found)
            self.tally = (scored + sum(allele.windows is not None for allele in found), reasons)
            yield Answer(row, tuple(self._score(allele) for allele in found))

    def _alleles(self, row: VcfRow) -> list[Allele]:
        record = self.names.get(row.variant.record)
        return alleles(row.variant, self.reference, record, self.request.context, self.request.longest)

    def _score(self, allele: Allele) -> AlleleScore:
        if allele.windows is None:
            return AlleleScore(allele.alt, None, None, None, 0, allele.reason)
        forward = self._ratio(allele.windows)
        reverse = self._ratio(Windows(*map(reverse_complement, allele.windows)))
        return AlleleScore(allele.alt, (forward + reverse) / 2, forward, reverse, allele.changed, allele.reason)

    def _ratio(self, windows: Windows) -> float:
        """In nats. What stands before the allele costs the same in both and cancels."""
        new, old = (self.scores[digest(window)] for window in windows)
        return (old - new) * math.log(2)

    def _note(self, row: VcfRow, found: list[Allele]) -> None:
        reason = found[0].reason
        if reason not in FAULTS:
            return
        self._faulty += 1
        if len(self._errors) < NAMED:
            self._errors.append(str(self._fault(row, reason)))

    def _fault(self, row: VcfRow, reason: str | None) -> InputError:
        variant, where = row.variant, self.table.where(row)
        record = self.names.get(variant.record)
        if record is None:
            return InputError(where=where, expected=f"a record of {self.request.reference}", found="none of this name")
        if reason == "outside":
            length = self.reference.length(record)
            found = f"{len(variant.ref):,} from {variant.start + 1:,} on"
            return InputError(where=where, expected=f"bases from 1 to {length:,}", found=found)
        stands = self.reference.fetch(record, variant.start, variant.start + len(variant.ref)).decode()
        expected = f"REF {_short(stands)} at {variant.start + 1:,}, as in the reference"
        return InputError(where=where, expected=expected, found=_short(variant.ref))

    @property
    def sources(self) -> list[SourceRow]:
        """The table and the reference, as the last walk of `answers` found them."""
        table = SourceRow(
            file=self.request.variants,
            kind="dna",
            format="bcf" if self.table.binary else "vcf",
            records=self.rows,
            failed=self._faulty,
            errors=tuple(self._errors),
            truncated=self.table.truncated,
        )
        reference = SourceRow(
            file=self.request.reference,
            kind="dna",
            format=self.reference.format,
            container=self.reference.container,
            records=len(self.reference.names),
            length=self.reference.bases,
            truncated=self.reference.truncated,
        )
        return [table, reference]

    def close(self) -> None:
        self.table.close()
        self.reference.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _short(letters: str) -> str:
    return repr(letters if len(letters) <= 20 else f"{letters[:17]}...")
