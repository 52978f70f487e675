"""Attention of converted Transformers by segment equals its formula over all pairs, however it is cut at segments."""

import pytest
import torch

from longseq.ops.feature_maps import feature_map
from longseq.ops.gated_segments import Shares, gated_segment_attention

H, K = 2, 4
SEGMENT, WINDOW = 12, 5
MAPS = {
    "elu+1": lambda x: torch.where(x > 0, x + 1, x.exp()),
    "exp": torch.exp,
    "hedgehog": lambda x: torch.cat([x.softmax(-1), (-x).softmax(-1)], -1),
}
EPS = {"elu+1": 1e-6, "hedgehog": 1e-6}


def error(found, wanted):
    found, wanted = found.detach().double(), wanted.detach().double()
    return float((found - wanted).norm() / wanted.norm())


def weights(name, q, k):
    """φ(q)·φ(k) of all pairs."""
    if name == "taylor2":
        s = q @ k.mT / K**0.5
        return 1 + s + s * s / 2
    return MAPS[name](q) @ MAPS[name](k).mT


def formula(name, heads, gain, gate, segment=SEGMENT, window=WINDOW, kept=None):
    """Every token against every other."""
    q, k, v = heads
    place = torch.arange(q.shape[2])
    own, earlier = place[:, None] // segment == place // segment, place[:, None] // segment > place // segment
    if kept is not None:
        earlier = earlier & kept
    linear = weights(name, q, k)
    if window:
        near = own & (place[:, None] % segment // window == place % segment // window)
        weight = torch.where(near, (q @ k.mT / K**0.5).exp(), gain.exp()[:, None, None] * linear)
    else:
        weight = linear
    seen = own if gate is not None else own | earlier
    weight = weight * seen
    below = weight.sum(-1, keepdim=True) + (0 if window else EPS.get(name, 0))
    y = weight @ v / below
    if gate is None:
        return y
    read = linear * earlier
    read = read @ v / (read.sum(-1, keepdim=True) + EPS.get(name, 0) + ~earlier.any(-1, keepdim=True))
    return torch.where(earlier.any(-1, keepdim=True), y + gate.tanh()[:, None, None] * (read - y), y)


def drawn(length, seed=0, scale=1.0):
    g = torch.Generator().manual_seed(seed)
    heads = torch.randn(3, 2, H, length, K, generator=g, dtype=torch.float64) * scale
    return heads, *torch.randn(2, H, generator=g, dtype=torch.float64)


def run(name, heads, gain, gate, memory=None, **options):
    shares = Shares(gain if options.get("window", WINDOW) else None, gate)
    settings = {"segment": SEGMENT, "window": WINDOW, "shares": shares} | options
    return gated_segment_attention(feature_map(name, H, K), heads, memory, **settings)


each = pytest.mark.parametrize("name", [*MAPS, "taylor2"])
shapes = pytest.mark.parametrize(
    ("gated", "window"), [(True, 0), (False, 0), (True, 5), (False, 5), (True, 12), (False, 12)]
)


@each
@shapes
@pytest.mark.parametrize("length", [1, 5, 12, 13, 60, 500])
def test_definition(name, gated, window, length):
    heads, gain, gate = drawn(length)
    gate = gate if gated else None
    wanted = formula(name, heads, gain, gate, window=window)
    found, _ = run(name, heads, gain, gate, window=window)
    assert error(found, wanted) <= 1e-12
    single, _ = run(name, heads.float(), gain, gate, window=window)
    assert error(single, wanted) <= 1e-5


@each
@shapes
def test_gradients(name, gated, window):
    """Those of the formula, over more segments than are taken together, and through a memory."""
    heads, *weights = drawn(203)
    settings = {"window": window and min(window, 3), "segment": 3}
    leaves = [heads.requires_grad_(), *(weight.requires_grad_() for weight in weights)]

    def gradients(function):
        y = function(heads, weights[0], weights[1] if gated else None)
        return torch.autograd.grad(y.sin().sum(), leaves, allow_unused=True, materialize_grads=True)

    def in_two(heads, gain, gate):
        y, memory = run(name, heads[:, :, :, :81], gain, gate, **settings)
        return torch.cat([y, run(name, heads[:, :, :, 81:], gain, gate, memory, **settings)[0]], 2)

    wanted = gradients(lambda *given: formula(name, *given, **settings))
    for found, one in zip(gradients(in_two), wanted, strict=True):
        assert float((found - one).norm()) <= 1e-10 * float(one.norm()) + 1e-10


@each
@shapes
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_cuts_and_rescaling_change_nothing(name, gated, window, dtype):
    """Not one bit, whether the memory is rescaled after every span or never."""
    heads, gain, gate = drawn(203)
    heads, gate = heads.to(dtype), gate if gated else None
    settings = {"window": window and min(window, 2), "segment": 3}
    whole, end = run(name, heads, gain, gate, **settings)
    parts, memory = [], None
    for here in (slice(0, 3), slice(3, 150), slice(150, 203)):
        never, _ = run(name, heads[:, :, :, here], gain, gate, memory, rescale=0, **settings)
        y, memory = run(name, heads[:, :, :, here], gain, gate, memory, rescale=1, **settings)
        assert torch.equal(y, never)
        parts.append(y)
    limit = 1e-12 if dtype == torch.float64 else 1e-5
    assert error(torch.cat(parts, 2), whole) <= limit
    assert error(memory.value(), end.value()) <= limit


@each
@shapes
def test_scores_of_hundreds(name, gated, window):
    """Weights of e^±200 and beyond in windows, features as far apart: what float64 finds, and finite gradients."""
    heads, gain, gate = drawn(40, scale=1.0)
    heads[0] *= 12
    heads[1] *= 12
    gate = gate if gated else None
    assert (heads[0] @ heads[1].mT / K**0.5).abs().max() > 300
    wanted = formula(name, heads, gain, gate, window=window)
    single = heads.float().requires_grad_()
    found, _ = run(name, single, gain, gate, window=window)
    assert error(found, wanted) <= 2e-4
    found.sin().sum().backward()
    assert torch.isfinite(single.grad).all()


def test_a_window_far_below_the_others_counts():
    """Keys of e^±120 in windows of one segment: each reads the others in units of their own."""
    heads, gain, gate = drawn(36)
    heads[1, :, :, 5:10] += 120
    heads[1, :, :, 24:30] -= 120
    for closed in (gate, None):
        wanted = formula("exp", heads, gain - 100, closed)
        assert error(run("exp", heads, gain - 100, closed)[0], wanted) <= 1e-12
        assert error(run("exp", heads.float(), gain - 100, closed)[0], wanted) <= 1e-4


@each
@shapes
def test_padding_and_special_tokens(name, gated, window):
    """Lanes with fewer valid tokens are read as if alone; tokens that are not kept enter no memory."""
    heads, gain, gate = drawn(60)
    gate = gate if gated else None
    kept = torch.rand(2, 60, generator=torch.Generator().manual_seed(3)) < 0.7
    counts = torch.tensor([[60], [29]])
    valid = torch.arange(60) < counts
    heads[:, 1, :, 29:] = 300.0
    found, memory = run(name, heads, gain, gate, valid=valid, kept=kept & valid, window=window)
    assert torch.isfinite(found).all()
    for lane, count in enumerate(counts[:, 0].tolist()):
        alone = heads[:, lane : lane + 1, :, :count]
        wanted = formula(name, alone, gain, gate, window=window, kept=kept[lane, :count])
        assert error(found[lane, :, :count], wanted[0]) <= 1e-12
        only = alone[:, :, :, kept[lane, :count]]
        _, text = run(name, only, gain, gate, segment=60, window=window)
        assert error(memory.value()[lane], text.value()[0]) <= 1e-12


@each
@pytest.mark.parametrize("window", [0, 4, 12])
def test_a_closed_gate_is_each_segment_by_itself(name, window):
    """To the bit, whatever the memory holds; several at once, to rounding."""
    heads, gain, gate = drawn(60)
    heads, memory, parts = heads.float(), None, []
    for part in heads.split(SEGMENT, 3):
        alone, _ = run(name, part, gain, gate * 0, window=window)
        y, memory = run(name, part, gain, gate * 0, memory, window=window)
        assert torch.equal(y, alone)
        parts.append(y)
    assert error(run(name, heads, gain, gate * 0, window=window)[0], torch.cat(parts, 2)) <= 1e-6


@each
def test_a_window_as_long_as_the_segment_is_softmax_attention(name):
    heads, gain, gate = drawn(60)
    q, k, v = heads.unflatten(3, (-1, SEGMENT)).transpose(2, 3)
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2, 3)
    assert error(run(name, heads, gain, gate * 0, window=SEGMENT)[0], wanted) <= 1e-12


def test_a_million_tokens_stay_right():
    """Equal tokens: a memory of 48 bits counts each once, and the last segment reads it so."""
    heads, shares = torch.zeros(3, 1, 1, 4096, 4), Shares(torch.zeros(1), torch.ones(1))
    heads[2] = 1.0
    memory = None
    for _ in range(245):
        y, memory = gated_segment_attention(
            feature_map("elu+1", 1, 4), heads, memory, segment=256, window=64, shares=shares
        )
    assert torch.equal(memory.value()[0, 0], torch.full((4, 5), 245.0 * 4096, dtype=torch.float64))
    assert (y - 1).abs().max() <= 1e-6


def test_nothing_seen_before_is_the_own_segment():
    """Features that see nothing of what stands before do not pull towards zero; no token at all is no output."""
    heads, gain, gate = drawn(24)
    heads[1, :, :, :12] = -1.0
    found, memory = run("relu", heads, gain, gate)
    assert torch.equal(found, run("relu", heads, gain, gate * 0)[0])
    y, after = run("relu", heads[:, :, :, :0], gain, gate, memory)
    assert y.shape == (2, H, 0, K) and after is memory
