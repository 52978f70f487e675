"""Half-precision activations: finite and near, with memories that stay float32."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

from longseq.model.encoder import Layer
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import Memory
from longseq.results.check import Figure
from longseq.tasks.check.case import LIMIT, Case
from longseq.tasks.check.reading import error, memories, memory_error
from longseq.tasks.check.subject import Subject

HALF = {"bfloat16": torch.bfloat16, "float16": torch.float16}
WHOLE = 1024
"""Tokens a mixer reads, at most."""
PIECES = 2
"""Calls in which it reads them."""
COUNTED = 2**24
"""Where a float32 count of ones stops growing."""


def activations(subject: Subject, length: int) -> Iterator[Case | Figure]:
    """Each mixer in bfloat16 and float16 against float32, on what it sees inside the model.

    Both begin with inputs and weights that both precisions hold: the law is on the arithmetic. The whole error, with
    that of rounding inputs and weights, is a matter of the model and reported as a figure.
    """
    whole = dict.fromkeys(HALF, 0.0)
    for name, mixer, x in _mixers(subject, length):
        exact, _ = _in_pieces(mixer, x)
        for precision, dtype in HALF.items():
            rounded, start = copy.deepcopy(mixer), x.to(dtype)
            with torch.no_grad():
                for weight in rounded.parameters():
                    weight.copy_(weight.to(dtype))
            wanted, end = _in_pieces(rounded, start.to(x.dtype))
            found, state = _half(rounded, start)
            whole[precision] = max(whole[precision], error(found, exact))
            yield Case(f"outputs, {name}", precision, error(found, wanted), LIMIT[precision])
            yield Case(f"memory, {name}", precision, memory_error(state, end), LIMIT[precision])
    for precision, value in whole.items():
        yield Figure(name=f"{precision} error, weights rounded too", model=subject.name, value=value, unit="RMS ratio")


def memory(subject: Subject, length: int) -> Iterator[Case]:
    """Memories are float32 under half-precision activations too, and keep what a float32 sum forgets."""
    for name, mixer, x in _mixers(subject, length):
        _, state = _in_pieces(mixer, x)
        yield Case(f"tensors that are no float32, {name}", "float32", _foreign(state), 0.0)
        for precision, dtype in HALF.items():
            _, state = _half(mixer, x.to(dtype))
            yield Case(f"tensors that are no float32, {name}", precision, _foreign(state), 0.0)
    one = torch.ones(1, 1, 1, 1, device=subject.device)
    value = torch.full((1, 1, 1, 2), float(COUNTED), dtype=torch.float64, device=subject.device)
    left = Memory.split(value, torch.zeros(1, 1, dtype=torch.int32, device=subject.device), torch.float32)
    for _ in range(9):
        _, left = linear_attention(one, one, one, left)
    # float32 twice over holds 48 bits: a count of this size exactly.
    yield Case(f"a count of {COUNTED:,} and nine ones", "float32", error(left.value(), value + 9), LIMIT["float64"])


def _mixers(subject: Subject, length: int) -> Iterator[tuple[str, nn.Module, Tensor]]:
    """Each layer's mixer and its input (1, T, D), float32."""
    encoder, inputs = subject.encoder(), []

    def keep(_: nn.Module, arguments: tuple) -> None:
        inputs.append(arguments[0])

    mixers = [cast(Layer, layer).mixer for layer in encoder.layers]
    hooks = [mixer.register_forward_pre_hook(keep) for mixer in mixers]
    try:
        with torch.inference_mode():
            encoder(subject.ids(1, max(min(length, WHOLE), PIECES * subject.grid)))
    finally:
        for hook in hooks:
            hook.remove()
    pattern = subject.config.pattern
    for i, (mixer, x) in enumerate(zip(mixers, inputs, strict=True)):
        yield f"layer {i + 1} ({pattern[i % len(pattern)]})", mixer, x


def _in_pieces(mixer: nn.Module, x: Tensor) -> tuple[Tensor, Any]:
    outputs, state = [], None
    with torch.inference_mode():
        for piece in x.chunk(PIECES, 1):
            y, state = mixer(piece, state)
            outputs.append(y)
    return torch.cat(outputs, 1), state


def _half(mixer: nn.Module, x: Tensor) -> tuple[Tensor, Any]:
    with torch.autocast(x.device.type, x.dtype):
        return _in_pieces(mixer, x)


def _foreign(state: Any) -> float:
    """Tensors of memories that have another type than they should."""
    wanted = ((m.hi, torch.float32) for m in memories(state)), ((m.lo, torch.float32) for m in memories(state))
    exponents = ((m.exponent, torch.int32) for m in memories(state))
    return float(sum(x.dtype != dtype for pairs in (*wanted, exponents) for x, dtype in pairs))
