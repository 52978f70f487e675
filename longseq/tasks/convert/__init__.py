"""Trained softmax Transformers into checkpoints of ours: as they are, or as linear models."""

from longseq.tasks.convert.keep import Converted, convert
from longseq.tasks.convert.linear import Linearised, linearise
from longseq.tasks.convert.settings import Settings
from longseq.tasks.convert.source import Source

__all__ = ["Converted", "Linearised", "Settings", "Source", "convert", "linearise"]
