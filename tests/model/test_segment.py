"""Visibility by segment: both ways inside, causal across; the laws of the encoder with cuts at segments."""

import pytest
import torch

from longseq.errors import ConfigError, UsageError
from longseq.model import Encoder, LanguageModel, ModelConfig
from longseq.model.mixers import MIXERS
from longseq.model.state import map_tensors
from longseq.ops.memory import Memory

SEGMENT = 16
KINDS = [("linear", f) for f in ("elu+1", "exp", "taylor2")] + [("softmax", "silu")]
every_kind = pytest.mark.parametrize(("mixer", "feature_map"), KINDS)


def encoder(mixer, feature_map="silu", **options):
    config = {"width": 16, "heads": 2, "layers": 2, "pattern": (mixer,), "feature_map": feature_map}
    return Encoder(ModelConfig(**config | {"visibility": "segment", "segment": SEGMENT} | options)).double().eval()


def tokens(length, seed=0):
    return torch.randint(4, (1, length), generator=torch.Generator().manual_seed(seed))


def error(found, wanted):
    return float((found - wanted).double().norm() / wanted.double().norm())


def cut(model, ids, sizes, mask=None):
    state, outputs, start = None, [], 0
    for size in sizes:
        here = slice(start, start + size)
        y, state = model(ids[:, here], state, None if mask is None else mask[:, here])
        outputs.append(y)
        start += size
    return torch.cat(outputs, 1), state


