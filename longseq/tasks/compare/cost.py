"""What a model costs against length: the state it leaves, a token behind it, a training step. One thread, batch 1.

Time is that of the processor, so that what else runs on the machine counts little.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from longseq.model import LanguageModel, ModelConfig, State
from longseq.model.state import named_tensors
from longseq.results.compare import CostRow

CHUNK = 1024
"""Tokens a recurrent call."""
ROUNDS = 5
"""Timed at most of each."""
ENOUGH = 1.5
"""Seconds after which one is timed no more."""
TOKENS = 16
"""Read one by one in a round."""
LETTERS = 4
"""Token ids that are read."""


class Costs:
    """One model, as it is at the start: what it has learned changes no cost."""

    def __init__(self, config: ModelConfig):
        torch.set_num_threads(1)
        self._model = LanguageModel(config)
        self._made = torch.Generator().manual_seed(config.seed)

    def row(self, length: int) -> CostRow:
        ids = torch.randint(min(LETTERS, self._model.config.vocabulary), (1, length), generator=self._made)
        self._step(ids[:, :2])  # pays for what is made once
        kept = self._kept(ids)
        step = _median(lambda: self._step(ids))
        with torch.inference_mode():
            state = self._read(ids)
            token = _median(lambda: self._tokens(ids[:, :1], state)) / TOKENS
        return CostRow(
            length=length,
            state_bytes=sum(part.numel() * part.element_size() for _, part in named_tensors(state)),
            token_ms=1000 * token,
            step_bytes=kept,
            step_tokens_per_s=length / step,
        )

    def _read(self, ids: Tensor) -> State:
        state = None
        for chunk in ids.split(CHUNK, 1):
            _, state = self._model(chunk, state)
        assert state is not None
        return state

    def _tokens(self, token: Tensor, state: State) -> None:
        for _ in range(TOKENS):
            _, state = self._model(token, state)

    def _step(self, ids: Tensor) -> None:
        loss, count, _ = self._model.loss(ids)
        (loss / count).backward()
        self._model.zero_grad(set_to_none=True)

    def _kept(self, ids: Tensor) -> int:
        """Bytes of all tensors that the backward pass of a step is going to read, each counted once."""
        ours = {p.untyped_storage().data_ptr() for p in self._model.parameters()}
        sizes: dict[int, int] = {}

        def note(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in ours:
                sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        # All are held until the backward pass, so no address comes twice.
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss, count, _ = self._model.loss(ids)
        del loss, count
        return sum(sizes.values())


def _median(act: Callable[[], None]) -> float:
    """Seconds of one call: the median of some, after a first that does not count."""
    seconds: list[float] = []
    act()
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH:
        began = time.process_time()
        act()
        seconds.append(time.process_time() - began)
    return statistics.median(seconds)
