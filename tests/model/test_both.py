"""Visibility "both" in memory: two whole passes, aligned by position."""

import pytest
import torch

from longseq.model import Encoder, ModelConfig
from longseq.model.both import mirror, read_both

COMPLEMENT = torch.tensor([3, 2, 1, 0, *range(4, 15)])


def encoder(pattern=("gated",), **options):
    config = {"width": 16, "heads": 2, "layers": 2, "pattern": pattern, "visibility": "both"}
    return Encoder(ModelConfig(**config | options)).double().eval()


def tokens(length, seed=0):
    return torch.randint(4, (1, length), generator=torch.Generator().manual_seed(seed))


def error(found, wanted):
    return float((found - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("pattern", [("linear",), ("gated", "window"), ("softmax",), ("lstm",)])
@pytest.mark.parametrize("complement", [None, COMPLEMENT], ids=["reverse", "complement"])
@torch.inference_mode()
def test_definition(pattern, complement):
    """Token t is read by one pass over all up to it, and by one over all from the end down to it."""
    model, ids = encoder(pattern), tokens(60)
    other = ids.flip(1) if complement is None else complement[ids.flip(1)]
    found = read_both(model, ids, None, complement)
    for t in (0, 1, 37, 59):
        up, down = model(ids[:, : t + 1])[0][:, -1], model(other[:, : 60 - t])[0][:, -1]
        assert error(found[:, t], torch.cat([up, down], -1)) <= 1e-12


@torch.inference_mode()
def test_strands_mirror():
    model, ids = encoder(), tokens(70)
    one = read_both(model, ids, None, COMPLEMENT)
    other = read_both(model, COMPLEMENT[ids.flip(1)], None, COMPLEMENT)
    assert torch.equal(other.flip(1), torch.cat([one[..., 16:], one[..., :16]], -1))


@torch.inference_mode()
def test_padding_and_lanes():
    model, lengths = encoder(("gated", "linear")), (50, 37, 0, 20)
    mask = torch.zeros(4, 50, dtype=torch.bool)
    mask[0] = True
    mask[1, 13:] = True
    mask[3, torch.randperm(50, generator=torch.Generator().manual_seed(0))[:20]] = True
    ids = torch.full((4, 50), 7)
    for i, length in enumerate(lengths):
        ids[i, mask[i]] = tokens(length, i)[0]
    found = read_both(model, ids, mask, COMPLEMENT)
    assert torch.isfinite(found).all()
    for i, length in enumerate(lengths):
        if length:
            assert error(found[i, mask[i]], read_both(model, tokens(length, i), None, COMPLEMENT)[0]) <= 1e-12


def test_mirror_is_its_own_inverse():
    mask = torch.tensor([[True, False, True, True], [False] * 4])
    assert mirror(mask, mask).tolist() == [[3, 1, 2, 0], [0, 1, 2, 3]]


def test_gradients_reach_both_passes():
    model, ids = encoder(), tokens(20)
    read_both(model, ids)[..., 16:].sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters() if p.requires_grad)
