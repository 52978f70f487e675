"""Segments that do not see one another, as a Transformer reads windows: settings of converted models and their laws."""

import pytest
import torch

from longseq.errors import ConfigError
from longseq.model import Encoder, ModelConfig
from longseq.model.state import named_tensors

SEGMENT = 8
CONVERTED = {
    "vocabulary": 9,
    "width": 16,
    "heads": 2,
    "layers": 2,
    "pattern": ("softmax",),
    "visibility": "segment",
    "segment": SEGMENT,
    "across": False,
    "norm": "layer",
    "post_norm": True,
    "embedding_norm": True,
    "final_norm": False,
    "positions": "learned",
    "bias": True,
    "feedforward": "gelu",
}


def encoder(**changes):
    return Encoder(ModelConfig(**CONVERTED | changes)).double().eval()


def ids(length, batch=1, seed=0):
    return torch.randint(9, (batch, length), generator=torch.Generator().manual_seed(seed))


each = pytest.mark.parametrize("positions", ["learned", "rotary", "none"])


@each
@torch.inference_mode()
def test_windows_are_read_by_themselves(positions):
    model, long = encoder(positions=positions), ids(29)
    whole, state = model(long)
    parts = torch.cat([model(part)[0] for part in long.split(SEGMENT, 1)], 1)
    assert (whole - parts).abs().max() < 1e-12
    assert all(tensor.numel() == 0 for name, tensor in named_tensors(state) if name.startswith("layers"))


@each
@torch.inference_mode()
def test_cuts_and_padding_change_nothing(positions):
    model, long = encoder(positions=positions), ids(29, 2)
    whole, _ = model(long)
    first, state = model(long[:, : 2 * SEGMENT])
    second, _ = model(long[:, 2 * SEGMENT :], state)
    assert (torch.cat([first, second], 1) - whole).abs().max() < 1e-12
    mask = torch.rand(2, 60, generator=torch.Generator().manual_seed(1)) < 0.5
    mask[:, -29:] = True
    for lane in range(2):
        kept = mask[lane].nonzero().flatten()[-29:]
        mask[lane] = False
        mask[lane, kept] = True
    spread = ids(60, 2, seed=2).masked_scatter(mask, long)
    found, after = model(spread, None, mask)
    assert (found[mask].view(2, 29, -1) - whole).abs().max() < 1e-12
    assert after.seen.tolist() == [29, 29] and (after.last - whole[:, -1]).abs().max() < 1e-12


@torch.inference_mode()
def test_linear_mixers_take_the_same_settings():
    model = encoder(pattern=("linear",), across=True, feature_map="elu+1")
    long = ids(29)
    whole, _ = model(long)
    first, state = model(long[:, :SEGMENT])
    assert (torch.cat([first, model(long[:, SEGMENT:], state)[0]], 1) - whole).abs().max() < 1e-12


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"pattern": ("linear",)}, r"model.across: expected true but with softmax mixers alone, found False"),
        ({"visibility": "causal"}, r"model.across: expected left away, or model.visibility 'segment', found False"),
        ({"visibility": "causal", "across": True}, r"model.positions: expected 'rotary', or .*found 'learned'"),
        ({"visibility": "both", "across": True, "frame": (1, 2)}, r"model.frame: expected left away, or .*\(1, 2\)"),
        ({"frame": (1,)}, r"model.frame: expected none, or two ids below 9, found \(1,\)"),
        ({"frame": (1, 9)}, r"model.frame: expected none, or two ids below 9, found \(1, 9\)"),
        ({"frame": (1, 2), "segment": 2}, r"model.segment: expected >= 3 tokens, found 2"),
        ({"norm_epsilon": 0.0}, r"model.norm_epsilon: expected > 0 and finite, found 0.0"),
        ({"feedforward": "swish"}, r"model.feedforward: expected one of swiglu, gelu, relu, found 'swish'"),
        ({"positions": "sine"}, r"model.positions: expected one of rotary, learned, none, found 'sine'"),
    ],
)
def test_settings_that_cannot_be(changes, line):
    with pytest.raises(ConfigError, match=line):
        ModelConfig(**CONVERTED | changes)


def test_bias_belongs_to_mixers_that_look_ahead():
    with pytest.raises(ConfigError, match=r"model.bias: expected false but with linear and softmax mixers, found True"):
        ModelConfig(pattern=("gated",), bias=True)
