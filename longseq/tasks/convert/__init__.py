"""Trained softmax Transformers into checkpoints of ours."""

from longseq.tasks.convert.keep import Converted, Settings, Source, convert

__all__ = ["Converted", "Settings", "Source", "convert"]
