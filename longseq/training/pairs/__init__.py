"""Pairs of a source and a target: read from files, kept as ids, handed out in rows, answered."""

from longseq.training.pairs.greedy import greedy
from longseq.training.pairs.rows import PairRows
from longseq.training.pairs.store import Pairs, paired, prepare

__all__ = ["PairRows", "Pairs", "greedy", "paired", "prepare"]
