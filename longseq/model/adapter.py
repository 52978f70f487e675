"""Low-rank adapters (LoRA; Hu et al. 2022): beside a frozen matrix W (out, in) a product of two small ones is learned.

    adapt(model.encoder, rank=8, alpha=16)  # every map's weight is now W + (alpha / r) B A; only A and B are trained
    weights(model)                          # what a model without adapters, which computes the same, is filled with

A weight is replaced where it is kept, not where it is used: modules that read it in a way of their own need not know.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from longseq.errors import ConfigError, meant

_PART = re.compile(r"(?:(.+)\.)?parametrizations\.(\w+)\.(original|\d+\..+)")
"""Names of what an adapted weight is kept as: that beneath, and the adapter."""


class Adapter(nn.Module):
    """W (out, in) → W + (alpha / r) B A, in float32 at least, with A (r, in) drawn at random and B (out, r) zero at the
    start (section 4.1).

    A matrix that has fewer than r rows or columns has an adapter of that many.
    """

    def __init__(self, weight: Tensor, rank: int, alpha: float):
        super().__init__()
        self.scale, least = alpha / rank, min(rank, *weight.shape)
        dtype = torch.promote_types(weight.dtype, torch.float32)
        self.down = nn.Parameter(weight.new_empty(least, weight.shape[1], dtype=dtype))
        self.up = nn.Parameter(weight.new_zeros(weight.shape[0], least, dtype=dtype))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, weight: Tensor) -> Tensor:
        with torch.autocast(weight.device.type, enabled=False):
            return (weight + self.scale * (self.up @ self.down)).to(weight.dtype)


def adapt(module: nn.Module, *, rank: int, alpha: float, maps: Sequence[str] = (), seed: int = 0) -> list[str]:
    """Freeze `module` and give an adapter to each weight of its linear maps and recurrent cells, or of those that
    `maps` names by a part of their path (`feedforward`, `mixer.project`, `output`).

    Returns:
        The names of these weights.

    Raises:
        ConfigError: a name that no map has.
    """
    found = [
        (path, name, part)
        for path, part in module.named_modules()
        if isinstance(part, nn.Linear | nn.RNNBase)
        for name, weight in part.named_parameters(recurse=False)
        if weight.ndim == 2
    ]
    for name in maps:
        if not any(_names(name, path) for path, *_ in found):
            known = sorted({part for path, *_ in found for part in path.split(".") if not part.isdigit()})
            raise ConfigError(
                where="adapter.maps",
                expected="parts of " + ", ".join(known),
                found=repr(name),
                remedy=meant(name, known),
            )
    chosen = [entry for entry in found if not maps or any(_names(name, entry[0]) for name in maps)]
    module.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for _, name, part in chosen:
            parametrize.register_parametrization(part, name, Adapter(getattr(part, name), rank, alpha))
    return [f"{path}.{name}" if path else name for path, name, _ in chosen]


def weights(module: nn.Module) -> dict[str, Tensor]:
    """The state of a module without adapters that computes the same: each adapted weight is the sum it stands for."""
    found = {}
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            part = _PART.fullmatch(name)
            if part is None:
                found[name] = tensor
            elif part[3] == "original":
                path = part[1] or ""
                found[f"{path}.{part[2]}".lstrip(".")] = getattr(module.get_submodule(path), part[2])
    return found


def state(module: nn.Module) -> dict[str, Tensor]:
    """The adapters and the weights beneath them, by name; empty without adapters."""
    return {name: tensor for name, tensor in module.state_dict().items() if _PART.fullmatch(name)}


def restore(module: nn.Module, saved: Mapping[str, Tensor]) -> None:
    """Put back what `state` gave, into a module that has the same adapters."""
    own = state(module)
    assert own.keys() == saved.keys()
    for name, tensor in saved.items():
        own[name].copy_(tensor)


def _names(name: str, path: str) -> bool:
    return f".{name}." in f".{path}."
