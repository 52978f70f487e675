"""Models: ids and a state in, hidden vectors, scores and a state out; checkpoint directories.

Names are fetched when first used: what says what a model answered wants no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.lazy import fetching

if TYPE_CHECKING:
    from longseq.model.checkpoint import Checkpoint, load, save
    from longseq.model.config import ModelConfig
    from longseq.model.encoder import Encoder
    from longseq.model.head_config import HeadConfig
    from longseq.model.headed import Model, RecordModel, TokenModel
    from longseq.model.heads import Classifier, NextToken
    from longseq.model.language import LanguageModel
    from longseq.model.state import State, detach, next_segment

_HOMES = {
    "Checkpoint": "checkpoint",
    "Classifier": "heads",
    "Encoder": "encoder",
    "HeadConfig": "head_config",
    "LanguageModel": "language",
    "Model": "headed",
    "ModelConfig": "config",
    "NextToken": "heads",
    "RecordModel": "headed",
    "State": "state",
    "TokenModel": "headed",
    "detach": "state",
    "load": "checkpoint",
    "next_segment": "state",
    "save": "checkpoint",
}

__all__ = [
    "Checkpoint",
    "Classifier",
    "Encoder",
    "HeadConfig",
    "LanguageModel",
    "Model",
    "ModelConfig",
    "NextToken",
    "RecordModel",
    "State",
    "TokenModel",
    "detach",
    "load",
    "next_segment",
    "save",
]

__getattr__ = fetching(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