@pytest.mark.parametrize("mixer", ["linear", "softmax"])
@torch.inference_mode()
def test_definition(mixer):
    """One mixer against the formula over all pairs."""
    layer = encoder(mixer, "elu+1").layers[0].mixer
    x = torch.randn(2, 70, 16, dtype=torch.float64)
    q, k, v = (part.unflatten(-1, (2, 8)).transpose(1, 2) for part in (x @ layer.project.weight.T).chunk(3, -1))
    place = torch.arange(70)
    if mixer == "linear":
        weights = torch.nn.functional.elu(q).add(1) @ torch.nn.functional.elu(k).add(1).mT
    else:
        turn = torch.exp(
            1j * place.double()[:, None] * torch.tensor([10000.0 ** (-i / 4) for i in range(4)], dtype=torch.float64)
        )
        q, k = (torch.complex(z[..., :4], z[..., 4:]) * turn for z in (q, k))
        weights = ((q @ k.mH).real / 8**0.5).exp()
    weights = weights.masked_fill(place[:, None] // SEGMENT < place // SEGMENT, 0.0)
    below = weights.sum(-1, keepdim=True) + (1e-6 if mixer == "linear" else 0.0)
    wanted = ((weights @ v) / below).transpose(1, 2).flatten(2) @ layer.output.weight.T
    assert error(layer(x)[0], wanted) <= 1e-12


@every_kind
@torch.inference_mode()
def test_split_at_segments(mixer, feature_map):
    model, ids = encoder(mixer, feature_map), tokens(150)
    whole, end = model(ids)
    for sizes in ([16] * 9 + [6], [48, 64, 38], [144, 6]):
        found, state = cut(model, ids, sizes)
        assert error(found, whole) <= 1e-12
        assert error(state.last, end.last) <= 1e-12 and state.seen.tolist() == [150]


@every_kind
@torch.inference_mode()
def test_nothing_follows_a_short_chunk(mixer, feature_map):
    model, ids = encoder(mixer, feature_map), tokens(40)
    _, state = model(ids)
    with pytest.raises(UsageError, match=r"lane 0: .*segments of 16 tokens.*found more tokens after 40; cut .*segment"):
        model(ids[:, :1], state)
    model(ids[:, :0], state)
    # Lanes end alone: one that is done may stay, masked, beside one that goes on.
    mask = torch.ones(2, 32, dtype=torch.bool)
    mask[0, 20:] = False
    _, state = model(tokens(64)[:, :32].expand(2, -1), None, mask)
    going = torch.tensor([[False] * 16, [True] * 16])
    _, after = model(ids[:, :16].expand(2, -1), state, going)
    assert after.seen.tolist() == [20, 48]
    with pytest.raises(UsageError, match="lane 0"):
        model(ids[:, :16].expand(2, -1), state, ~going)


@every_kind
@torch.inference_mode()
def test_causality_before_the_segment(mixer, feature_map):
    model, ids = encoder(mixer, feature_map), tokens(100)
    changed = ids.clone()
    changed[0, 40] = (changed[0, 40] + 1) % 4
    a, b = model(ids)[0], model(changed)[0]
    assert error(b[:, :32], a[:, :32]) <= 1e-12
    assert ((a[:, 32:] - b[:, 32:]).abs().amax(-1) > 1e-9).all()  # ahead and behind


@every_kind
@torch.inference_mode()
def test_padding_and_lanes(mixer, feature_map):
    model, lengths = encoder(mixer, feature_map), (90, 37, 0, 64)
    lanes = [tokens(n, seed=i) for i, n in enumerate(lengths)]
    mask = torch.zeros(4, 100, dtype=torch.bool)
    mask[0, :90] = True
    mask[1, 63:] = True
    mask[3, torch.randperm(100, generator=torch.Generator().manual_seed(0))[:64]] = True
    ids = torch.full((4, 100), 7)
    for i, lane in enumerate(lanes):
        ids[i, mask[i]] = lane[0]
    hidden, state = model(ids, None, mask)
    assert torch.isfinite(hidden).all() and state.seen.tolist() == list(lengths)
    for i, lane in enumerate(lanes):
        if lane.numel():
            alone, end = model(lane)
            assert error(hidden[i, mask[i]], alone[0]) <= 1e-12
            assert error(map_tensors(state, lambda x, i=i: x[i : i + 1]).last, end.last) <= 1e-12
    # The last two lanes stand at the end of a segment and go on.
    more = tokens(30, seed=9)
    going = torch.tensor([[False], [False], [True], [True]]).expand(-1, 30)
    again, _ = model(more.expand(4, -1), state, going)
    assert error(again[2], model(more)[0][0]) <= 1e-12
    assert error(again[3], model(torch.cat([lanes[3], more], 1))[0][0, 64:]) <= 1e-12


@every_kind
def test_gradients_through_the_state(mixer, feature_map):
    model, ids = encoder(mixer, feature_map), tokens(140)
    weights = torch.randn(140, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def gradients(sizes):
        model.zero_grad()
        (cut(model, ids, sizes)[0][0] * weights).sum().backward()
        return torch.cat([p.grad.flatten() for p in model.parameters()])

    assert error(gradients([64, 76]), gradients([140])) <= 1e-10


@every_kind
def test_gradcheck(mixer, feature_map):
    layer = encoder(mixer, feature_map, width=4, heads=1, layers=1, segment=3).layers[0]
    x = torch.randn(1, 8, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)

    def run(x):
        first, state = layer(x[:, :3])
        return first, layer(x[:, 3:], state)[0]

    assert torch.autograd.gradcheck(run, (x,))


class Neighbours:
    """An exchange for tests: the slices of a record in one process, one after the other."""

    def __init__(self):
        self.slices, self.calls = {}, 0

    def memory(self, mine, log_decay, start):
        assert log_decay is None
        self.calls += 1
        before = self.slices.get(self.calls, start)
        value = before.value() + mine.value()
        self.slices[self.calls] = Memory.split(value, torch.zeros_like(mine.exponent), mine.hi.dtype)
        return before

    def tail(self, mine, start):
        return start

    def seen(self, start):
        return start


@pytest.mark.parametrize("feature_map", ["elu+1", "exp", "taylor2"])
@torch.inference_mode()
def test_exchange_joins_slices_of_whole_segments(feature_map):
    model, ids, neighbours, parts = encoder("linear", feature_map), tokens(150), Neighbours(), []
    _, state = model(tokens(32, seed=3))
    for piece in ids.split([64, 48, 38], 1):
        neighbours.calls = 0
        parts.append(model(piece, state, exchange=neighbours)[0])
    assert error(torch.cat(parts, 1), model(ids, state)[0]) <= 1e-12


def test_other_mixers_are_refused():
    for name in MIXERS:
        if name not in ("linear", "softmax"):
            with pytest.raises(ConfigError, match=f"model.visibility: expected 'causal' or 'both' with {name} mixers"):
                ModelConfig(pattern=("linear", name), visibility="segment")
    with pytest.raises(ConfigError, match=r"model\.segment"):
        ModelConfig(pattern=("linear",), visibility="segment", segment=0)


@pytest.mark.parametrize("visibility", ["segment", "both"])
def test_a_language_model_is_causal(visibility):
    with pytest.raises(ConfigError, match=r"model\.visibility: .*'causal' in a language model.*see the token"):
        LanguageModel(ModelConfig(pattern=("linear",), visibility=visibility))
