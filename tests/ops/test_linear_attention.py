"""Laws of linear attention: the block form equals the formula, whatever the cut, the block and the rescaling."""

import itertools
import math

import pytest
import torch

from longseq.ops import fold
from longseq.ops.feature_maps import feature_map
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import EMPTY, Memory, normalise, pow2

B, H, K, V = 2, 2, 4, 3
LENGTHS = (1, 2, 17, 63, 64, 65, 200)


def error(found, wanted):
    return float((found - wanted).norm() / wanted.norm().clamp_min(1e-300))


def formula(q, k, v, log_weight, eps):
    """Every pair of tokens, in float64: log_weight (B, H, T, S, K) is -inf where s > t."""
    weights = (q[..., :, None, :] * k[..., None, :, :] * log_weight.exp()).sum(-1)
    return (weights @ v) / (weights.sum(-1, keepdim=True) + eps)


def causal_gaps(decay):
    """b_t - b_s for s <= t, else -inf: what is left at t of what was added at s."""
    b = decay.cumsum(-2)
    gap = b[..., :, None, :] - b[..., None, :, :]
    length = decay.shape[-2]
    return gap.masked_fill(~torch.ones(length, length, dtype=torch.bool).tril()[..., None], -math.inf)


def inputs(length, dtype=torch.float64, seed=0):
    g = torch.Generator().manual_seed(seed)
    q, k = (torch.rand(B, H, length, K, generator=g, dtype=dtype) for _ in range(2))
    return q, k, torch.randn(B, H, length, V, generator=g, dtype=dtype), g


DECAYS = {
    "none": lambda shape, g: torch.zeros(*shape, K, dtype=torch.float64),
    "bounded": lambda shape, g: -torch.rand(*shape, K, generator=g, dtype=torch.float64),
    "scalar": lambda shape, g: -3 * torch.rand(*shape, 1, generator=g, dtype=torch.float64),
    "any": lambda shape, g: (
        -80 * torch.randint(0, 2, (*shape, K), generator=g).double() * torch.rand(*shape, K, generator=g)
    ),
}


@pytest.mark.parametrize("kind", DECAYS)
@pytest.mark.parametrize("length", LENGTHS)
def test_definition(kind, length):
    q, k, v, g = inputs(length)
    decay = DECAYS[kind]((B, H, length), g)
    wanted = formula(q, k, v, causal_gaps(decay), 1e-6)
    options = {} if kind == "none" else {"decay": decay, "decay_bound": 1.0 if kind == "bounded" else None}
    found, memory = linear_attention(q, k, v, eps=1e-6, **options)
    assert error(found, wanted) <= 1e-12
    left = (causal_gaps(decay)[..., -1, :, :].exp() * k).mT @ torch.cat([v, torch.ones_like(v[..., :1])], -1)
    assert error(memory.value(), left) <= 1e-12
    single, _ = linear_attention(
        q.float(), k.float(), v.float(), eps=1e-6, **{n: x.float() if n == "decay" else x for n, x in options.items()}
    )
    assert error(single, wanted) <= 1e-5


def test_without_normaliser():
    q, k, v, g = inputs(100)
    decay = DECAYS["bounded"]((B, H, 100), g)
    weights = (q[..., :, None, :] * k[..., None, :, :] * causal_gaps(decay).exp()).sum(-1)
    found, memory = linear_attention(q, k, v, decay=decay, decay_bound=1.0, normaliser=False)
    assert error(found, weights @ v) <= 1e-12
    assert memory.hi.shape == (B, H, K, V)


