"""Faults as they happen in practice, planted at the seams of the operations.

Each takes monkeypatch. A function is replaced wherever a module of the package holds it, so that a fault stays aimed
when callers move. At `linear_attention` a masked token is one whose key and value are zero.
"""

import sys

import torch

from longseq.ops import convolution, linear_attention
from longseq.ops.memory import Memory, pow2, working_dtype


def replace(monkeypatch, original, planted):
    """`planted` in place of `original` in every module that holds it."""
    places = [
        (module, name)
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("longseq.")
        for name, value in list(vars(module).items())
        if value is original
    ]
    assert len(places) >= 2, "nobody calls it"
    for module, name in places:
        monkeypatch.setattr(module, name, planted)


def dropped_tail(monkeypatch):
    """The convolution of every chunk starts with zeros."""
    original = convolution.short_convolution

    def planted(x, weight, tail, mask=None):
        return original(x, weight, torch.zeros_like(tail), mask)

    replace(monkeypatch, original, planted)


def raw_epsilon(monkeypatch):
    """The epsilon is added to the rescaled denominator instead of the true one."""
    original = linear_attention.linear_attention

    def planted(q, k, v, memory=None, *, eps=0.0, **options):
        y, after = original(q, k, v, memory, **options)
        ones = v.new_ones(*v.shape[:-1], 1)
        before = None if memory is None else memory._replace(hi=memory.hi[..., -1:], lo=memory.lo[..., -1:])
        plain = {name: value for name, value in options.items() if name != "floor"}
        below, _ = original(q, k, ones, before, **plain | {"normaliser": False})
        # true = scaled * 2**exponent, so an epsilon beside the scaled one is 2**exponent as large.
        raw = eps * pow2(after.exponent, working_dtype(q))[..., None, None]
        return y * below / (below + raw + (below + raw == 0)), after

    replace(monkeypatch, original, planted)


def counted_padding(monkeypatch):
    """Keys are masked before the feature map: elu(0) + 1 counts."""

    def change(k, v, decay):
        masked = ((k == 0).all(-1) & (v == 0).all(-1))[..., None]
        return torch.where(masked, 1.0, k), decay

    _changed_inputs(monkeypatch, change)


def decaying_padding(monkeypatch):
    """A masked token lets the memory fade."""

    def change(k, v, decay):
        masked = ((k == 0).all(-1) & (v == 0).all(-1))[..., None]
        return k, None if decay is None else torch.where(masked, -0.1, decay)

    _changed_inputs(monkeypatch, change)


def _changed_inputs(monkeypatch, change):
    original = linear_attention.linear_attention

    def planted(q, k, v, memory=None, *, decay=None, **options):
        k, decay = change(k, v, decay)
        return original(q, k, v, memory, decay=decay, **options)

    replace(monkeypatch, original, planted)


def half_memory(monkeypatch):
    """The memory is handed on in float16."""
    _changed_memory(monkeypatch, lambda m: Memory(m.hi.half(), m.lo.half(), m.exponent))


def rounded_memory(monkeypatch):
    """The memory went through float16 on its way, and looks like float32 again."""
    _changed_memory(
        monkeypatch, lambda m: Memory(m.hi.half().to(m.hi.dtype), m.lo.half().to(m.lo.dtype) * 0, m.exponent)
    )


def _changed_memory(monkeypatch, change):
    original = linear_attention.linear_attention

    def planted(*tensors, **options):
        y, memory = original(*tensors, **options)
        return y, change(memory)

    replace(monkeypatch, original, planted)
