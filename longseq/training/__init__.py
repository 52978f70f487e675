"""Training: sequence files → windows → steps → a checkpoint directory that can be gone on with."""

from longseq.training.config import TrainConfig
from longseq.training.plan import Outcome, Plan
from longseq.training.run import train

__all__ = ["Outcome", "Plan", "TrainConfig", "train"]
