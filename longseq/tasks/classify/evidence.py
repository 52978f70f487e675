"""Which sentences move the class of a document: by how much its margin falls where one is left out.

A head that reads a document by its mean or by attention reads a weighted mean of hidden vectors, and scores it by a
linear map: with weight w and scores s of a sentence in those of the whole, S, the others alone come to
(S - w s) / (1 - w), whatever the sentence. So one pass tells all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from longseq.model import RecordModel
from longseq.records import Record
from longseq.tasks.classify.found import Evidence
from longseq.tasks.document.manuscript import Manuscript
from longseq.tasks.sentence_places import Sentences


class Witness:
    """Takes the hidden vectors of one document and keeps the weight and the scores of each of its sentences."""

    def __init__(self, model: RecordModel, record: Record):
        """The record's letters are kept on disk as they pass; `close` gives the space back."""
        self.places, self._text = Sentences(), Manuscript()
        self._head, self._span = model.head, max(model.head.span, 1)
        self._held = torch.zeros(0, model.config.width)
        self._tokens, self._number, self._base = 0, 0, -np.inf
        self._weight, self._scores = np.zeros(0), np.zeros((0, model.head.score.out_features))
        record.pieces = self._kept(record.pieces)  # type: ignore[arg-type]

    def take(self, hidden: Tensor) -> None:
        """Vectors (t, D) of the next tokens."""
        held = torch.cat([self._held.to(hidden.device), hidden])
        whole = len(held) // self._span * self._span
        self._add(held[:whole].unflatten(0, (-1, self._span)))
        self._held = held[whole:]

    def finish(self, chosen: int, most: int, offset: int = 0) -> tuple[Evidence, ...]:
        """At most so many sentences for the class `chosen`, those that matter most first; `offset` is the place of the
        record's first letter."""
        if len(self._held):
            self._add(self._held[None])
        spans = self.places.spans()
        if self._number < 2:
            return ()
        scores, weight = self._scores[: self._number], self._weight[: self._number]
        others = np.delete(scores, chosen, 1)
        margin = scores[:, chosen] - (others.mean(1) if others.size else 0.0)
        margin, share = margin / weight.sum(), weight / weight.sum()
        falls = (margin - share * margin.sum()) / np.maximum(1 - share, np.finfo(float).tiny)
        order = np.argsort(-falls, kind="stable")[:most]
        return tuple(
            Evidence(
                start=int(spans[i, 0]) + offset,
                end=int(spans[i, 1]) + offset,
                section=self.places.titles[i] if self.places.titles else "",
                margin=float(falls[i]),
                share=float(share[i]),
                text=self._text.read(int(spans[i, 0]), int(spans[i, 1])).text,
            )
            for i in order.tolist()
            if falls[i] > 0
        )

    def close(self) -> None:
        self._text.close()

    def _kept(self, pieces: Iterator[str]) -> Iterator[str]:
        for piece in pieces:
            self._text.append(piece)
            yield piece

    def _add(self, spans: Tensor) -> None:
        """Vectors (S, n, D) of spans that follow."""
        if not len(spans):
            return
        with torch.inference_mode():
            scores = self._head.evened(spans) @ self._head.score.weight.T
            attend = self._head.attend
            heard = spans.new_zeros(len(spans)) if attend is None else attend(self._head.evened(spans.mean(1)))[:, 0]
        heard_by = heard.double().cpu().numpy()
        base = max(self._base, float(heard_by.max()))
        fade, self._base = np.exp(self._base - base), base
        count = spans.shape[0] * spans.shape[1]
        units = self.places.units(np.arange(self._tokens, self._tokens + count))
        self._tokens += count
        self._number = int(units[-1]) + 1
        if fade < 1:
            self._weight *= fade
            self._scores *= fade
        if self._number > len(self._weight):
            more = max(self._number, 2 * len(self._weight)) - len(self._weight)
            self._weight = np.append(self._weight, np.zeros(more))
            self._scores = np.concatenate([self._scores, np.zeros((more, self._scores.shape[1]))])
        weight = np.repeat(np.exp(heard_by - base), spans.shape[1])
        np.add.at(self._weight, units, weight)
        np.add.at(self._scores, units, weight[:, None] * scores.flatten(0, 1).double().cpu().numpy())


def can_tell(model: RecordModel) -> bool:
    """Whether the head's reading is a weighted mean, and its scores those of classes."""
    return model.head_config.task == "classify" and model.head_config.pooling in ("mean", "attention")
