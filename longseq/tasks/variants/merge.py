"""The answers that the shards of a batch make."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from longseq.errors import InputError, place
from longseq.tasks.shards.gather import Batch
from longseq.tasks.variants.answers import VariantAnswers
from longseq.tasks.variants.request import VariantRequest

COMMAND = "score --reference"


class Costs(NamedTuple):
    """What windows cost."""

    digests: np.ndarray
    """(W, 16) uint8, of their letters."""
    bits: np.ndarray
    """(W,) float64."""


KINDS = (Costs,)
"""Frames of a shard's spool."""


class Merged(VariantAnswers):
    """The run that a batch was cut from, with what its windows cost; close it."""

    def __init__(self, batch: Batch):
        """Raises InputError: as `VariantAnswers`, or the table or the reference is not what it was."""
        facts: dict[str, Any] = batch.facts
        asked = facts["request"] | {"alias": tuple(map(tuple, facts["request"]["alias"]))}
        self._settings = facts["settings"]
        super().__init__(VariantRequest(**asked))
        try:
            self._require_unchanged()
            for _, costs in batch.frames(KINDS):
                for key, bits in zip(costs.digests, costs.bits.tolist(), strict=True):
                    self.scores[key.tobytes()] = bits
        except BaseException:
            self.close()
            raise

    def settings(self) -> dict[str, Any]:
        return self._settings

    def _require_unchanged(self) -> None:
        names = (("variants", self.request.variants), ("reference", self.request.reference))
        for (name, file), now in zip(names, self.digests, strict=True):
            if self._settings[f"digest of the {name}"] != now:
                raise InputError(
                    "is not what it was when its shards were scored", where=place(file), remedy="score them again"
                )
