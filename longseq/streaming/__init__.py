"""The fold over chunks: records of any length through states of fixed size, one by one or side by side.

Names are fetched when first used: the spools here want no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.lazy import fetching

# Fetched at once: the module has the name of its function, and would take its place here when it is imported.
from longseq.streaming.ahead import ahead, records_ahead

if TYPE_CHECKING:
    from longseq.streaming.conversation import Conversation, Near, Turn
    from longseq.streaming.reader import Scored, SurprisalReader
    from longseq.streaming.snapshot import Snapshot, load_snapshot, save_snapshot
    from longseq.streaming.stream import Passage, Stream
    from longseq.streaming.surprisal import Surprisal
    from longseq.streaming.tracks import Track

_HOMES = {
    "Conversation": "conversation",
    "Near": "conversation",
    "Passage": "stream",
    "Scored": "reader",
    "Snapshot": "snapshot",
    "Stream": "stream",
    "Surprisal": "surprisal",
    "SurprisalReader": "reader",
    "Track": "tracks",
    "Turn": "conversation",
    "load_snapshot": "snapshot",
    "save_snapshot": "snapshot",
}

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

__getattr__ = fetching(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
