"""Feature maps: the formula of each, precision, extremes, what they begin as and what is kept of them."""

import math

import pytest
import torch

from longseq.errors import ConfigError
from longseq.model import ModelConfig
from longseq.ops.feature_maps import FEATURE_MAPS, feature_map
from longseq.ops.feature_maps.exponential import LogSpace
from longseq.ops.linear_attention import linear_attention

B, H, K, V = 2, 2, 4, 3
every_map = pytest.mark.parametrize("name", FEATURE_MAPS)


def error(found, wanted):
    return float((found - wanted).norm() / wanted.norm())


def drawn(name):
    """A map with every learned number drawn, so that no zero or identity hides a part of it."""
    torch.manual_seed(5)
    phi = feature_map(name, H, K)
    for parameter in phi.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return phi


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


def two_sided(z):
    return torch.cat([z.softmax(-1), (-z).softmax(-1)], -1)


FEATURES = {
    "elu+1": lambda x, w: elu_plus_one(x),
    "relu": lambda x, w: x.clamp_min(0),
    "relu2": lambda x, w: relu_squared(x),
    "exp": lambda x, w: x.exp(),
    "silu": lambda x, w: shifted_silu(x),
    "dynamic": dynamic,
    "hedgehog": lambda x, w: two_sided(linear(x, w["directions"], w["bias"][:, None])),
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
    if name == "wide-hedgehog":
        q, k = linear(x, w["queries"], w["query_bias"][:, None]), linear(z, w["keys"], w["key_bias"][:, None])
        return two_sided(q) @ two_sided(k).mT
    if name in LOG_FEATURES:
        q, k = LOG_FEATURES[name](x, w), LOG_FEATURES[name](z, w)
        log = (q[..., :, None, :] + k[..., None, :, :]).logsumexp(-1)
        seen = torch.ones(log.shape[-2:], dtype=torch.bool).tril()
        return (log - log.masked_fill(~seen, -math.inf).amax(-1, keepdim=True)).exp()
    return FEATURES[name](x, w) @ FEATURES[name](z, w).mT


@every_map
@pytest.mark.parametrize("scale", [1.0, 30.0])
@torch.inference_mode()
def test_definition(name, scale):
    """Each map under attention equals its textbook formula in float64."""
    g = torch.Generator().manual_seed(1)
    x, z = (torch.randn(B, H, 130, K, generator=g, dtype=torch.float64) * scale for _ in range(2))
    v = torch.randn(B, H, 130, V, generator=g, dtype=torch.float64)
    phi = drawn(name)
    weights = {n: x.double() for n, x in phi.state_dict().items()}
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
    assert torch.allclose(feature_map("hedgehog", 2, 4).query(x), two_sided(x), rtol=1e-12)
    wide = feature_map("wide-hedgehog", 2, 4)
    assert torch.allclose(wide.query(x), wide.key(x)[0], rtol=1e-12)
    assert torch.equal(wide.queries[..., :4], torch.eye(4).expand(2, -1, -1))


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
