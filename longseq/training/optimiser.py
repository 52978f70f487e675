"""AdamW with decay for the weights of linear maps only, and a learning rate that warms up and follows a cosine."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import nn
from torch.optim import AdamW

from longseq.training.config import OptimiserConfig


def adamw(model: nn.Module, config: OptimiserConfig, faster: Mapping[nn.Parameter, float] | None = None) -> AdamW:
    """AdamW over `groups`; the rate is set at each step, that of parameters in `faster` times so much."""
    assert config.rate is not None, "settled before the first step"
    found = []
    for some, decay in zip(groups(model), (config.weight_decay, 0.0), strict=True):
        by_factor: dict[float, list[nn.Parameter]] = {1.0: []}
        for _, parameter in some:
            by_factor.setdefault((faster or {}).get(parameter, 1.0), []).append(parameter)
        found += [{"params": p, "weight_decay": decay, "factor": factor} for factor, p in by_factor.items()]
    return AdamW(found, lr=config.rate, betas=(config.beta1, config.beta2), eps=config.epsilon, fused=True)


def set_rate(optimiser: AdamW, rate: float) -> None:
    """For the next step."""
    for group in optimiser.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)  # a checkpoint of an earlier version says none


def groups(model: nn.Module) -> tuple[list[tuple[str, nn.Parameter]], list[tuple[str, nn.Parameter]]]:
    """Trained parameters by name: those whose weights decay, and the others.

    Matrices named `weight…` of linear maps and recurrent cells decay. Norms, biases, embeddings, convolution taps,
    start vectors and what else is no such matrix do not.
    """
    decayed: dict[int, tuple[str, nn.Parameter]] = {}
    others: dict[int, tuple[str, nn.Parameter]] = {}
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if not parameter.requires_grad or id(parameter) in decayed or id(parameter) in others:
                continue  # a parameter in two places is updated once, as what it was first
            matrix = parameter.ndim >= 2 and name.startswith("weight") and not isinstance(module, nn.Embedding)
            (decayed if matrix else others)[id(parameter)] = (f"{path}.{name}" if path else name, parameter)
    return list(decayed.values()), list(others.values())


def rate(config: OptimiserConfig, done: float) -> float:
    """Learning rate when a share `done` of the run is over: linear to `rate`, then a cosine to `floor` times it.

    Source: Loshchilov and Hutter 2017, eq. 5, without restarts.
    """
    assert config.rate is not None, "settled before the first step"
    done = min(max(done, 0.0), 1.0)
    if done < config.warmup:
        return config.rate * done / config.warmup
    fall = (done - config.warmup) / (1 - config.warmup)
    return config.rate * (config.floor + (1 - config.floor) * 0.5 * (1 + math.cos(math.pi * fall)))
