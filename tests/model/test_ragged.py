"""Records of any length, one token included, cut anywhere and padded anywhere: outputs, states and gradients."""

import pytest
import torch
from laws import cut, encoder, error, every_kind, state_error

from longseq.model.state import map_tensors

SHORT = (1, 2, 17, 63, 64, 65, 500)
LONG = pytest.param(43_884, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])


def random_cuts(length, generator):
    """Sizes that add up to `length`: a few of any size, and runs of single tokens."""
    sizes = [1, 1]
    while sum(sizes) < length:
        most = max(2, length // 3)
        sizes += [int(torch.randint(1, most, (1,), generator=generator)), 1]
    while sum(sizes) > length:
        sizes[-1] -= 1
        if not sizes[-1]:
            sizes.pop()
    return sizes


@every_kind
@pytest.mark.parametrize("length", [*SHORT, LONG])
def test_any_length_any_cut(mixer, feature_map, length, bases):
    if mixer == "softmax" and length > 2000:
        pytest.skip("quadratic")
    model, ids = encoder(mixer, feature_map, layers=1), bases[:, 1000 : 1000 + length]
    generator = torch.Generator().manual_seed(length)
    weights = torch.randn(length, 16, generator=generator, dtype=torch.float64)

    def read(sizes):
        model.zero_grad()
        hidden, state = cut(model, ids, sizes)
        (hidden[0] * weights).sum().backward()
        gradients = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        return hidden.detach(), map_tensors(state, torch.Tensor.detach), gradients

    whole, end, slope = read([length])
    found, state, other = read(random_cuts(length, generator))
    assert error(found, whole) <= 1e-12
    assert state_error(state, end) <= 1e-12
    assert error(other, slope) <= 1e-10


@every_kind
@pytest.mark.parametrize("length", SHORT)
@pytest.mark.parametrize("left", [0, 5, 70])
def test_any_length_any_padding(mixer, feature_map, length, left, bases):
    """A batch of one with padding on the left, on the right, and all around; then a call of nothing but padding."""
    model, ids = encoder(mixer, feature_map, layers=1), bases[:, 2000 : 2000 + length]
    padded = torch.full((1, left + length + 9), 7)
    mask = torch.zeros_like(padded, dtype=torch.bool)
    mask[:, left : left + length] = True
    padded[mask] = ids[0]
    with torch.inference_mode():
        whole, end = model(ids)
        hidden, state = model(padded, None, mask)
        nothing, after = model(padded, state, torch.zeros_like(mask))
    assert torch.isfinite(hidden).all() and torch.isfinite(nothing).all()
    assert error(hidden[mask], whole[0]) <= 1e-12
    assert state.seen.item() == after.seen.item() == length
    if mixer != "softmax":  # its state has a row for each padding too
        assert state_error(state, end) <= 1e-12
        assert state_error(after, end) <= 1e-12
