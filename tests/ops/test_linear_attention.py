"""Laws of linear attention: the block form equals the formula, whatever the cut, the block and the rescaling."""

import itertools
import math

import pytest
import torch

from longseq.ops import fold
from longseq.ops.feature_maps import FEATURE_MAPS, feature_map
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


def drawn(name):
    """A map with every learned number drawn, so that no zero or identity hides a part of it."""
    torch.manual_seed(5)
    phi = feature_map(name, H, K)
    for parameter in phi.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return phi, {n: x.detach().double() for n, x in phi.state_dict().items()}


def shifted_silu(x):
    f = x * torch.sigmoid(x) + 0.278464542761074
    return f / (f * f).sum(-1, keepdim=True).sqrt()


def elu_plus_one(x):
    return torch.where(x > 0, x + 1, x.exp())


def relu_squared(x):
    return x.clamp_min(0) ** 2


def linear(x, w, b=0.0):
    return torch.einsum("bhtk,hkj->bhtj", x, w) + b


def mlp(x, w):
    inner = linear(x, w["weight1"], w["bias1"][:, None])
    return x + linear(inner * (1 + torch.erf(inner / 2**0.5)) / 2, w["weight2"])


def dynamic(x, w):
    shares = linear(x, w["weight"], w["bias"][:, None]).softmax(-1)
    maps = (elu_plus_one(x), relu_squared(x), shifted_silu(x))
    return sum(share[..., None] * phi for share, phi in zip(shares.unbind(-1), maps, strict=True))


def both_signs(z):
    return torch.cat([z, -z], -1)


FEATURES = {
    "elu+1": lambda x, w: elu_plus_one(x),
    "relu": lambda x, w: x.clamp_min(0),
    "relu2": lambda x, w: relu_squared(x),
    "exp": lambda x, w: x.exp(),
    "silu": lambda x, w: shifted_silu(x),
    "dynamic": dynamic,
    "hedgehog": lambda x, w: torch.cat(
        [(sign * linear(x, w["directions"], w["bias"][:, None])).softmax(-1) for sign in (1, -1)], -1
    ),
}
"""phi by its textbook formula."""
LOG_FEATURES = {
    "mlp": lambda x, w: both_signs(mlp(x, w)),
    "random": lambda x, w: (
        both_signs(linear(x / K**0.25, w["directions"])) - (x * x).sum(-1, keepdim=True) / (2 * K**0.5)
    ),
}
"""log phi, of maps whose phi no floating-point number holds."""


def kernel(name, x, z, w):
    """Weights (B, H, T, S) of keys z for queries x, each row up to a factor."""
    if name == "taylor2":
        s = x @ z.mT / K**0.5
        return 1 + s + s * s / 2
    if name in LOG_FEATURES:
        q, k = LOG_FEATURES[name](x, w), LOG_FEATURES[name](z, w)
        log = (q[..., :, None, :] + k[..., None, :, :]).logsumexp(-1)
        seen = torch.ones(log.shape[-2:], dtype=torch.bool).tril()
        return (log - log.masked_fill(~seen, -math.inf).amax(-1, keepdim=True)).exp()
    return FEATURES[name](x, w) @ FEATURES[name](z, w).mT


@pytest.mark.parametrize("name", FEATURE_MAPS)
@pytest.mark.parametrize("scale", [1.0, 30.0])
@torch.inference_mode()
def test_feature_maps(name, scale):
    """Each map under attention equals its textbook formula in float64."""
    g = torch.Generator().manual_seed(1)
    x, z = (torch.randn(B, H, 130, K, generator=g, dtype=torch.float64) * scale for _ in range(2))
    v = torch.randn(B, H, 130, V, generator=g, dtype=torch.float64)
    phi, weights = drawn(name)
    seen = torch.ones(130, 130, dtype=torch.bool).tril()
    weight = kernel(name, x, z, weights).masked_fill(~seen, 0)
    wanted = (weight @ v) / (weight.sum(-1, keepdim=True) + phi.eps)
    k, exponent = phi.key(z)
    assert k.shape[-1] == phi.features(K) == phi.query(x).shape[-1]
    options = {"eps": phi.eps, "floor": phi.floor}
    found, _ = linear_attention(phi.query(x), k, v, key_exponent=exponent, **options)
    assert error(found, wanted) <= 1e-12
    k, exponent = phi.key(z.float())
    single, _ = linear_attention(phi.query(x.float()), k, v.float(), key_exponent=exponent, **options)
    assert torch.isfinite(single).all()
    assert error(single, wanted) <= (1e-4 if name in ("exp", "mlp", "random") else 1e-5)


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
