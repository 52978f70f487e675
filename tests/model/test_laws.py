"""The laws of the encoder, for every mixer and feature map: one answer, however time is cut."""

import pytest
import torch
from laws import KINDS, LIMIT, NO_EXCHANGE, cut, encoder, error, every_kind, numbers, state_error

from longseq.errors import ConfigError, StateError, UsageError
from longseq.model import ModelConfig
from longseq.model.state import map_tensors, named_tensors
from longseq.ops.memory import Memory


def assert_split(model, ids, limit, steps=600):
    with torch.inference_mode():
        whole, end = model(ids)
        for size in (7, 64, 1000, 4096):
            found, state = cut(model, ids, [size])
            assert error(found, whole) <= limit, size
            assert state_error(state, end) <= limit, size
        short = ids[:, :steps]
        whole, end = model(short)
        found, state = cut(model, short, [1])
        assert error(found, whole) <= limit
        assert state_error(state, end) <= limit


@every_kind
@pytest.mark.parametrize("dtype", [pytest.param(torch.float32, marks=pytest.mark.slow), torch.float64], ids=str)
def test_split(mixer, feature_map, dtype, bases):
    # One layer of each kind; layers over layers are in test_split_of_patterns.
    assert_split(encoder(mixer, feature_map, dtype, layers=1), bases[:, :4200], LIMIT[dtype])


@pytest.mark.slow
@pytest.mark.parametrize(("mixer", "feature_map"), [kind for kind in KINDS if kind[0] != "softmax"])  # quadratic
@pytest.mark.parametrize("dtype", LIMIT, ids=["float32", "float64"])
def test_split_long(mixer, feature_map, dtype, bases):
    assert_split(encoder(mixer, feature_map, dtype), bases[:, :100_000], LIMIT[dtype])


@pytest.mark.parametrize("pattern", [("gated", "softmax"), ("linear", "gru", "gated")])
def test_split_of_patterns(pattern, bases):
    model = encoder("gated", pattern=pattern, layers=3)
    assert [type(layer.mixer).__name__.lower() for layer in model.layers] == list((pattern * 2)[:3])
    assert_split(model, bases[:, :1100], LIMIT[torch.float64], steps=200)


@every_kind
def test_rescaling_and_block_change_nothing(mixer, feature_map, bases):
    ids = bases[:, :700]
    readings = {}
    # Blocks so small that a call is of several spans, between which a memory is rescaled.
    settings = {"never": {"rescale": 0, "block": 4}, "every": {"rescale": 1, "block": 4}, "wide": {"block": 100}}
    for name, options in settings.items():
        model = encoder(mixer, feature_map, torch.float32, **options)
        with torch.inference_mode():
            readings[name] = cut(model, ids, [300, 1, 399])
    assert torch.equal(readings["never"][0], readings["every"][0])
    for a, b in zip(numbers(readings["never"][1]), numbers(readings["every"][1]), strict=True):
        assert torch.equal(a, b)
    assert error(readings["wide"][0], readings["never"][0]) <= 1e-5


@every_kind
def test_causality(mixer, feature_map, bases):
    model, ids = encoder(mixer, feature_map), bases[:, :150]
    changed = ids.clone()
    changed[0, 80] = (changed[0, 80] + 1) % 4
    with torch.inference_mode():
        a, b = model(ids)[0], model(changed)[0]
    # A key in the same block may move a common scale: equal to rounding, not to the bit.
    assert error(b[:, :80], a[:, :80]) <= 1e-12
    assert (a[:, 80] - b[:, 80]).abs().max() > 1e-6


@every_kind
def test_padding_and_lanes(mixer, feature_map, bases):
    """Padding on any side or in between, an empty lane and lane-mates change nothing."""
    model = encoder(mixer, feature_map)
    lengths = (90, 37, 0, 64)
    lanes = [bases[:, 500 * i : 500 * i + n] for i, n in enumerate(lengths)]
    mask = torch.zeros(4, 100, dtype=torch.bool)
    mask[0, :90] = True  # right padding
    mask[1, 63:] = True  # left padding
    mask[3, torch.randperm(100, generator=torch.Generator().manual_seed(0))[:64]] = True  # holes
    ids = torch.full((4, 100), 7)
    for i, lane in enumerate(lanes):
        ids[i, mask[i]] = lane[0]
    with torch.inference_mode():
        for sizes in ([100], [30, 1, 69]):
            hidden, state = cut(model, ids, sizes, mask)
            assert torch.isfinite(hidden).all()
            assert state.seen.tolist() == list(lengths)
            for i, lane in enumerate(lanes):
                if lane.numel():
                    alone, end = model(lane)
                    assert error(hidden[i, mask[i]], alone[0]) <= 1e-12
                    mine = map_tensors(state, lambda x, i=i: x[i : i + 1])
                    if mixer == "softmax":  # the row of a lane holds its padding too
                        assert error(mine.last, end.last) <= 1e-12
                    else:
                        assert state_error(mine, end) <= 1e-12
            again, _ = model(bases[:, :50].expand(4, -1), state)
            alone, _ = model(bases[:, :50])
            assert error(again[2], alone[0]) <= 1e-12  # the lane that saw nothing starts afresh


