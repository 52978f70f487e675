"""Attention by segment equals its dense formula, however it is cut at segments."""

import pytest
import torch

from longseq.ops.feature_maps import feature_map
from longseq.ops.memory import EMPTY
from longseq.ops.segments import segment_attention

B, H, K, V = 2, 2, 4, 3


def error(found, wanted):
    return float((found - wanted).norm() / wanted.norm())


def dense(q, k, v, segment, eps=0.0):
    """Token t sees token s where s stands in t's segment or an earlier one."""
    place = torch.arange(q.shape[2]) // segment
    weights = (q @ k.mT).masked_fill(place[:, None] < place, 0.0)
    return (weights @ v) / (weights.sum(-1, keepdim=True) + eps)


def inputs(length, seed=0):
    g = torch.Generator().manual_seed(seed)
    q, k = (torch.rand(B, H, length, K, generator=g, dtype=torch.float64) for _ in range(2))
    return q, k, torch.randn(B, H, length, V, generator=g, dtype=torch.float64)


@pytest.mark.parametrize("segment", [1, 16, 500])
@pytest.mark.parametrize("length", [1, 2, 17, 63, 64, 65, 200])
def test_definition(segment, length):
    q, k, v = inputs(length)
    wanted = dense(q, k, v, segment, 1e-6)
    found, memory = segment_attention(q, k, v, segment=segment, eps=1e-6)
    assert error(found, wanted) <= 1e-12
    assert error(memory.value(), k.mT @ torch.cat([v, torch.ones_like(v[..., :1])], -1)) <= 1e-12
    single, _ = segment_attention(q.float(), k.float(), v.float(), segment=segment, eps=1e-6)
    assert error(single, wanted) <= 1e-5


@pytest.mark.parametrize("rescale", [1, 2, 64])
def test_cuts_rescaling_and_far_exponents(rescale):
    """Keys of e^±300 in any order, read in pieces of whole segments with a short last one; rescaling, several times a
    piece, moves no bit."""
    g = torch.Generator().manual_seed(1)
    x, z = (torch.randn(B, H, 301, K, generator=g, dtype=torch.float64) for _ in range(2))
    z = z + 300 * torch.randint(-1, 2, (B, H, 301, 1), generator=g)
    v = torch.randn(B, H, 301, V, generator=g, dtype=torch.float64)
    wanted = dense(x.exp(), z.exp(), v, 2)
    phi = feature_map("exp", H, K)
    for dtype, limit in ((torch.float64, 1e-12), (torch.float32, 1e-4)):
        q, (k, exponent), values = phi.query(x.to(dtype)), phi.key(z.to(dtype)), v.to(dtype)
        memory, parts = None, []
        for s in (slice(0, 2), slice(2, 20), slice(20, 301)):
            options = {"segment": 2, "key_exponent": exponent[:, :, s]}
            never = segment_attention(q[:, :, s], k[:, :, s], values[:, :, s], memory, rescale=0, **options)[0]
            y, memory = segment_attention(q[:, :, s], k[:, :, s], values[:, :, s], memory, rescale=rescale, **options)
            assert torch.equal(y, never)
            parts.append(y)
        assert error(torch.cat(parts, 2), wanted) <= limit


def test_gradients():
    """Those of the dense formula, over more segments than are taken together, and through a memory."""
    leaves = [x.requires_grad_() for x in inputs(203)]

    def gradients(function):
        return torch.autograd.grad(function(*leaves).sin().sum(), leaves)

    def in_two(q, k, v):
        y, memory = segment_attention(q[:, :, :80], k[:, :, :80], v[:, :, :80], segment=2)
        return torch.cat([y, segment_attention(q[:, :, 80:], k[:, :, 80:], v[:, :, 80:], memory, segment=2)[0]], 2)

    for found, wanted in zip(gradients(in_two), gradients(lambda q, k, v: dense(q, k, v, 2)), strict=True):
        assert error(found, wanted) <= 1e-12


def test_a_million_equal_keys_do_not_drift():
    """Sums are carried in 48 bits: the reading of the last segment still counts each token once."""
    one = torch.ones(1, 1, 1000, 1)
    memory = None
    for _ in range(3):
        memory = segment_attention(one, one, one, memory, segment=8)[1]
    assert memory.value().tolist() == [[[[3000.0, 3000.0]]]]
    grown = memory._replace(exponent=memory.exponent + 30)
    for _ in range(3):
        grown = segment_attention(one, one, one, grown, segment=8)[1]
    assert grown.value()[0, 0, 0, 0].item() == 3000.0 * 2**30 + 3000


def test_nothing_seen_is_zero():
    zero = torch.zeros(1, 1, 20, 2)
    empty = torch.full((1, 1, 20), EMPTY, dtype=torch.int32)
    y, memory = segment_attention(zero + 1, zero, zero, segment=8, key_exponent=empty)
    assert torch.equal(y, zero) and (memory.exponent == EMPTY).all()
    y, after = segment_attention(zero[:, :, :0], zero[:, :, :0], zero[:, :, :0], memory, segment=8)
    assert y.shape == (1, 1, 0, 2) and after is memory
