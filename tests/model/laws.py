"""What the tests of the laws share: every mixer and map, and how outputs and states are compared."""

import pytest
import torch

from longseq.model import Encoder, ModelConfig
from longseq.ops.feature_maps import FEATURE_MAPS
from longseq.ops.memory import Memory

KINDS = [("linear", f) for f in FEATURE_MAPS]
KINDS += [("gated", f) for f in ("elu+1", "relu", "relu2", "exp", "silu")]
NO_EXCHANGE = ("softmax", "window", "gru", "lstm", "rnn")
KINDS += [(m, "silu") for m in ("retention", "mlstm", "delta", "gated_delta", *NO_EXCHANGE)]
LIMIT = {torch.float32: 1e-5, torch.float64: 1e-12}
every_kind = pytest.mark.parametrize(("mixer", "feature_map"), KINDS)


def encoder(mixer, feature_map="silu", dtype=torch.float64, **options):
    config = {
        "width": 16,
        "heads": 2,
        "layers": 2,
        "pattern": (mixer,),
        "feature_map": feature_map,
        "capacity": 200_000,
        "attention_window": 24,
        "period": 3,
    }
    return Encoder(ModelConfig(**config | options)).to(dtype).eval()


def error(found, wanted):
    return float((found - wanted).detach().double().norm() / wanted.double().norm())


def numbers(state):
    """A state as comparable numbers: memories by value, since their representation is free."""
    if isinstance(state, Memory):
        return [state.value()]
    if isinstance(state, torch.Tensor):
        return [state.double()]
    return [x for part in state for x in numbers(part)]


def state_error(found, wanted):
    pairs = list(zip(numbers(found), numbers(wanted), strict=True))
    assert all(a.shape == b.shape for a, b in pairs)
    return max(error(a, b) for a, b in pairs if b.numel() and b.norm() > 0)


def cut(model, ids, sizes, mask=None):
    """Outputs and state of `ids` read in pieces of `sizes`, the last repeated."""
    outputs, state, start, sizes = [], None, 0, list(sizes)
    while start < ids.shape[1]:
        stop = start + (sizes.pop(0) if len(sizes) > 1 else sizes[0])
        y, state = model(ids[:, start:stop], state, None if mask is None else mask[:, start:stop])
        outputs.append(y)
        start = stop
    return torch.cat(outputs, 1), state
