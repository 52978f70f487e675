"""The delta rule, and mixers with signed keys, against the recurrences of their papers, token by token in float64."""

import math

import pytest
import torch
from torch.nn import functional as F

from longseq.model.mixers.mlstm import CAP, input_gate
from longseq.model.mixers.signed import attend_signed
from longseq.ops import delta_rule as delta_module
from longseq.ops.delta_rule import delta_rule, delta_transition
from longseq.ops.memory import Memory, pow2

B, H, K, V = 2, 2, 4, 3
LENGTHS = (1, 2, 17, 63, 64, 65, 500)
LIMIT = {torch.float32: 1e-5, torch.float64: 1e-12}
DECAYS = {
    "none": lambda noise: None,
    "mild": lambda noise: -noise,
    "any": lambda noise: -80 * (noise > 0.7) - 1e-3 * noise,
}
every_decay = pytest.mark.parametrize("kind", DECAYS)
every_length = pytest.mark.parametrize("length", LENGTHS)


def error(found, wanted):
    return float((found.double() - wanted).norm() / wanted.norm().clamp_min(1e-300))


def inputs(length, kind="none", seed=0):
    """q, k, v, beta and decay in float64; keys of unit length."""
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(B, H, length, n, generator=g, dtype=torch.float64) for n in (K, K, V))
    beta, noise = (torch.rand(B, H, length, 1, generator=g, dtype=torch.float64) for _ in range(2))
    return q, F.normalize(k, dim=-1), v, beta, DECAYS[kind](noise)


def tokens(*tensors):
    """For each token, its (B, H, 1, …) slices as columns (B, H, …, 1)."""
    return zip(*(x.mT.split(1, -1) for x in tensors), strict=True)


def delta_by_token(q, k, v, beta, decay):
    """Yang et al. 2025, eq. 10 (2024, eq. 5 without decay)."""
    memory, outputs = q.new_zeros(B, H, K, V), []
    decay = torch.zeros_like(beta) if decay is None else decay
    for q_t, k_t, v_t, b_t, g_t in tokens(q, k, v, beta, decay):
        kept = torch.eye(K, dtype=q.dtype) - b_t * k_t @ k_t.mT
        memory = g_t.exp() * kept @ memory + b_t * k_t @ v_t.mT
        outputs.append(q_t.mT @ memory)
    return torch.cat(outputs, 2), memory


def mlstm_by_token(q, k, v, written, kept):
    """Beck et al. 2024, eq. 19-27 with the stabiliser m of eq. 15; the floor of 1 is e^-m in its units."""
    memory, normaliser, m, outputs = q.new_zeros(B, H, V, K), q.new_zeros(B, H, K, 1), -math.inf, []
    for q_t, k_t, v_t, i_t, f_t in tokens(q, k / K**0.5, v, written, F.logsigmoid(kept)):
        before, m = m, (f_t + m).maximum(i_t)
        forget, write = (f_t + before - m).exp(), (i_t - m).exp()
        memory = forget * memory + write * v_t @ k_t.mT
        normaliser = forget * normaliser + write * k_t
        outputs.append((memory @ q_t / (normaliser.mT @ q_t).abs().maximum((-m).exp())).mT)
    return torch.cat(outputs, 2)


def retention_by_token(q, k, v, gamma):
    """Sun et al. 2023, eq. 6 without the rotation."""
    memory, outputs = q.new_zeros(B, H, K, V), []
    for q_t, k_t, v_t in tokens(q, k, v):
        memory = gamma * memory + k_t @ v_t.mT
        outputs.append(q_t.mT @ memory)
    return torch.cat(outputs, 2)


@every_decay
@every_length
def test_definition(kind, length):
    tensors = inputs(length, kind)
    wanted, end = delta_by_token(*tensors)
    for dtype, limit in LIMIT.items():
        q, k, v, beta, decay = (None if x is None else x.to(dtype) for x in tensors)
        found, memory = delta_rule(q, k, v, beta, decay=decay)
        assert found.dtype == memory.hi.dtype == dtype
        assert error(found, wanted) <= limit
        assert error(memory.value(), end) <= limit


@every_decay
@pytest.mark.parametrize("dtype", LIMIT, ids=["float32", "float64"])
def test_split_block_and_rescaling(kind, dtype):
    """Any cut and block to rounding, more tiles than are taken together; rescaling to the bit."""
    tensors = [None if x is None else x.to(dtype) for x in inputs(500, kind)]
    wanted, end = delta_rule(*tensors[:4], decay=tensors[4])
    cuts = torch.randint(1, 90, (12,), generator=torch.Generator().manual_seed(1)).tolist()
    for block in (1, 7, 64, 100):
        for sizes in ([500], [1, 1, *cuts, 500], [1] * 40 + [500]):
            readings = {}
            for rescale in (0, 1, 64):
                memory, parts, start = None, [], 0
                for size in sizes:
                    s = slice(start, start + size)
                    q, k, v, beta, decay = (None if x is None else x[:, :, s] for x in tensors)
                    y, memory = delta_rule(q, k, v, beta, memory, decay=decay, block=block, rescale=rescale)
                    parts.append(y)
                    start += size
                readings[rescale] = torch.cat(parts, 2), memory.value()
            assert error(readings[0][0], wanted.double()) <= LIMIT[dtype]
            assert error(readings[0][1], end.value()) <= LIMIT[dtype]
            for y, value in readings.values():
                assert torch.equal(y, readings[0][0])
                assert torch.equal(value, readings[0][1])


