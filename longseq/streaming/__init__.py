"""The fold over chunks: a record of any length through a state of fixed size."""

from longseq.streaming.snapshot import Snapshot, load_snapshot, save_snapshot
from longseq.streaming.surprisal import Surprisal, SurprisalReader

__all__ = ["Snapshot", "Surprisal", "SurprisalReader", "load_snapshot", "save_snapshot"]
