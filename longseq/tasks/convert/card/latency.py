"""One more turn of a live conversation: with the state kept, and by reading all of it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from longseq.model import Checkpoint
from longseq.model.state import next_segment
from longseq.results.conversion import Latency, ratio
from longseq.tasks.convert.card.config import CardConfig
from longseq.tasks.convert.card.readings import read
from longseq.tasks.convert.card.speed import chunk_of


def latency(teacher: Checkpoint, student: Checkpoint, config: CardConfig) -> Latency:
    """Seconds of a turn of `config.turn` tokens behind `config.conversation` of them, ids drawn at random: each way
    once in each of `config.rounds` rounds, one after the other."""
    draw = np.random.default_rng(config.seed)
    ids = draw.integers(0, student.tokenizer.vocabulary, (1, config.conversation + config.turn))
    before, turn = ids[:, : config.conversation], ids[:, config.conversation :]
    state = next_segment(_streamed(student, before, config.chunk), student.config.segment)
    ways: dict[str, Callable[[], Any]] = {
        "kept": lambda: read(student.model.encoder, turn, state),
        "again": lambda: _streamed(student, ids, config.chunk),
        "teacher": lambda: _streamed(teacher, ids, config.chunk),
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


def _streamed(checkpoint: Checkpoint, ids: np.ndarray, chunk: int) -> Any:
    """The state after ids (1, T), read in chunks."""
    state, size = None, chunk_of(checkpoint.config, chunk)
    for at in range(0, ids.shape[1], size):
        state = read(checkpoint.model.encoder, ids[:, at : at + size], state)[1]
    return state
