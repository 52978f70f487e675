"""The table of an attention head, times its values, is what the head has read; and it is what the formula says."""

import math

import pytest
import torch
from torch.nn import functional as F

from longseq.model import Encoder, ModelConfig
from longseq.model.attention import log_decays, looked_at
from longseq.model.headed import VectorModel
from longseq.model.teachers import linear_form

SMALL = {"vocabulary": 9, "width": 16, "heads": 2, "layers": 2, "block": 8}
CASES = {
    "linear": {"pattern": ("linear",)},
    "linear in segments": {"pattern": ("linear",), "visibility": "segment", "segment": 64},
    "beside softmax windows": {
        "pattern": ("linear",),
        "visibility": "segment",
        "segment": 64,
        "softmax_window": 8,
        "memory_gate": True,
        "positions": "learned",
        "frame": (1, 2),
    },
    "gated": {"pattern": ("gated",)},
    "gated by head": {"pattern": ("gated",), "decay": "head"},
    "retention": {"pattern": ("retention",)},
    "mlstm": {"pattern": ("mlstm",)},
    "delta": {"pattern": ("delta",)},
    "gated delta": {"pattern": ("gated_delta",)},
    "softmax": {"pattern": ("softmax",)},
    "softmax in segments": {
        "pattern": ("softmax",),
        "visibility": "segment",
        "segment": 64,
        "across": False,
        "positions": "learned",
        "convolution": 0,
    },
}


def looked(**settings):
    encoder = Encoder(ModelConfig(**SMALL, **settings)).double()
    ids = torch.randint(9, (37,), generator=torch.Generator().manual_seed(1))
    return encoder, ids, looked_at(encoder, ids)


@pytest.mark.parametrize("case", CASES)
def test_the_table_times_the_values_is_the_reading(case):
    encoder, ids, found = looked(**CASES[case])
    assert len(found) == 2
    both = CASES[case].get("visibility") == "segment"
    for heads in found:
        assert heads.weights.shape == (2, 37, 37) and heads.weights.dtype == torch.float64
        torch.testing.assert_close(heads.weights @ heads.values, heads.readings, rtol=1e-10, atol=1e-12)
        assert both or not heads.weights.triu(1).any()
        if case not in ("retention", "mlstm", "delta", "gated delta"):
            assert (heads.weights >= 0).all()
            sums = heads.weights.sum(-1)
            torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-4)
    # nothing hangs on the encoder any more, and what it reads is what was looked at
    read = []
    with encoder.layers[1].mixer.leaving.register_forward_hook(lambda _m, _a, y: read.append(y[0])):
        encoder(ids[None])
    torch.testing.assert_close(read[0], found[1].readings)


def test_weights_of_gated_attention_are_keys_met_times_decays_between():
    encoder, ids, found = looked(pattern=("gated",), convolution=0)
    mixer = encoder.layers[0].mixer
    with torch.no_grad():
        x = encoder.layers[0].mixer_norm(encoder.embedding(ids[None]))
        q, k, _ = (part.unflatten(-1, (2, 8)).transpose(1, 2)[0] for part in mixer.project(x).chunk(3, -1))
        # the map `silu`: SiLU, shifted above 0, at unit length
        q, k, _ = mixer.map.pair(torch.stack([q, k])[:, None])
        g = -torch.sigmoid(F.linear(x, mixer.decay.weight, mixer.decay.bias))[0].unflatten(-1, (2, 8)).transpose(0, 1)
    for head in range(2):
        for t in (0, 5, 36):
            raw = [
                sum(
                    float(q[0, head, t, c] * k[0, head, s, c]) * math.exp(float(g[head, s + 1 : t + 1, c].sum()))
                    for c in range(8)
                )
                for s in range(t + 1)
            ]
            wanted = torch.tensor(raw, dtype=torch.float64) / sum(raw)
            torch.testing.assert_close(found[0].weights[head, t, : t + 1], wanted, rtol=1e-5, atol=1e-9)
    torch.testing.assert_close(log_decays(encoder, ids)[0], g)


def test_softmax_of_the_same_queries_and_keys():
    encoder, ids, found = looked(pattern=("linear",), feature_map="elu+1")
    with torch.no_grad():
        x = encoder.layers[0].mixer_norm(encoder.embedding(ids))
        q, k, _ = (part.unflatten(-1, (2, 8)) for part in encoder.layers[0].mixer.project(x).chunk(3, -1))
    for head in range(2):
        scores = [math.exp(float(q[20, head] @ k[s, head]) / math.sqrt(8)) for s in range(21)]
        wanted = torch.tensor(scores, dtype=torch.float64) / sum(scores)
        torch.testing.assert_close(found[0].same[head, 20, :21], wanted)
    assert not found[0].same.triu(1).any() and log_decays(encoder, ids) == [None, None]


def test_a_converted_head_has_the_weights_of_its_teacher_inside_a_window():
    settings = CASES["softmax in segments"]
    teacher = VectorModel(ModelConfig(**SMALL, **settings)).double()
    student = linear_form(teacher, feature_map="hedgehog", softmax_window=8).double()
    ids = torch.randint(9, (20,), generator=torch.Generator().manual_seed(2))
    theirs, ours = (looked_at(model.encoder, ids)[0] for model in (teacher, student))
    for start in (0, 8):
        here = slice(start, start + 8)
        inside = theirs.weights[:, here, here] / theirs.weights[:, here, here].sum(-1, keepdim=True)
        kept = ours.weights[:, here, here] / ours.weights[:, here, here].sum(-1, keepdim=True)
        torch.testing.assert_close(kept, inside)
    assert not torch.allclose(ours.weights, theirs.weights)


def test_what_has_no_table():
    assert looked(pattern=("gru", "gated"))[2][0] is None
