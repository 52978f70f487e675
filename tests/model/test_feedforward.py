"""The gated feed-forward works its gradient out in parts."""

import pytest
import torch
from torch.nn import functional as F

from longseq.model import feedforward
from longseq.model.feedforward import SwiGlu


@pytest.mark.parametrize("rows", [5, 8192])
def test_values_and_gradients_equal_the_formula(rows, monkeypatch):
    monkeypatch.setattr(feedforward, "ROWS", rows)
    torch.manual_seed(0)
    layer = SwiGlu(4, 6).double()
    x = torch.randn(2, 7, 4, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(2, 7, 4, dtype=torch.float64)

    def plain(x):
        gate, value = (x @ layer.expand.weight.T).split(6, -1)
        return (gate * torch.sigmoid(gate) * value) @ layer.output.weight.T

    found, wanted = layer(x), plain(x)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    inputs = (x, *layer.parameters())
    ours, theirs = (torch.autograd.grad((y * weights).sum(), inputs) for y in (found, wanted))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_gradients_under_autocast():
    """bfloat16 products, float32 parameters: gradients within its rounding of the float32 ones."""
    torch.manual_seed(0)
    layer, x = SwiGlu(16, 24), torch.randn(3, 40, 16)

    def gradients(enabled):
        layer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            y = layer(x)
        F.mse_loss(y.float(), x).backward()
        return [p.grad for p in layer.parameters()]

    for half, single in zip(gradients(True), gradients(False), strict=True):
        assert half.dtype == torch.float32
        assert float((half - single).norm() / single.norm()) < 0.02
