"""A run over a table of variants: names, then windows, then answers, each in a walk of its own over the rows."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from longseq import __version__
from longseq.errors import StoppedError
from longseq.formats.letters import OnUnknown
from longseq.log import NullProgress, Progress, count
from longseq.records import reverse_complement
from longseq.results.source import SourceRow
from longseq.tasks.summarize.model import LoadedModel
from longseq.tasks.variants.answers import Answer, VariantAnswers
from longseq.tasks.variants.kept import SCHEMA, digest
from longseq.tasks.variants.request import CONTEXT, LONGEST, VariantRequest
from longseq.training.signals import StopRequest


class VariantRun(VariantAnswers):
    """Opened with a request; `score` once, then `answers`."""

    def __init__(self, request: VariantRequest, model: LoadedModel):
        """Raises what `VariantAnswers` does."""
        self.model = model
        self.windows = 0
        """Distinct windows that a model has read in this run."""
        self.tokens = 0
        """Bases of them."""
        super().__init__(request)

    def settings(self) -> dict[str, Any]:
        """All that the number of a window depends on, and where its windows come from."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "variants": self.request.variants,
            "digest of the variants": self.digests[0],
            "rows": self.rows,
            "reference": self.request.reference,
            "digest of the reference": self.digests[1],
            "alias": [list(pair) for pair in self.request.alias],
            "model": self.model.name,
            "digest of the model": self.model.sha256,
            "device": self.model.device,
            "precision": self.model.precision,
            "threads": self.model.threads,
            "chunk": self.model.surprisal.chunk,
            "context": self.request.context,
            "longest allele": self.request.longest,
            "on_unknown": self.request.on_unknown,
        }

    def score(
        self, *, rows: range | None = None, stop: StopRequest | None = None, progress: Progress | None = None
    ) -> None:
        """Have the model read each distinct window that `scores` does not hold, on both strands; of these rows only,
        counted from 0, or of all.

        Raises:
            StoppedError, KeyboardInterrupt: a signal came; what was read is saved.
        """
        progress = progress or NullProgress()
        wanted = range(self.rows) if rows is None else rows
        progress.start("score", len(wanted), "variant")
        done = wanted.start
        try:
            for (key, row), track in self.model.surprisal.many(self._unread(wanted)):
                bits, length = 0.0, 0
                for part in track:
                    bits += float(np.nansum(part.bits, dtype=np.float64))
                    length += len(part.bits)
                self.scores[key] = bits
                self.windows += 1
                self.tokens += length
                progress.advance(row - done)
                done = row
                if stop is not None and stop.name is not None:
                    self._give_way(stop.name)
            self.scores.save()
        finally:
            progress.finish()

    def _give_way(self, signal: str) -> None:
        self.scores.save()
        when = f"after {count(len(self.scores), 'window')}; what was done is saved"
        where = str(self.scores.path)
        if signal == "SIGINT":
            raise KeyboardInterrupt(f"{where}: interrupted {when}; --resume goes on")
        raise StoppedError(f"stopped by {signal} {when}", where=where, remedy="--resume goes on")

    def _unread(self, rows: range) -> Iterator[tuple[tuple[bytes, int], list[bytes]]]:
        """Windows of these rows that have no number yet, each once, with a key and the number of its row, from 1."""
        given: set[bytes] = set()
        for number, row in enumerate(itertools.islice(self.table.rows(), rows.start, rows.stop), rows.start + 1):
            for allele in self._alleles(row):
                for window in allele.windows or ():
                    for letters in (window, reverse_complement(window)):
                        key = digest(letters)
                        if key not in self.scores and key not in given:
                            given.add(key)
                            yield (key, number), [letters]


def score_variants(
    variants: str,
    reference: str,
    *,
    model: LoadedModel,
    alias: tuple[tuple[str, str], ...] = (),
    context: int = CONTEXT,
    longest: int = LONGEST,
    on_unknown: OnUnknown = "error",
    progress: Progress | None = None,
) -> Generator[Answer, None, list[SourceRow]]:
    """Rows of a VCF or BCF with the log-likelihood ratio of each alternative allele, in nats, mean of both strands; in
    the end the table and the reference, as they were read. `longseq.score_variants` says more.

    Raises:
        InputError: a file that cannot be read, or names that do not belong together.
    """
    request = VariantRequest(
        variants=variants, reference=reference, alias=alias, context=context, longest=longest, on_unknown=on_unknown
    )
    with VariantRun(request, model) as run:
        run.score(progress=progress)
        yield from run.answers()
        return run.sources
