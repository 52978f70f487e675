"""Linear mixers with softmax windows and a gate to the memory: what converted Transformers are made of."""

import pytest
import torch
from laws import cut, error, state_error

from longseq.errors import ConfigError
from longseq.model import Encoder, ModelConfig, next_segment
from longseq.model.state import map_tensors
from longseq.tasks.check.run import check
from longseq.tasks.check.subject import Subject, opened

SEGMENT = 8
CONVERTED = {
    "vocabulary": 9,
    "width": 16,
    "heads": 2,
    "layers": 2,
    "pattern": ("linear",),
    "visibility": "segment",
    "segment": SEGMENT,
    "softmax_window": 3,
    "memory_gate": True,
    "feature_map": "hedgehog",
    "frame": (1, 2),
    "norm": "layer",
    "post_norm": True,
    "embedding_norm": True,
    "final_norm": False,
    "positions": "learned",
    "bias": True,
    "feedforward": "gelu",
}


def encoder(open_gate=True, **changes):
    model = Encoder(ModelConfig(**CONVERTED | changes)).double().eval()
    torch.manual_seed(1)
    for layer in model.layers:
        for weight in (layer.mixer.gain, layer.mixer.gate if open_gate else None):
            if weight is not None:
                torch.nn.init.normal_(weight)
    return model


def ids(length, batch=1, seed=0):
    return torch.randint(9, (batch, length), generator=torch.Generator().manual_seed(seed))


KINDS = [
    {},
    {"feature_map": "taylor2"},
    {"feature_map": "exp", "memory_gate": False},
    {"feature_map": "mlp"},
    {"softmax_window": 0},
    {"softmax_window": 0, "feature_map": "elu+1", "frame": ()},
    {"softmax_window": SEGMENT, "feature_map": "relu"},
    {"memory_gate": False, "frame": ()},
    {"softmax_window": 0, "memory_gate": False},
    {"softmax_window": 0, "memory_gate": False, "feature_map": "exp"},
]
each = pytest.mark.parametrize("changes", KINDS, ids=str)


@each
def test_cuts_at_segments_change_nothing(changes):
    """Outputs, state and gradients."""
    model, long = encoder(**changes), ids(77, 2)
    slopes = []
    for sizes in ([77], [SEGMENT], [2 * SEGMENT, 5 * SEGMENT]):
        model.zero_grad()
        found, state = cut(model, long, sizes)
        state = map_tensors(state, torch.Tensor.detach)
        found.sin().sum().backward()
        slopes.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
        if sizes == [77]:
            wanted, end = found.detach(), state
        assert error(found, wanted) <= 1e-12 and state_error(state, end) <= 1e-12
        assert error(slopes[-1], slopes[0]) <= 1e-10


@each
@torch.inference_mode()
def test_padding_anywhere_and_lanes_change_nothing(changes):
    model, lengths = encoder(**changes), (33, 8, 1, 0, 20)
    mask = torch.zeros(len(lengths), 40, dtype=torch.bool)
    for lane, length in enumerate(lengths):
        mask[lane, torch.randperm(40, generator=torch.Generator().manual_seed(lane))[:length]] = True
    long = ids(40, len(lengths))
    hidden, state = model(long, None, mask)
    assert torch.isfinite(hidden).all() and state.seen.tolist() == list(lengths)
    for lane, length in enumerate(lengths):
        if length:
            alone, end = model(long[lane, mask[lane]][None])
            assert error(hidden[lane, mask[lane]], alone[0]) <= 1e-12
            assert state_error(map_tensors(state, lambda x, i=lane: x[i : i + 1]), end) <= 1e-12


@pytest.mark.parametrize("window", [0, 3])
@pytest.mark.parametrize("gate", [False, True])
def test_special_tokens_enter_no_memory(window, gate):
    """A text between other special tokens leaves the same memory, and none leave none."""
    layer = encoder(layers=1, softmax_window=window, memory_gate=gate).layers[0].mixer
    x = torch.randn(1, 19, 16, dtype=torch.float64)
    changed = x.clone()
    for place in (0, 7, 8, 15, 16, 18):
        changed[:, place] = torch.randn(16, dtype=torch.float64)
    (y, one), (z, other) = layer(x), layer(changed)
    assert state_error(other, one) <= 1e-15
    assert ((y - z).abs().amax(-1) > 1e-9).all()  # inside the segment they are seen
    changed[:, 17] += 1
    assert state_error(layer(changed)[1], one) > 1e-3
    assert not layer(x[:, :2])[1].memory.value().any()


