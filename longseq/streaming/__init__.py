"""The fold over chunks: records of any length through states of fixed size, one by one or side by side."""

from longseq.streaming.ahead import ahead, records_ahead
from longseq.streaming.conversation import Conversation, Near, Turn
from longseq.streaming.reader import Scored, SurprisalReader
from longseq.streaming.snapshot import Snapshot, load_snapshot, save_snapshot
from longseq.streaming.stream import Passage, Stream
from longseq.streaming.surprisal import Surprisal
from longseq.streaming.tracks import Track

__all__ = [
    "Conversation",
    "Near",
    "Passage",
    "Scored",
    "Snapshot",
    "Stream",
    "Surprisal",
    "SurprisalReader",
    "Track",
    "Turn",
    "ahead",
    "load_snapshot",
    "records_ahead",
    "save_snapshot",
]