def test_exponential_keys_far_apart():
    """Keys of e^±500: float32 has neither number, the quotient is exact."""
    x = torch.zeros(1, 1, 6, 2, dtype=torch.float64)
    z = torch.tensor([-500.0, -499.0, 500.0, 499.0, -500.0, 501.0], dtype=torch.float64).expand(1, 1, 6)[..., None]
    z = z.expand(-1, -1, -1, 2)
    v = torch.arange(6.0, dtype=torch.float64)[None, None, :, None]
    log_weight = (z[..., 0][..., None, :] + torch.zeros(6, 1)).masked_fill(~torch.ones(6, 6).bool().tril(), -math.inf)
    wanted = log_weight.softmax(-1) @ v
    phi = feature_map("exp", 1, 2)
    k, exponent = phi.key(z.float())
    for cut in (6, 3, 1):
        memory, parts = None, []
        for i in range(0, 6, cut):
            s = slice(i, i + cut)
            y, memory = linear_attention(
                phi.query(x.float())[:, :, s], k[:, :, s], v.float()[:, :, s], memory, key_exponent=exponent[:, :, s]
            )
            parts.append(y)
        assert error(torch.cat(parts, 2), wanted) <= 1e-5


@pytest.mark.parametrize("kind", DECAYS)
def test_split_and_block(kind):
    q, k, v, g = inputs(300)
    decay = DECAYS[kind]((B, H, 300), g)
    options = {"decay": decay, "decay_bound": 1.0 if kind in ("none", "bounded") else None}
    wanted, end = linear_attention(q, k, v, **options)
    for block, cuts in itertools.product((1, 7, 64), ([300], [1, 1, 5, 64, 100, 129], [1] * 300)):
        memory, parts = None, []
        for qc, kc, vc, dc in zip(*(x.split(cuts, 2) for x in (q, k, v, decay)), strict=True):
            y, memory = linear_attention(qc, kc, vc, memory, block=block, **options | {"decay": dc})
            parts.append(y)
        assert error(torch.cat(parts, 2), wanted) <= 1e-12
        assert error(memory.value(), end.value()) <= 1e-12


@pytest.mark.parametrize("kind", [*DECAYS, "exp"])
def test_rescaling_changes_no_bit(kind, monkeypatch):
    """Never, once a call, and several times within one: blocks are so small that a call is of several spans."""
    times = []
    monkeypatch.setattr(fold, "normalise", lambda *x: times.append(1) or normalise(*x))
    q, k, v, g = inputs(500, torch.float32)
    options = {"eps": 1e-6, "block": 2}
    if kind == "exp":
        k, exponent = feature_map("exp", H, K).key(40 * torch.randn(B, H, 500, K, generator=g))
        options = {"key_exponent": exponent, "block": 2}
    else:
        options |= {"decay": DECAYS[kind]((B, H, 500), g).float()}
    values, counts = [], []
    for rescale in (0, 64, 3, 1):
        memory, parts = None, []
        times.clear()
        for start, stop in ((0, 130), (130, 131), (131, 500)):
            s = slice(start, stop)
            cut = {n: x[:, :, s] if torch.is_tensor(x) else x for n, x in options.items()}
            y, memory = linear_attention(q[:, :, s], k[:, :, s], v[:, :, s], memory, rescale=rescale, **cut)
            parts.append(y)
        values.append((torch.cat(parts, 2), memory))
        counts.append(len(times))
    assert counts == [0, 3, 5, 11]
    for y, memory in values[1:]:
        assert torch.equal(y, values[0][0])
        assert torch.equal(memory.value(), values[0][1].value())
    assert (values[-1][1].hi.abs().amax((-2, -1)) <= 1).all()


def test_masked_tokens_leave_the_memory_alone():
    q, k, v, _ = inputs(10)
    memory = linear_attention(q, k, v)[1]
    zero = torch.zeros_like
    after = linear_attention(q, zero(k), zero(v), memory, decay=zero(k), decay_bound=1.0)[1]
    assert torch.equal(after.value(), memory.value())
    empty = torch.full((B, H, 10), EMPTY, dtype=torch.int32)
    y, untouched = linear_attention(q, zero(k), zero(v), None, key_exponent=empty)
    assert torch.equal(y, zero(v))
    assert (untouched.exponent == EMPTY).all()


