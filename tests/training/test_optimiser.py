"""Which parameters decay, and how the learning rate goes."""

import math

import pytest
import torch
from torch import nn

from longseq.model import LanguageModel, ModelConfig
from longseq.training.config import OptimiserConfig
from longseq.training.optimiser import adamw, groups, rate, set_rate


@pytest.mark.parametrize("pattern", [("gated", "linear"), ("softmax", "gru")])
@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_matrices_decay_and_nothing_else(pattern, norm):
    model = LanguageModel(ModelConfig(width=16, layers=2, heads=2, pattern=pattern, norm=norm))
    decayed, others = (dict(group) for group in groups(model))
    everything = dict(model.named_parameters())
    assert decayed.keys() | others.keys() == everything.keys() and not decayed.keys() & others.keys()
    embeddings = {f"{path}.weight" for path, m in model.named_modules() if isinstance(m, nn.Embedding)}
    linear = {f"{path}.weight" for path, m in model.named_modules() if isinstance(m, nn.Linear)}
    assert embeddings and embeddings <= others.keys()
    assert linear and linear <= decayed.keys()
    for name, parameter in decayed.items():
        assert parameter.ndim >= 2 and "norm" not in name and "bias" not in name and "convolution" not in name


def test_shared_and_frozen_parameters():
    model = nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    model[2].requires_grad_(False)
    decayed, others = groups(model)
    assert [name for name, _ in decayed] == [] and [name for name, _ in others] == ["0.weight", "1.bias"]


def test_adamw_follows_its_definition():
    """Loshchilov and Hutter 2019, algorithm 2, in a few lines, over three steps."""
    config = OptimiserConfig(rate=0.1, weight_decay=0.5, beta1=0.8, beta2=0.9, epsilon=1e-3)
    torch.manual_seed(0)
    layer = nn.Linear(3, 2).double()
    optimiser = adamw(layer, config)
    wanted = {name: p.detach().clone() for name, p in layer.named_parameters()}
    mean = {name: torch.zeros_like(p) for name, p in wanted.items()}
    square = {name: torch.zeros_like(p) for name, p in wanted.items()}
    for t in range(1, 4):
        for name, p in layer.named_parameters():
            p.grad = torch.randn_like(p)
            decay = 0.5 if name == "weight" else 0.0
            mean[name] = 0.8 * mean[name] + 0.2 * p.grad
            square[name] = 0.9 * square[name] + 0.1 * p.grad**2
            step = mean[name] / (1 - 0.8**t) / ((square[name] / (1 - 0.9**t)).sqrt() + 1e-3)
            wanted[name] = wanted[name] * (1 - 0.1 * decay) - 0.1 * step
        optimiser.step()
    for name, p in layer.named_parameters():
        torch.testing.assert_close(p.detach(), wanted[name])


def test_some_parameters_are_changed_faster():
    """Those of either kind; one whose gradient is 1 moves by its rate in the first step. So does a resumed one."""
    config = OptimiserConfig(rate=1.0, weight_decay=0.0, epsilon=1e-12)
    steps = []
    for saved in (None, {}):
        layer = nn.Linear(2, 2, bias=True).double()
        factors = {layer.bias: 4.0}
        optimiser = adamw(layer, config, factors)
        if saved is not None:
            optimiser.load_state_dict(adamw(layer, config, factors).state_dict())
        before = {name: p.detach().clone() for name, p in layer.named_parameters()}
        for p in layer.parameters():
            p.grad = torch.ones_like(p)
        set_rate(optimiser, 0.1)
        optimiser.step()
        steps.append({name: (before[name] - p.detach()).unique().tolist() for name, p in layer.named_parameters()})
    assert steps[0]["weight"] == pytest.approx([0.1] * len(steps[0]["weight"]))
    assert steps[0]["bias"] == pytest.approx([0.4] * len(steps[0]["bias"]))
    assert max(steps[1]["bias"]) == pytest.approx(0.4) and max(steps[1]["weight"]) == pytest.approx(0.1)


def test_rate_warms_up_and_follows_a_cosine():
    config = OptimiserConfig(rate=2.0, floor=0.1, warmup=0.2)
    assert [rate(config, x) for x in (0, 0.05, 0.1, 0.2)] == pytest.approx([0, 0.5, 1.0, 2.0])
    assert rate(config, 0.6) == pytest.approx(2.0 * (0.1 + 0.9 / 2))
    assert rate(config, 0.4) == pytest.approx(2.0 * (0.1 + 0.9 * (1 + math.cos(math.pi / 4)) / 2))
    assert rate(config, 1.0) == rate(config, 1.7) == pytest.approx(0.2)
    assert rate(OptimiserConfig(rate=2.0, warmup=0.0), 0.0) == 2.0
