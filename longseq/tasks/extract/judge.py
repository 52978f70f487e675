"""A trained extractor in the place of the weights chosen by hand."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from longseq.errors import CheckpointError
from longseq.model import load
from longseq.model.checkpoint import locate
from longseq.model.extractor import ENCODER, WEIGHTS, Extractor, load_extractor
from longseq.ops.machine import prepare
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.vectors import Vectors
from longseq.tasks.extract.states import SentenceStates
from longseq.tasks.extract.traits import TRAITS, traits


class TrainedJudge:
    """Judges the sentences of a collection; sentences of several documents each among those of their own."""

    def __init__(self, model: Extractor, states: SentenceStates | None = None, described: str = "an extractor"):
        self.model, self.states, self.described = model, states, described

    @classmethod
    def load(cls, directory: str | Path, threads: int = 1) -> TrainedJudge:
        """From what `longseq train --task extract` left; `threads` of the processor, on which rounding depends.

        Raises:
            CheckpointError: no extractor, or one that reads other traits than this version tells.
        """
        prepare(threads)
        model = load_extractor(directory)
        if model.config.traits != TRAITS:
            changed = sorted(set(model.config.traits) ^ set(TRAITS))
            raise CheckpointError(
                where=str(directory),
                expected="the traits that this version tells of a sentence",
                found=f"others ({', '.join(changed) or 'in another order'})",
                remedy="train it again: longseq train DATA --task extract",
            )
        states = SentenceStates(load(locate(Path(directory) / ENCODER))) if model.config.states else None
        if states is not None and states.width != model.config.states:
            found = f"one of {states.width}"
            raise CheckpointError(
                where=str(directory), expected=f"an encoder of {model.config.states} channels", found=found
            )
        weights = (Path(directory) / WEIGHTS).read_bytes()
        return cls(model, states, f"{directory} (weights {hashlib.sha256(weights).hexdigest()[:12]})")

    def judge(self, collection: Collection, keep: np.ndarray, vectors: Vectors, outline: Outline) -> np.ndarray:
        """(n,) float32 on the scale of logarithms: what each of the rows in `keep` is worth, whose `vectors` these
        are."""
        told = torch.from_numpy(traits(collection, keep, vectors, outline))
        states = None if self.states is None else torch.from_numpy(self.states.read(collection, keep))
        document = collection.rows.column("document", keep)
        cuts = [*np.flatnonzero(np.diff(document, prepend=-1)).tolist(), len(document)]
        found = np.zeros(len(document), np.float32)
        with torch.inference_mode():
            for a, b in pairwise(cuts):
                answers = self.model(told[a:b], None if states is None else states[a:b])
                found[a:b] = self.model.worth(answers).numpy()
        return found