@pytest.mark.parametrize("kind", ["none", "bounded", "scalar", "any", "exp"])
def test_gradients(kind):
    """gradcheck in float64 through two calls joined by a state."""
    g = torch.Generator().manual_seed(2)
    q, k, v = (torch.rand(1, 1, 9, 2, generator=g, dtype=torch.float64, requires_grad=True) for _ in range(3))
    shape = (1, 1, 9, 1 if kind == "scalar" else 2)
    strength = 30.0 if kind == "any" else 0.9
    decay = (-strength * torch.rand(shape, generator=g, dtype=torch.float64)).requires_grad_(
        kind not in ("none", "exp")
    )
    hi = torch.rand(1, 1, 2, 3, generator=g, dtype=torch.float64, requires_grad=True)
    lo = torch.zeros(1, 1, 2, 3, dtype=torch.float64)

    def run(q, k, v, decay, hi):
        exponent = None
        memory = Memory(hi, lo, torch.zeros(1, 1, dtype=torch.int32))
        if kind == "exp":
            k, exponent = feature_map("exp", 1, 2).key(5 * k)
        outputs = []
        for s in (slice(0, 4), slice(4, 9)):
            options = {"key_exponent": exponent[:, :, s]} if kind == "exp" else {}
            if kind not in ("none", "exp"):
                options |= {"decay": decay[:, :, s], "decay_bound": 1.0 if kind == "bounded" else None}
            y, memory = linear_attention(q[:, :, s], k[:, :, s], v[:, :, s], memory, block=2, rescale=2, **options)
            outputs.append(y)
        # The value of the memory, not its representation: an exponent is a step function of the inputs.
        scale = pow2(memory.exponent)[..., None, None]
        return *outputs, memory.hi * scale

    assert torch.autograd.gradcheck(run, (q, k, v, decay, hi))


def test_strongest_bounded_decay_has_right_gradients():
    """exp(±64) inside a block: float32 gradients equal the formula's in float64."""
    q, k, v, _ = inputs(100)
    decay = torch.full((B, H, 100, K), -1.0, dtype=torch.float64)

    def gradients(function, dtype):
        leaves = [x.to(dtype, copy=True).requires_grad_() for x in (q, k, v, decay)]
        function(*leaves).sin().sum().backward()
        return [x.grad for x in leaves]

    wanted = gradients(lambda q, k, v, g: formula(q, k, v, causal_gaps(g), 0.0), torch.float64)
    found = gradients(lambda q, k, v, g: linear_attention(q, k, v, decay=g, decay_bound=1.0)[0], torch.float32)
    assert all(error(a, b) <= 1e-5 for a, b in zip(found, wanted, strict=True))


def test_extremes_are_finite():
    for fill in (-80.0, 0.0, None):
        g = torch.Generator().manual_seed(3)
        q, k, v = (torch.rand(1, 2, 200, 4, generator=g) * 1e3 for _ in range(3))
        decay = (
            torch.full((1, 2, 200, 4), fill)
            if fill is not None
            else -80 * torch.rand(1, 2, 200, 4, generator=g).round()
        )
        tensors = [x.requires_grad_() for x in (q, k, v, decay)]
        y, memory = linear_attention(q, k, v, decay=decay, eps=1e-6)
        (y.sum() + memory.hi.sum()).backward()
        assert torch.isfinite(y).all()
        assert all(torch.isfinite(x.grad).all() for x in tensors)


def test_a_query_of_nothing_before_a_huge_memory_reads_nothing():
    q, k, v, _ = inputs(3, torch.float32)
    memory = linear_attention(q, k, v)[1]
    far = memory._replace(exponent=memory.exponent + 300)
    y, _ = linear_attention(torch.zeros_like(q), k, v, far, eps=1e-6)
    assert torch.equal(y, torch.zeros_like(y))