@every_kind
def test_gradients_through_the_state(mixer, feature_map, bases):
    """Training on two windows joined by a state has the gradients of the one long window."""
    model, ids = encoder(mixer, feature_map), bases[:, :140]
    weights = torch.randn(140, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def gradients(sizes):
        model.zero_grad()
        (cut(model, ids, sizes)[0][0] * weights).sum().backward()
        return torch.cat([p.grad.flatten() for p in model.parameters()])

    assert error(gradients([50, 90]), gradients([140])) <= 1e-10


@every_kind
def test_gradcheck(mixer, feature_map):
    model = encoder(mixer, feature_map, width=4, heads=1, layers=1)
    x = torch.randn(1, 7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)

    def run(x):
        first, state = model.layers[0](x[:, :3])
        second, state = model.layers[0](x[:, 3:], state)
        return first, second

    assert torch.autograd.gradcheck(run, (x,))


class Neighbours:
    """An exchange for tests: the slices of a record in one process, one after the other."""

    def __init__(self):
        self.slices, self.calls, self.before = {}, 0, 0

    def next_slice(self, before):
        self.calls, self.before = 0, before

    def _before(self, start):
        self.calls += 1
        return self.slices.get(self.calls, start)

    def tail(self, mine, start):
        before = self._before(start)
        self.slices[self.calls] = mine
        return before

    def seen(self, start):
        return start + self.before

    def memory(self, mine, log_decay, start):
        before = self._before(start)
        value = before.value() * (1.0 if log_decay is None else log_decay.exp()[..., None]) + mine.value()
        self.slices[self.calls] = Memory.split(value, torch.zeros_like(mine.exponent), mine.hi.dtype)
        return before

    def affine(self, transition, mine, start):
        before = self._before(start)
        value = transition @ before.value() + mine.value()
        self.slices[self.calls] = Memory.split(value, torch.zeros_like(mine.exponent), mine.hi.dtype)
        return before


@pytest.mark.parametrize(("mixer", "feature_map"), [k for k in KINDS if k[0] not in NO_EXCHANGE])
def test_exchange_joins_slices(mixer, feature_map, bases):
    """Slices that see one another only through the seam equal the whole."""
    model, ids = encoder(mixer, feature_map), bases[:, :200]
    with torch.inference_mode():
        _, state = model(bases[:, 1000:1100])
        whole, end = model(ids, state)
        neighbours, parts = Neighbours(), []
        for piece in ids.split([64, 70, 66], 1):
            neighbours.next_slice(sum(part.shape[1] for part in parts))
            y, last = model(piece, state, exchange=neighbours)
            parts.append(y)
    assert error(torch.cat(parts, 1), whole) <= 1e-12
    assert state_error(last, end) <= 1e-12


@pytest.mark.parametrize("mixer", NO_EXCHANGE)
def test_exchange_is_refused(mixer):
    with pytest.raises(UsageError, match="cannot split a record over processes"):
        encoder(mixer)(torch.zeros(1, 4, dtype=torch.long), exchange=Neighbours())


def test_growing_state_is_capped():
    model = encoder("softmax", capacity=10)
    ids = torch.zeros(1, 6, dtype=torch.long)
    _, state = model(ids)
    with pytest.raises(UsageError, match=r"model\.capacity: expected at most 10 tokens.*found 12"):
        model(ids, state)


@pytest.mark.parametrize(("mixer", "feature_map"), [kind for kind in KINDS if kind[0] != "softmax"])
def test_a_state_keeps_nothing_but_itself(mixer, feature_map, bases):
    """As many bytes of storage after a long chunk as after a short one, and few more than its numbers take."""
    model = encoder(mixer, feature_map, rescale=0)

    def stored(length):
        with torch.inference_mode():
            tensors = [x for _, x in named_tensors(model(bases[:, :length])[1])]
        storages = {x.untyped_storage().data_ptr(): x.untyped_storage().nbytes() for x in tensors}
        return sum(storages.values()), sum(x.numel() * x.element_size() for x in tensors)

    (short, numbers_of_short), (long, _) = stored(130), stored(3000)
    assert long == short <= 2 * numbers_of_short


@every_kind
def test_no_record_at_all(mixer, feature_map, bases):
    model = encoder(mixer, feature_map)
    ids = bases[:, :10].expand(3, -1)[:0]
    for mask in (None, torch.ones_like(ids, dtype=torch.bool)):
        hidden, state = model(ids, None, mask)
        assert hidden.shape == (0, 10, 16)
        assert state.seen.shape == (0,)


def test_state_and_mask_must_fit():
    ids = torch.zeros(2, 5, dtype=torch.long)
    linear, gated = encoder("linear"), encoder("gated")
    _, state = gated(ids)
    with pytest.raises(StateError, match="expected LinearState, LinearState, found GatedState, GatedState"):
        linear(ids, state)
    with pytest.raises(StateError, match="expected 1 records, found 2"):
        gated(ids[:1], state)
    for mask in (torch.ones(2, 5), torch.ones(1, 5, dtype=torch.bool), torch.ones(2, 4, dtype=torch.bool)):
        with pytest.raises(UsageError, match="mask: expected bool"):
            linear(ids, None, mask)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"visibility": "all"}, "model.visibility"),
        ({"norm": "batch"}, "model.norm"),
        ({"width": 10, "heads": 4}, "model.width"),
        ({"layers": 0}, "model.layers"),
        ({"pattern": ("gated", "magic")}, "model.pattern"),
        ({"feature_map": "tanh"}, "model.feature_map"),
        ({"convolution": 1}, "model.convolution"),
        ({"dropout": 1.0}, "model.dropout"),
        ({"pattern": ("softmax",), "width": 6, "heads": 2}, "model.width"),
        ({"pattern": ("window",), "width": 6, "heads": 2}, "model.width"),
        ({"attention_window": 0}, "model.attention_window"),
        ({"period": 1}, "model.period"),
    ],
)
def test_configuration_errors_name_the_key(options, key):
    with pytest.raises(ConfigError) as caught:
        ModelConfig(**options)
    assert caught.value.where == key


