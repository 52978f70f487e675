"""Feature maps by themselves: precision, extremes, what they begin as and what is kept of them."""

import pytest
import torch

from longseq.errors import ConfigError
from longseq.model import ModelConfig
from longseq.ops.feature_maps import FEATURE_MAPS, feature_map
from longseq.ops.feature_maps.exponential import LogSpace
from longseq.ops.linear_attention import linear_attention

every_map = pytest.mark.parametrize("name", FEATURE_MAPS)


def drawn(name, heads=2, width=4):
    torch.manual_seed(5)
    phi = feature_map(name, heads, width)
    for parameter in phi.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return phi


@every_map
def test_autocast_takes_no_precision(name):
    """bfloat16 inputs: features are those of the same numbers in float32."""
    phi, x = drawn(name), torch.randn(2, 2, 9, 4).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        query, (key, exponent) = phi.query(x), phi.key(x)
    wanted, exact = phi.key(x.float())
    assert query.dtype == key.dtype == torch.float32
    assert torch.equal(query, phi.query(x.float())) and torch.equal(key, wanted)
    assert exponent is None or torch.equal(exponent, exact)


@every_map
def test_extremes_are_finite(name):
    """Inputs of norm 1e3, and one symbol again and again: forward, backward, and every reading inside the values.

    Exponentials of norm 1e2 only: where a query and all keys are e^-87 apart, float32 has no weights to give.
    """
    phi = drawn(name)
    g = torch.Generator().manual_seed(0)
    size = 10 if isinstance(phi, LogSpace) else 500
    x, z = (size * torch.randn(1, 2, 300, 4, generator=g) for _ in range(2))
    z[:, :, 100:] = z[:, :, 100:101]
    leaves = [x.requires_grad_(), z.requires_grad_(), torch.rand(1, 2, 300, 3, generator=g, requires_grad=True)]
    key, exponent = phi.key(leaves[1])
    y, memory = linear_attention(
        phi.query(leaves[0]), key, leaves[2], key_exponent=exponent, eps=phi.eps, floor=phi.floor
    )
    (y.sum() + memory.hi.sum()).backward()
    assert torch.isfinite(y).all() and torch.isfinite(memory.hi).all()
    assert all(torch.isfinite(leaf.grad).all() for leaf in (*leaves, *phi.parameters()))
    if name != "taylor2":  # features with a sign cancel where queries and keys point apart
        assert y.min() >= 0 and y.max() <= 1.001


def test_learned_maps_begin_plain():
    x = torch.randn(1, 2, 5, 4, dtype=torch.float64)
    mlp, exponent = feature_map("mlp", 2, 4).key(x)
    assert torch.allclose(mlp * 2.0 ** exponent[..., None], torch.cat([x.exp(), (-x).exp()], -1), rtol=1e-12)
    parts = [feature_map(name, 2, 4).query(x) for name in ("elu+1", "relu2", "silu")]
    assert torch.allclose(feature_map("dynamic", 2, 4).query(x), sum(parts) / 3, rtol=1e-12)
    hedgehog = torch.cat([x.softmax(-1), (-x).softmax(-1)], -1)
    assert torch.allclose(feature_map("hedgehog", 2, 4).query(x), hedgehog, rtol=1e-12)


def test_random_features_stand_for_the_softmax():
    """In the mean over draws phi(q)·phi(k) is 2 K exp(q·k / √K), and directions of one draw are orthogonal."""
    torch.manual_seed(0)
    draws = 20_000
    phi = feature_map("random", draws, 4)
    gram = phi.directions.mT @ phi.directions
    assert (gram - torch.diag_embed(gram.diagonal(dim1=1, dim2=2))).abs().max() <= 1e-4
    q, k = 0.5 * torch.randn(2, 1, 1, 6, 4).double().expand(-1, -1, draws, -1, -1)
    logs = phi.log_map(q)[..., :, None, :] + phi.log_map(k)[..., None, :, :]
    wanted = 8 * (q[0, 0] @ k[0, 0].T / 2).exp()
    assert ((logs.exp().sum(-1).mean(1)[0] / wanted - 1).abs() <= 0.05).all()


def test_random_directions_are_kept_and_not_trained():
    torch.manual_seed(0)
    one, other = feature_map("random", 2, 4), feature_map("random", 2, 4)
    assert not list(one.parameters())
    assert not torch.equal(one.directions, other.directions)
    other.load_state_dict(one.state_dict())
    assert torch.equal(one.directions, other.directions)


def test_a_decay_of_each_channel_takes_maps_of_as_many_features():
    with pytest.raises(ConfigError, match=r"model\.feature_map: expected .*elu\+1.*or model\.decay 'head'.*'hedgehog'"):
        ModelConfig(pattern=("linear", "gated"), feature_map="hedgehog")
    assert ModelConfig(pattern=("gated",), feature_map="hedgehog", decay="head").feature_map == "hedgehog"
    assert ModelConfig(pattern=("linear",), feature_map="taylor2").feature_map == "taylor2"
