"""Special tokens around the tokens of each segment, as Transformers were trained with: [CLS] text [SEP]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from longseq.config import require
from longseq.tokens.stream.engine import Tokens
from longseq.tokens.stream.rules import Spec, flat

OPENING, CLOSING = ("[CLS]", "<s>"), ("[SEP]", "</s>")
"""Names of the special tokens that stand in front and behind, where a tokenizer has them but does not say so."""


@dataclass(frozen=True)
class Frame:
    """A segment is `before`, at most `segment` - 2 tokens of the text, and `after`. Special tokens have no letters:
    their offsets are empty, at the token beside them."""

    before: int
    after: int
    segment: int

    def __post_init__(self):
        require(self.segment >= 3, "segment", self.segment, ">= 3 tokens, two special ones included")

    def around(self, parts: Iterator[Tokens]) -> Iterator[Tokens]:
        """The tokens of one text, framed. A text without tokens stays so."""
        inside, held, last = self.segment - 2, 0, 0
        for part in parts:
            if not len(part.ids):
                continue
            begins = np.flatnonzero((held + np.arange(len(part.ids))) % inside == 0)
            closed = begins[int(held == 0) :]  # nothing stands in front of the first
            ends, starts = np.append(last, part.offsets[:, 1])[closed], part.offsets[begins, 0]
            places, at = np.concatenate([closed, begins]), np.concatenate([ends, starts])
            ids = np.repeat(np.array([self.after, self.before], np.int32), [len(closed), len(begins)])
            yield Tokens(
                np.insert(part.ids, places, ids), np.insert(part.offsets, places, np.stack([at, at], 1), axis=0)
            )
            held, last = held + len(part.ids), int(part.offsets[-1, 1])
        if held:
            yield Tokens(np.array([self.after], np.int32), np.array([[last, last]], np.int64))


def ends_of(spec: Spec) -> tuple[int, int] | None:
    """Ids of the special tokens that a tokenizer puts in front of and behind a text: as its post-processor says, else
    those of the usual names; None where there is no such pair."""
    for part in flat(spec["post_processor"]):
        if part["type"] in ("BertProcessing", "RobertaProcessing"):
            return part["cls"][1], part["sep"][1]
        if part["type"] == "TemplateProcessing":
            names = [next(iter(piece.values()))["id"] for piece in part["single"]]
            ids = [part["special_tokens"][name]["ids"] for name in names if name in part["special_tokens"]]
            if len(names) == 3 and names[1] == "A" and [len(found) for found in ids] == [1, 1]:
                return ids[0][0], ids[1][0]
            return None
    special = {token["content"]: token["id"] for token in spec["added_tokens"] if token["special"]}
    found = [next((special[name] for name in names if name in special), None) for names in (OPENING, CLOSING)]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]
