"""Whether what is held out is learned from as well: how much of it, of which records, and what to do."""

from longseq.training.leakage.sketch import Overlap, overlap
from longseq.training.leakage.warning import warnings

__all__ = ["Overlap", "overlap", "warnings"]
