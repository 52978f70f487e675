"""Heads: the next token across cuts, running pooling whatever the cut."""

import pytest
import torch
from torch.nn import functional as F

from longseq.model import Classifier, LanguageModel, ModelConfig


def error(found, wanted):
    return float(((found - wanted).norm() / wanted.norm()).detach())


@pytest.fixture
def model():
    return LanguageModel(ModelConfig(vocabulary=5, width=8, heads=2, layers=1)).double()


def test_next_token_does_not_see_itself(model):
    ids = torch.randint(0, 4, (1, 40), generator=torch.Generator().manual_seed(0))
    changed = ids.clone()
    changed[0, 20] = (changed[0, 20] + 1) % 4
    a, b = model(ids)[0], model(changed)[0]
    assert error(a[:, :21], b[:, :21]) <= 1e-12
    assert (a[:, 21] - b[:, 21]).abs().max() > 1e-6


def test_loss_is_the_sum_of_its_cuts(model):
    """Cutting a record loses no token: the first of a cut is scored from the state before it."""
    ids = torch.randint(0, 4, (2, 90), generator=torch.Generator().manual_seed(1))
    weight = torch.rand(2, 90, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    logits, _ = model(ids)
    wanted = (F.cross_entropy(logits.mT, ids, reduction="none") * weight).sum()
    state, nats, total = None, 0.0, 0.0
    for part, share in zip(ids.split([1, 30, 59], 1), weight.split([1, 30, 59], 1), strict=True):
        n, w, state = model.loss(part, share, state)
        nats, total = nats + n, total + w
    assert nats.item() == pytest.approx(wanted.item(), rel=1e-6)  # scores are float32
    assert float(total) == pytest.approx(float(weight.sum()))


def means(x, span):
    """Of spans (S, D), and the tokens (S,) of each."""
    parts = x.split(span or 1)
    return torch.stack([part.mean(0) for part in parts]), torch.tensor([len(part) for part in parts])


@pytest.mark.parametrize("span", [0, 1, 7, 64])
@pytest.mark.parametrize("pooling", ["mean", "max", "last", "attention"])
def test_pooling_does_not_depend_on_cuts_or_padding(pooling, span):
    """Nor does it differ from that of the means of spans, where these are known; the last one weighs by its tokens."""
    g = torch.Generator().manual_seed(3)
    head = Classifier(6, 3, pooling, span).double()
    hidden = 5 * torch.randn(2, 50, 6, generator=g, dtype=torch.float64)
    centre, scale = torch.randn(6, generator=g), torch.rand(6, generator=g) + 0.5
    if span:
        head.even_out(centre, scale)
    if head.attend is not None:
        torch.nn.init.normal_(head.attend.weight, generator=g)
    oracle = {
        "mean": lambda x: x.mean(0),
        "max": lambda x: x.amax(0),
        "last": lambda x: x[-1],
        "attention": lambda x: head.attend(x)[:, 0].softmax(0) @ x,
    }[pooling]
    rows = [means(hidden[0], span), means(hidden[1, 10:40], span)]
    evened = [((x - centre) / scale if span else x, n) for x, n in rows]
    spread = [x.repeat_interleave(n, 0) if pooling in ("mean", "attention") else x for x, n in evened]
    wanted = torch.stack([head.score(oracle(x)) for x in spread])
    mask = torch.ones(2, 50, dtype=torch.bool)
    mask[1, :10] = mask[1, 40:] = False
    for sizes in ([50], [5, 1, 44], [1] * 50):
        pool = None
        for part, valid in zip(hidden.split(sizes, 1), mask.split(sizes, 1), strict=True):
            logits, pool = head(part, pool, valid)
        assert error(logits, wanted) <= 1e-12
    padded, counts = torch.zeros(2, len(rows[0][0]), 6, dtype=torch.float64), torch.zeros(2, len(rows[0][0])).long()
    for i, (x, n) in enumerate(rows):
        padded[i, : len(x)], counts[i, : len(n)] = x, n
    assert error(head.of_spans(padded, counts), wanted) <= 1e-12


@pytest.mark.parametrize("pooling", ["mean", "max", "last", "attention"])
def test_nothing_read_is_finite(pooling):
    head = Classifier(6, 3, pooling)
    logits, _ = head(torch.randn(1, 4, 6), None, torch.zeros(1, 4, dtype=torch.bool))
    assert torch.isfinite(logits).all()
