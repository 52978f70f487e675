"""The memory keeps what a float32 sum forgets, and a power of two is exact."""

import torch

from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import EMPTY, Memory, normalise, pow2


def test_pow2_is_exact():
    e = torch.arange(-1022, 1024, dtype=torch.int32)
    assert pow2(e).tolist() == [2.0**i for i in e.tolist()]
    assert pow2(torch.tensor([-(2**24)], dtype=torch.int32)).item() == 0.0


def test_a_sum_of_ones_goes_on_beyond_two_to_the_24():
    """A float32 count stops at 16,777,216; ours is exact."""
    start = Memory.split(
        torch.full((1, 1, 1, 2), 2.0**24 + 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.int32), torch.float32
    )
    one = torch.ones(1, 1, 1, 1)
    memory = start
    for _ in range(1000):
        memory = linear_attention(one, one, one, memory)[1]
    assert memory.value().tolist() == [[[[2.0**24 + 1001] * 2]]]
    naive = torch.tensor(2.0**24, dtype=torch.float32)
    for _ in range(1000):
        naive = naive + 1
    assert naive.item() == 2.0**24


def test_a_slow_channel_does_not_drift():
    """Time constant 1e6 over 100,000 tokens, carried call by call: within 1e-6 of float64."""
    torch.manual_seed(0)
    k, v = torch.rand(1, 1, 100_000, 1), torch.rand(1, 1, 100_000, 1)
    decay = torch.full((1, 1, 100_000, 1), -1e-6)
    memory = None
    for kc, vc, dc in zip(k.split(64, 2), v.split(64, 2), decay.split(64, 2), strict=True):
        memory = linear_attention(kc, kc, vc, memory, decay=dc, decay_bound=1.0)[1]
    age = torch.arange(99_999, -1, -1, dtype=torch.float64)
    wanted = (k.double()[0, 0, :, 0] * v.double()[0, 0, :, 0] * torch.exp(age * decay.double()[0, 0, 0, 0])).sum()
    assert abs(memory.value()[0, 0, 0, 0] / wanted - 1) <= 1e-6


def test_normalising_keeps_the_value():
    value = torch.randn(2, 3, 4, 5, dtype=torch.float64) * 1e30
    value[0, 0] = 0  # a head that forgot everything
    scaled, exponent = normalise(value, torch.full((2, 3), 7, dtype=torch.int32))
    assert torch.equal(scaled * pow2(exponent - 7)[..., None, None], value)
    largest = scaled.abs().amax((-2, -1)).flatten()
    assert ((largest[1:] >= 0.5) & (largest[1:] < 1)).all()
    assert exponent[0, 0] == EMPTY
