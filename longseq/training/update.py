"""One update of the parameters: the gradient of the mean over all tokens scored in all processes, clipped."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from longseq.model import detach
from longseq.training.batch import Batch
from longseq.training.carried import joined, rows
from longseq.training.config import TrainConfig
from longseq.training.optimiser import adamw, set_rate
from longseq.training.precision import autocast, scaler

if TYPE_CHECKING:
    from accelerate import Accelerator


class Update:
    """`gradients`, then `norm`, then `apply` or `drop`."""

    def __init__(
        self,
        objective: nn.Module,
        config: TrainConfig,
        processes: Accelerator,
        saved: dict[str, Any] | None = None,
        faster: Mapping[nn.Parameter, float] | None = None,
    ):
        """`saved` is what `state` gave in an earlier process; `faster` by how much more some parameters are changed."""
        self._config, self._processes = config, processes
        self._objective = processes.prepare(objective)
        self._optimiser = adamw(objective, config.optimiser, faster)
        self._scaler = scaler(config.precision, processes.device)
        if saved is not None:
            self._optimiser.load_state_dict(saved["moments"])
            if self._scaler.is_enabled() and saved["scale"]:
                self._scaler.load_state_dict(saved["scale"])

    def autocast(self) -> AbstractContextManager:
        """Inside `with`, a model computes in the precision of the run."""
        return autocast(self._config.precision, self._processes.device)

    def gradients(self, step: int, batch: Batch, scored: float, state: Any = None) -> tuple[float, Any]:
        """Leave the gradients of `batch`; its summed loss in this process, and the state after it, detached.

        `scored` is the weight of the step in all processes. A batch without any has the gradient zero.
        """
        draw = np.random.SeedSequence([self._config.data.seed, step, self._processes.process_index])
        torch.manual_seed(int(draw.generate_state(1, np.uint64)[0] >> 1))  # dropout depends on the step alone
        # Processes average their gradients, so each scales its sum up.
        share = self._processes.num_processes / max(scored, 1.0)
        parts, total, first, states = batch.parts(self._config.accumulate), 0.0, 0, []
        for number, part in enumerate(parts, 1):
            last = first + len(part.ids)
            # The gradients of all parts are averaged once, with those of the last.
            alone = number < len(parts)
            with self._processes.no_sync(self._objective) if alone else nullcontext():
                with self.autocast():
                    nats, _, after = self._objective(**part.on(self._processes.device), state=rows(state, first, last))
                self._scaler.scale(nats * share).backward()
            total, first = total + nats.item(), last
            states.append(None if after is None else detach(after))
        return total, joined(states)

    def norm(self) -> float:
        """Norm of all gradients together, before they are clipped here."""
        self._scaler.unscale_(self._optimiser)
        return float(nn.utils.clip_grad_norm_(self._objective.parameters(), self._config.optimiser.clip))

    @property
    def overflows(self) -> bool:
        """Whether gradients may be infinite only because the loss was scaled too high: `apply` then lowers the scale
        and changes no parameter."""
        return self._scaler.is_enabled() and self._scaler.get_scale() > 1

    def apply(self, learning_rate: float) -> None:
        set_rate(self._optimiser, learning_rate)
        self._scaler.step(self._optimiser)
        self._scaler.update()
        self._optimiser.zero_grad(set_to_none=True)

    def drop(self) -> None:
        """Forget the gradients."""
        if self._scaler.is_enabled():
            self._scaler.update(self._scaler.get_scale())  # keeps the scale, forgets that they were unscaled
        self._optimiser.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Any]:
        """Moments of the gradients and the scale of the loss, for a checkpoint."""
        return {"moments": self._optimiser.state_dict(), "scale": self._scaler.state_dict()}
