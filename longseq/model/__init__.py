"""Models: ids and a state in, hidden vectors, scores and a state out; checkpoint directories."""

from longseq.model.checkpoint import Checkpoint, load, save
from longseq.model.config import ModelConfig
from longseq.model.encoder import Encoder
from longseq.model.headed import HeadConfig, Model, RecordModel, TokenModel
from longseq.model.heads import Classifier, NextToken
from longseq.model.language import LanguageModel
from longseq.model.state import State, detach, next_segment

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
