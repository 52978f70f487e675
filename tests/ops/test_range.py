"""Range and precision over very many tokens. The long runs are `slow`; a short run of each goes with the rest."""

import copy

import pytest
import torch

from longseq.model.config import ModelConfig
from longseq.model.mixers import MIXERS
from longseq.ops.feature_maps import feature_map
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import Memory

CHUNK = 65536


def long(short, tokens):
    """A length for every run, and one for slow runs."""
    return pytest.mark.parametrize(
        "tokens", [short, pytest.param(tokens, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])]
    )


def memories(state):
    if isinstance(state, Memory):
        return [state]
    return [] if torch.is_tensor(state) else [m for part in state for m in memories(part)]


def mixer(name, feature="silu", width=16, **options):
    config = ModelConfig(width=width, heads=2, layers=1, pattern=(name,), feature_map=feature, **options)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return MIXERS[name](config, 0)


def holding_memory():
    return [name for name in MIXERS if memories(mixer(name)(torch.zeros(1, 1, 16))[1])]


@long(300_000, 100_000_000)
def test_the_memory_of_elu_plus_one_does_not_stagnate(tokens):
    """Within 1e-6 of float64, its largest entry below one, its exponent that of the count."""
    phi = feature_map("elu+1", 1, 2)
    g = torch.Generator().manual_seed(0)
    total, memory, largest, exponent = torch.zeros(1, 1, 2, 3, dtype=torch.float64), None, 0.0, 0
    for start in range(0, tokens, CHUNK):
        q, k, v = torch.randn(3, 1, 1, min(CHUNK, tokens - start), 2, generator=g)
        k = phi.key(k)[0]
        y, memory = linear_attention(phi.query(q), k, v, memory, eps=phi.eps)
        total += k.double().mT @ torch.cat([v, torch.ones_like(v[..., :1])], -1).double()
        largest = max(largest, float(memory.hi.abs().max()))
        exponent = max(exponent, int(memory.exponent.max()))
        assert torch.isfinite(y).all()
    assert float((memory.value() - total).norm() / total.norm()) <= 1e-6
    assert largest <= 1
    assert 2.0**exponent <= 4 * total.abs().max()


def ratio_over(tokens, dtype, reference, read):
    """RMS error ratio of one mixer's outputs over a stream, half-precision against float32, all finite."""
    g = torch.Generator().manual_seed(1)
    difference = size = 0.0
    half_state = state = None
    with torch.inference_mode():
        for start in range(0, tokens, 8192):
            x = torch.randn(1, min(8192, tokens - start), 16, generator=g)
            with torch.autocast("cpu", dtype):
                found, half_state = read(x.to(dtype), half_state)
            wanted, state = reference(x, state)
            assert torch.isfinite(found).all()
            difference += float((found.double() - wanted.double()).square().sum())
            size += float(wanted.double().square().sum())
        for memory in memories(half_state):
            assert (memory.hi.dtype, memory.lo.dtype, memory.exponent.dtype) == (
                torch.float32,
                torch.float32,
                torch.int32,
            )
            assert torch.isfinite(memory.hi).all()
    return (difference / size) ** 0.5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("name", holding_memory())
@long(4096, 1_000_000)
def test_half_precision_activations(name, dtype, tokens):
    read = mixer(name)
    assert ratio_over(tokens, dtype, read, read) <= 1e-2
    # The arithmetic alone: from inputs and weights that both precisions hold.
    rounded = copy.deepcopy(read)
    with torch.no_grad():
        for weight in rounded.parameters():
            weight.copy_(weight.to(dtype))
    assert (ratio_over(tokens, dtype, lambda x, state: rounded(x.to(dtype).to(x.dtype), state), rounded)) <= 1e-2


@pytest.mark.parametrize("gate", [-80.0, 0.0, "mixed"])
@long(5_000, 1_000_000)
def test_extremes_stay_finite_both_ways(gate, tokens):
    """Gates shut, open and mixed, inputs of norm 1e3: forward and backward."""
    g = torch.Generator().manual_seed(2)
    q, k, v = (1e3 * torch.nn.functional.normalize(torch.rand(1, 1, tokens, 2, generator=g), dim=-1) for _ in range(3))
    if gate == "mixed":
        decay = -80.0 * torch.rand(1, 1, tokens, 2, generator=g).round()
    else:
        decay = torch.full((1, 1, tokens, 2), gate)
    leaves = [x.requires_grad_() for x in (q, k, v, decay)]
    y, memory = linear_attention(q, k, v, decay=decay, eps=1e-6)
    (y.sum() + memory.hi.sum()).backward()
    assert torch.isfinite(y).all() and torch.isfinite(memory.hi).all()
    assert all(torch.isfinite(x.grad).all() for x in leaves)


@pytest.mark.parametrize("name", holding_memory())
@long(3_000, 1_000_000)
def test_one_symbol_for_ever_is_finite_both_ways(name, tokens):
    read = mixer(name, width=4)
    symbol = torch.randn(1, 1, 4, generator=torch.Generator().manual_seed(3)).requires_grad_()
    y, state = read(symbol.expand(1, tokens, 4))
    y.square().mean().backward()
    assert torch.isfinite(y).all()
    assert all(torch.isfinite(m.hi).all() for m in memories(state))
    assert torch.isfinite(symbol.grad).all()
    assert all(torch.isfinite(p.grad).all() for p in read.parameters() if p.grad is not None)


@long(20_000, 100_000)
def test_a_slow_channel_of_rounded_inputs(tokens):
    """Time constant 1e6, inputs rounded to bfloat16, gate and memory float32: 1e-4 of float64 on what was not
    rounded. A gate in bfloat16 would be 1: nothing would be forgotten."""
    g = torch.Generator().manual_seed(4)
    k, v = (torch.rand(1, 1, tokens, 1, generator=g) for _ in range(2))
    decay = torch.full((1, 1, tokens, 1), -1e-6)
    memory = None
    for start in range(0, tokens, 1000):
        s = slice(start, start + 1000)
        kc, vc = k[:, :, s].bfloat16(), v[:, :, s].bfloat16()
        memory = linear_attention(kc, kc, vc, memory, decay=decay[:, :, s], decay_bound=1.0)[1]
    left = torch.exp(-1e-6 * torch.arange(tokens - 1, -1, -1, dtype=torch.float64))
    for column, values in ((0, v.double()[0, 0, :, 0]), (1, torch.ones(tokens, dtype=torch.float64))):
        wanted = float((k.double()[0, 0, :, 0] * values * left).sum())
        assert abs(memory.value()[0, 0, 0, column].item() / wanted - 1) <= 1e-4
    assert torch.exp(decay.double())[0, 0, 0, 0] < 1 and torch.exp(decay).bfloat16()[0, 0, 0, 0] == 1