@torch.inference_mode()
def test_a_closed_gate_reads_segments_by_themselves():
    model, long = encoder(open_gate=False), ids(77)
    parts = torch.cat([model(part)[0] for part in long.split(SEGMENT, 1)], 1)
    assert error(model(long)[0], parts) <= 1e-12
    assert error(encoder()(long)[0], parts) > 1e-3


@torch.inference_mode()
def test_a_window_of_the_whole_segment_is_the_softmax_transformer():
    model = encoder(open_gate=False, softmax_window=SEGMENT)
    teacher = Encoder(
        ModelConfig(**CONVERTED | {"pattern": ("softmax",), "across": False, "softmax_window": 0, "memory_gate": False})
    )
    teacher.double().load_state_dict({n: x for n, x in model.state_dict().items() if n in teacher.state_dict()})
    assert error(model(ids(77))[0], teacher(ids(77))[0]) <= 1e-12


@torch.inference_mode()
def test_a_new_turn_begins_a_segment():
    """Behind a short one; the memory goes on, and positions begin anew."""
    model, turns = encoder(), [ids(n, 2, seed=n) for n in (5, 8, 19)]
    state, found = None, []
    for turn in turns:
        y, state = model(turn, state and next_segment(state, SEGMENT))
        found.append(y)
    assert state.seen.tolist() == [8 + 8 + 19] * 2
    assert next_segment(state, SEGMENT).seen.tolist() == [40, 40]
    assert next_segment(next_segment(state, SEGMENT), SEGMENT).seen.tolist() == [40, 40]
    assert error(found[0], model(turns[0])[0]) <= 1e-12
    assert error(found[1], model(turns[1])[0]) > 1e-3  # it reads the first turn
    closed = encoder(open_gate=False)
    _, before = closed(turns[0])
    assert error(closed(turns[1], next_segment(before, SEGMENT))[0], closed(turns[1])[0]) <= 1e-12


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({"softmax_window": 0, "feature_map": "exp"}, marks=pytest.mark.slow),
        pytest.param({"memory_gate": False}, marks=pytest.mark.slow),
        {"softmax_window": 0, "memory_gate": False},
    ],
    ids=str,
)
def test_check_passes(changes):
    """Every law, over hundreds of segments, with gates as they begin and open."""
    fresh = Subject(name="converted", model=encoder(open_gate=False, **changes).float())
    subjects = [fresh, *opened(fresh)]
    assert len(subjects) == 1 + fresh.config.memory_gate
    assert not opened(subjects[-1])
    found = check(subjects, 1500)
    assert {law.law for law in found.laws} >= {"split", "rescaling", "padding", "gradient", "drift", "definition"}
    assert not found.broken, found.broken


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"softmax_window": -1}, r"model.softmax_window: expected 0 to model.segment \(8\) tokens, found -1"),
        ({"softmax_window": 9}, r"model.softmax_window: expected 0 to model.segment \(8\) tokens, found 9"),
        (
            {"pattern": ("linear", "softmax")},
            r"model.softmax_window: expected 0 but with model.visibility 'segment' and linear mixers alone, found 3",
        ),
        (
            {"pattern": ("softmax",), "softmax_window": 0},
            r"model.memory_gate: expected False but with model.visibility 'segment' and linear mixers alone, .*True",
        ),
    ],
)
def test_settings_that_cannot_be(changes, line):
    with pytest.raises(ConfigError, match=line):
        ModelConfig(**CONVERTED | changes)


@pytest.mark.parametrize("setting", [{"softmax_window": 3}, {"memory_gate": True}])
def test_windows_and_gates_belong_to_segments(setting):
    with pytest.raises(ConfigError, match=rf"model.{next(iter(setting))}: expected .*'segment' and linear mixers"):
        ModelConfig(pattern=("linear",), **setting)