@pytest.mark.parametrize(
    "option",
    [
        {"norm": "layer"},
        {"feedforward": "gelu"},
        {"mixer_norm": "head"},
        {"mixer_norm": "none"},
        {"output_gate": False},
        {"convolution": 0},
        {"decay": "head"},
        {"decay": "head", "feature_map": "hedgehog"},
        {"decay": "fixed", "feature_map": "hedgehog"},
        {"decay": "none"},
        {"period": 0},
    ],
)
def test_options_keep_the_split_law(option, bases):
    assert_split(encoder("gated", **option), bases[:, :1100], 1e-12, steps=200)


def test_places_are_counted_from_the_start_of_the_record():
    model = encoder("gated", convolution=0, layers=1, period=3)
    model.layers[0].mixer.output.weight.data.zero_()  # what is left depends on the token and its place alone
    hidden, state = model(torch.zeros(1, 7, dtype=torch.long))
    more, _ = model(torch.zeros(1, 2, dtype=torch.long), state)
    first = hidden[0, :3]
    assert error(torch.cat([hidden, more], 1)[0], first.repeat(3, 1)) <= 1e-15
    assert all(error(first[i], first[j]) > 0.01 for i, j in ((0, 1), (1, 2), (0, 2)))


def test_state_has_the_layout_of_the_design():
    model = encoder("gated", dtype=torch.float32, convolution=4)
    _, state = model(torch.zeros(3, 5, dtype=torch.long))
    shapes = {name: (tuple(x.shape), x.dtype) for name, x in named_tensors(state)}
    assert shapes["layers.0.memory.hi"] == ((3, 2, 8, 9), torch.float32)
    assert shapes["layers.1.memory.lo"] == ((3, 2, 8, 9), torch.float32)
    assert shapes["layers.0.memory.exponent"] == ((3, 2), torch.int32)
    assert shapes["layers.0.tail"] == ((3, 3, 48), torch.float32)
    assert shapes["seen"] == ((3,), torch.int64)
    assert shapes["last"] == ((3, 16), torch.float32)
