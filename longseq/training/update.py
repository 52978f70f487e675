"""One update of the parameters: the gradient of the mean over all tokens scored in all processes, clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from longseq.model import detach
from longseq.training.batch import Batch
from longseq.training.config import OptimiserConfig
from longseq.training.optimiser import adamw

if TYPE_CHECKING:
    from accelerate import Accelerator


class Update:
    """`gradients`, then `apply` or `drop`."""

    def __init__(
        self,
        objective: nn.Module,
        config: OptimiserConfig,
        processes: Accelerator,
        seed: int,
        saved: dict[str, Any] | None = None,
    ):
        """`saved` is what `state` gave in an earlier process."""
        optimiser = adamw(objective, config)
        if saved is not None:
            optimiser.load_state_dict(saved)
        self._clip, self._processes, self._seed = config.clip, processes, seed
        self._objective, self._optimiser = processes.prepare(objective, optimiser)

    def gradients(self, step: int, batch: Batch, scored: float, state: Any = None) -> tuple[float, Any]:
        """Leave the gradients of `batch`; its summed loss in this process, and the state after it, detached.

        `scored` is the weight of the step in all processes. A batch without any has the gradient zero.
        """
        draw = np.random.SeedSequence([self._seed, step, self._processes.process_index])
        torch.manual_seed(int(draw.generate_state(1, np.uint64)[0] >> 1))  # dropout depends on the step alone
        nats, _, after = self._objective(**batch.on(self._processes.device), state=state)
        # Processes average their gradients, so each scales its sum up.
        self._processes.backward(nats * (self._processes.num_processes / max(scored, 1.0)))
        return nats.item(), detach(after)

    def norm(self) -> float:
        """Norm of all gradients together, before they are clipped here."""
        return float(self._processes.clip_grad_norm_(self._objective.parameters(), self._clip))

    def apply(self, learning_rate: float) -> None:
        for group in self._optimiser.param_groups:
            group["lr"] = learning_rate
        self._optimiser.step()
        self.drop()

    def drop(self) -> None:
        """Forget the gradients."""
        self._optimiser.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Any]:
        """Moments of the gradients, for a checkpoint."""
        return self._optimiser.optimizer.state_dict()
