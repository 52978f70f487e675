"""What a comparison is made of: gradients by distance, models of like size, sums, and what a length costs."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from longseq.config import load
from longseq.errors import ConfigError
from longseq.model import LanguageModel, ModelConfig
from longseq.tasks.compare.addition import sums
from longseq.tasks.compare.config import QUICK, CompareConfig, ReachConfig
from longseq.tasks.compare.cost import Costs
from longseq.tasks.compare.reach import gradient_norms
from longseq.tasks.compare.shapes import shape


class LinearNet(nn.Module):
    """h_t = a h_{t-1} + e_t; token t is told from h_{t-1}."""

    def __init__(self, factor, width=6, letters=4):
        super().__init__()
        self.encoder = nn.Module()
        self.encoder.embedding = nn.Embedding(letters, width)
        self.read = nn.Linear(width, letters, bias=False)
        self.factor = factor

    def forward(self, ids):
        h, told = torch.zeros_like(self.encoder.embedding.weight[0]).expand(len(ids), -1), []
        for e in self.encoder.embedding(ids).unbind(1):
            told.append(self.read(h))
            h = self.factor * h + e
        return torch.stack(told, 1), None


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.1])
def test_the_gradient_of_a_linear_net_goes_by_its_factor(factor):
    distances = (1, 2, 5, 30)
    norms = gradient_norms(LinearNet(factor), range(4), distances, examples=3, seed=0)
    assert [n / norms[0] for n in norms] == pytest.approx([factor ** (d - 1) for d in distances], rel=1e-9)


@pytest.mark.parametrize("mixer", ["rnn", "softmax", "gated"])
def test_the_norm_is_that_of_the_derivative(mixer):
    model = LanguageModel(ModelConfig(pattern=(mixer,), width=8, heads=2, layers=1)).double()
    (found,) = gradient_norms(model, range(4), (9,), examples=1, seed=3)
    ids = torch.randint(4, (1, 10), generator=torch.Generator().manual_seed(3))

    def loss(change):
        def moved(_, __, output):
            return output + F.pad(change[None, None], (0, 0, 0, 9))  # of the first token, 9 before the last

        handle = model.encoder.embedding.register_forward_hook(moved)
        value = F.cross_entropy(model(ids)[0][:, -1], ids[:, -1])
        handle.remove()
        return value.item()

    small = 1e-5 * torch.eye(8, dtype=torch.float64)
    slopes = [(loss(step) - loss(-step)) / 2e-5 for step in small]
    assert found == pytest.approx(math.sqrt(sum(s * s for s in slopes)), rel=1e-5)


def test_distances_lie_evenly_on_a_logarithmic_scale():
    assert ReachConfig(farthest=20).distances == (1, 2, 3, 4, 6, 8, 12, 16, 20)


def test_models_are_of_like_size():
    config = CompareConfig()
    sizes = [sum(p.numel() for p in LanguageModel(shape(name, config)).parameters()) for name in config.models]
    assert max(sizes) / min(sizes) < 1.015
    one = shape("linear", config)
    assert (one.width, one.layers, one.heads, one.pattern) == (64, 2, 4, ("linear",))


@pytest.mark.parametrize(("digits", "pairs", "rows"), [(1, 1000, 100), (2, 300, 300), (2, 9_999, 9_999)])
def test_sums_are_right_from_the_units_on(digits, pairs, rows):
    head, *lines = sums(digits, pairs, seed=1).splitlines()
    assert head == "source\ttarget" and len(lines) == len(set(lines)) == rows
    for line in lines:
        source, target = line.split("\t")
        assert len(source) == 2 * digits + 1 and len(target) == digits + 1
        assert sum(map(int, source.split("+"))) == int(target[::-1])
    assert sums(digits, pairs, seed=1).splitlines()[1:] == lines


@pytest.mark.parametrize(("mixer", "token"), [("rnn", 0), ("softmax", 2 * (2 * 8 * 4 + 1))])
def test_the_state_is_counted_to_the_byte(mixer, token):
    costs = Costs(ModelConfig(pattern=(mixer,), width=8, heads=2, layers=2))
    small, large = costs.row(6), costs.row(16)
    assert large.state_bytes - small.state_bytes == 10 * token
    if mixer == "rnn":  # a vector a layer, the last one, and how many tokens were seen
        assert small.state_bytes == 3 * 8 * 4 + 8
    assert large.step_bytes > 2 * small.step_bytes and small.token_ms > 0 and small.step_tokens_per_s > 0


def test_what_a_step_keeps_is_counted_once():
    costs = Costs(ModelConfig(pattern=("softmax",), width=8, heads=2, layers=1))
    x = torch.randn(5, 5, requires_grad=True)

    class Twice(nn.Module):
        def loss(self, ids):
            y = x.exp()  # kept as its own derivative, and for both factors of the product
            return (y * y).sum(), torch.ones(()), None

    costs._model = Twice()
    assert costs._kept(torch.zeros(1, 2)) == 5 * 5 * 4


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('models=["rnn","gpt"]', "models"),
        ('models=["rnn","rnn"]', "only once"),
        ('tasks=["chess"]', "addition, bases"),
        ("minutes=0", "minutes"),
        ("addition.digits=0", "addition.digits"),
        ("bases.scored=3", "bases.scored"),
        ("reach.farthest=1", "reach.farthest"),
        ("width=30", "a multiple of heads"),
    ],
)
def test_settings_that_make_no_sense(setting, words):
    with pytest.raises(ConfigError, match=words):
        load(CompareConfig, None, [setting])


def test_quick_is_settings_like_any_other():
    config = load(CompareConfig, None, [f"{key}={value}" for key, value in QUICK.items()])
    assert config.addition.steps and config.bases.steps and len(config.models) == 6