@every_decay
def test_transition(kind):
    """S' = M S + N: a slice's effect on any memory before it."""
    q, k, v, beta, decay = inputs(150, kind)
    start = torch.randn(B, H, K, V, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    memory = Memory.split(start, torch.zeros(B, H, dtype=torch.int32), torch.float64)
    transition, mine = delta_transition(k, v, beta, decay=decay)
    wanted = delta_rule(q, k, v, beta, memory, decay=decay)[1].value()
    assert error(transition @ start + mine.value(), wanted) <= 1e-12


@every_decay
@pytest.mark.parametrize("again", [False, True], ids=["kept", "computed-again"])
def test_gradients(kind, again, monkeypatch):
    """gradcheck in float64 through two calls joined by a memory, and with spans computed again in the backward pass."""
    if again:
        monkeypatch.setattr(delta_module, "LONG", 1)
    q, k, v, beta, decay = (None if x is None else x[:1, :1, :9] for x in inputs(9, kind))
    if decay is not None:
        decay = decay / 10  # a gate of -80 has no gradient that differences could show
    hi = torch.randn(1, 1, K, V, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    leaves = [x.clone().requires_grad_() for x in (q, k, v, beta, hi, *([] if decay is None else [decay]))]

    def run(q, k, v, beta, hi, decay=None):
        memory, outputs = Memory(hi, torch.zeros_like(hi), torch.ones(1, 1, dtype=torch.int32)), []
        for s in (slice(0, 4), slice(4, 9)):
            part = None if decay is None else decay[:, :, s]
            y, memory = delta_rule(q[:, :, s], k[:, :, s], v[:, :, s], beta[:, :, s], memory, decay=part, block=2)
            outputs.append(y)
        # The value of the memory, not its representation: an exponent is a step function of the inputs.
        return *outputs, memory.hi * pow2(memory.exponent)[..., None, None]

    assert torch.autograd.gradcheck(run, leaves)


def test_gradients_in_float32():
    """Those of the token recurrence in float64, behind gates of every strength."""
    tensors = inputs(200, "any")

    def gradients(function, dtype):
        leaves = [x.to(dtype, copy=True).requires_grad_() for x in tensors]
        function(*leaves).sin().sum().backward()
        return [x.grad for x in leaves]

    wanted = gradients(lambda *x: delta_by_token(*x)[0], torch.float64)
    found = gradients(lambda q, k, v, beta, decay: delta_rule(q, k, v, beta, decay=decay)[0], torch.float32)
    assert max(error(a, b) for a, b in zip(found, wanted, strict=True)) <= 1e-5


@pytest.mark.parametrize("gate", [-80.0, 0.0, None], ids=["shut", "open", "mixed"])
@pytest.mark.parametrize("mixer", ["delta", "mlstm"])
def test_extremes_are_finite(mixer, gate):
    """Values, queries and input gates of 1e3; gates shut, open and mixed: forward and backward."""
    q, k, v, beta, _ = (None if x is None else x.float() for x in inputs(200))
    q, v, decay = q * 1e3, v * 1e3, -80 * beta.round() if gate is None else torch.full_like(beta, gate)
    leaves = [x.clone().requires_grad_() for x in (q, k, v, beta, decay)]
    q, k, v, beta, decay = leaves
    if mixer == "delta":
        y, memory = delta_rule(q, k, v, beta, decay=decay)
    else:
        fraction, exponent = input_gate((beta - 0.5) * 2e3)
        options = {"decay": decay, "key_exponent": exponent[..., 0], "floor": 1.0}
        y, memory = attend_signed(q, k * fraction, v, None, None, None, **options)
    (y.sum() + memory.hi.sum()).backward()
    assert torch.isfinite(y).all() and torch.isfinite(memory.value()).all()
    assert all(torch.isfinite(x.grad).all() for x in leaves)


def test_one_key_for_ever():
    """The same token a million times: the memory says its value, and no more."""
    k = torch.full((1, 1, 1_000_000, 4), 0.5)
    y, memory = delta_rule(k, k, k * 6, torch.full_like(k[..., :1], 0.9))
    assert error(y[..., -1:, :], torch.full((1, 1, 1, 4), 3.0, dtype=torch.float64)) <= 1e-6
    assert error(memory.value(), torch.full((1, 1, 4, 4), 1.5, dtype=torch.float64)) <= 1e-6


@every_length
# Strong gates in float64 only: a signed denominator near 0 makes of inputs rounded to float32 alone up to 1e-4.
@pytest.mark.parametrize(("strength", "dtype"), [(1.0, torch.float32), (1.0, torch.float64), (10.0, torch.float64)])
def test_mlstm(length, strength, dtype):
    q, k, v, beta, _ = inputs(length)
    g = torch.Generator().manual_seed(6)
    written, kept = (strength * torch.randn(beta.shape, generator=g, dtype=torch.float64) for _ in range(2))
    wanted = mlstm_by_token(q, k, v, CAP * (written / CAP).tanh(), kept)
    fraction, exponent = input_gate(written.to(dtype))
    q, k, v, decay = (x.to(dtype) for x in (q, k / K**0.5, v, F.logsigmoid(kept)))
    options = {"decay": decay, "key_exponent": exponent[..., 0], "floor": 1.0}
    found, _ = attend_signed(q, k * fraction, v, None, None, None, **options)
    assert error(found, wanted) <= LIMIT[dtype]


@every_length
def test_retention(length):
    q, k, v, _, _ = inputs(length)
    gamma = torch.tensor([1 - 1 / 32, 1 - 1 / 5000], dtype=torch.float64)[:, None, None]
    wanted = retention_by_token(q, k, v, gamma)
    for dtype, limit in LIMIT.items():
        decay = gamma.log().to(dtype).expand(B, H, length, 1)
        found, _ = attend_signed(*(x.to(dtype) for x in (q, k, v)), None, None, None, decay=decay, decay_bound=0.04)
        assert error(found, wanted) <= limit
