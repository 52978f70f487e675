"""One more turn of a live conversation: with the state kept, and by reading all of it again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from longseq.model import Checkpoint
from longseq.model.state import next_segment
from longseq.results.conversion import Latency, ratio
from longseq.tasks.convert.card.config import CardConfig
from longseq.tasks.convert.card.readings import read, streamed


def latency(teacher: Checkpoint, student: Checkpoint, config: CardConfig) -> Latency:
    """Seconds of a turn of `config.turn` tokens behind `config.conversation` of them, ids drawn at random: each way
    once in each of `config.rounds` rounds, one after the other."""
    draw = np.random.default_rng(config.seed)
    ids = draw.integers(0, student.tokenizer.vocabulary, (1, config.conversation + config.turn))
    before, turn = ids[:, : config.conversation], ids[:, config.conversation :]
    state = next_segment(_behind(student, before, config.chunk), student.config.segment)
    ways: dict[str, Callable[[], Any]] = {
        "kept": lambda: read(student.model.encoder, turn, state),
        "again": lambda: _behind(student, ids, config.chunk),
        "teacher": lambda: _behind(teacher, ids, config.chunk),
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        ways["kept"]()  # the others are long enough not to notice a first call
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(config.rounds):
            for name, way in ways.items():
                began = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - began)
    finally:
        torch.set_num_threads(threads)
    share = ratio(seconds["kept"], seconds["again"])
    return Latency(conversation=config.conversation, turn=config.turn, share=share, **seconds)


def _behind(checkpoint: Checkpoint, ids: np.ndarray, chunk: int) -> Any:
    """The state after ids (1, T), T > 0, read in chunks."""
    ((_, state),) = deque(streamed(checkpoint, ids, chunk), maxlen=1)
    return state
