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
    return float((found - wanted).detach().double().norm() / wanted.double().norm())


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


@pytest.mark.parametrize("length", [1, 5, 12, 13, 60, 500])
@pytest.mark.parametrize("window", [0, 1, 5, 6, 12])
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("name", [*MAPS, "taylor2"])
def test_definition(name, gated, window, length):
    if not window and not gated:
        return
    heads, gain, gate = drawn(length)
    gate = gate if gated else None
    wanted = formula(name, heads, gain, gate, window=window)
    found, _ = run(name, heads, gain, gate, window=window)
    assert error(found, wanted) <= 1e-12
    single, _ = run(name, heads.float(), gain, gate, window=window)
    assert error(single, wanted) <= 1e-5
