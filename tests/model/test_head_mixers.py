"""Mixers with one decay a head: retention, the matrix LSTM, the delta rule and its gated form."""

import math

import pytest
import torch

from longseq.model import ModelConfig
from longseq.model.mixers import MIXERS
from longseq.model.mixers.gates import forget_bias, time_constants
from longseq.model.state import named_tensors

KINDS = ("retention", "mlstm", "delta", "gated_delta")
every_kind = pytest.mark.parametrize("kind", KINDS)


def mixer(kind, **options):
    torch.manual_seed(0)
    return MIXERS[kind](ModelConfig(**{"width": 16, "heads": 2, "pattern": (kind,)} | options), 0)


def test_time_constants_are_spread():
    assert time_constants(3, 32, 3200).tolist() == pytest.approx([32, 320, 3200])
    assert time_constants(1, 32, 3200).tolist() == pytest.approx([3200])
    tau = 1 / (1 - forget_bias(4, 1000).sigmoid())
    assert tau.tolist() == pytest.approx([1.5, math.sqrt(1500), 1000, 100_000])
    assert mixer("retention", heads=4, longest=32_000).rates == pytest.approx(
        [math.log(1 - 1 / tau) for tau in (32, 320, 3200, 32_000)]
    )


def test_gates_begin_at_their_time_constants():
    """A token of zeros shows the biases alone."""
    for kind in ("mlstm", "gated_delta"):
        logits = mixer(kind, heads=4, longest=1000).gates(torch.zeros(1, 1, 16))[1]
        assert torch.equal(logits.flatten(), forget_bias(4, 1000).float())


@every_kind
@pytest.mark.parametrize("gate", [-80.0, 0.0, None], ids=["shut", "open", "mixed"])
def test_extremes_are_finite(kind, gate):
    """Inputs of norm 1e3 behind gates that are shut, open or both by turns: forward, backward and memory."""
    model = mixer(kind)
    x = torch.randn(2, 300, 16, generator=torch.Generator().manual_seed(1))
    x = (x / x.norm(dim=-1, keepdim=True) * 1e3).requires_grad_()
    if hasattr(model, "gates"):
        with torch.no_grad():
            if gate is None:
                model.gates.project.weight.mul_(100)
            else:
                model.gates.project.weight.zero_()
                model.gates.project.bias.fill_(gate)
    y, state = model(x)
    again, after = model(x, state)
    (y.sum() + again.sin().sum() + after.memory.hi.sum()).backward()
    assert torch.isfinite(y).all() and torch.isfinite(again).all()
    assert torch.isfinite(after.memory.value()).all()
    assert torch.isfinite(x.grad).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@every_kind
def test_bfloat16_keeps_a_float32_memory(kind):
    """Weights and inputs in bfloat16, or autocast: float32 memory, a reading near that of the weights in float32."""
    half = mixer(kind).bfloat16()
    single = mixer(kind)
    single.load_state_dict({name: x.float() for name, x in half.state_dict().items()})
    x = torch.randn(1, 1000, 16, generator=torch.Generator().manual_seed(2)).bfloat16()
    with torch.inference_mode():
        wanted, _ = single(x.float())
        with torch.autocast("cpu", torch.bfloat16):
            cast = single(x.float())
        for y, state in (half(x), cast):
            assert y.dtype == torch.bfloat16
            assert state.memory.hi.dtype == torch.float32
            assert float((y.float() - wanted).norm() / wanted.norm()) <= 1e-2


def test_states_have_their_documented_layouts():
    wanted = {
        "retention": {"memory.hi": (3, 2, 8, 8)},
        "mlstm": {"memory.hi": (3, 2, 8, 9), "tail": (3, 3, 32)},
        "delta": {"memory.hi": (3, 2, 8, 8), "tail": (3, 3, 48)},
        "gated_delta": {"memory.hi": (3, 2, 8, 8), "tail": (3, 3, 48)},
    }
    for kind, shapes in wanted.items():
        found = {name: tuple(x.shape) for name, x in named_tensors(mixer(kind)(torch.zeros(3, 5, 16))[1])}
        assert found == shapes | {"memory.lo": shapes["memory.hi"], "memory.exponent": (3, 2)}


@every_kind
@pytest.mark.parametrize("option", [{"convolution": 0}, {"output_gate": False}, {"heads": 1}])
def test_options_keep_the_split_law(kind, option):
    model = mixer(kind, **option).double()
    x = torch.randn(1, 200, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        wanted, _ = model(x)
        first, state = model(x[:, :77])
        second, _ = model(x[:, 77:], state)
    assert float((torch.cat([first, second], 1) - wanted).norm() / wanted.norm()) <= 1e-12
