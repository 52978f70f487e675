"""Trained softmax Transformers into checkpoints of ours: as they are, or as linear models, whose memory is opened."""

from longseq.tasks.convert.keep import Converted, convert
from longseq.tasks.convert.linear import Linearised, linearise
from longseq.tasks.convert.opened import Opened, open_memory
from longseq.tasks.convert.settings import OpeningSettings, Settings
from longseq.tasks.convert.source import Source

__all__ = [
    "Converted",
    "Linearised",
    "Opened",
    "OpeningSettings",
    "Settings",
    "Source",
    "convert",
    "linearise",
    "open_memory",
]
