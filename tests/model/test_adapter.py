"""Laws of adapters: nothing changes at the start, only they are trained, and added up they compute the same."""

import pytest
import torch
from torch import nn

from longseq.errors import ConfigError
from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, adapter, load, save
from longseq.model.mixers import MIXERS
from longseq.tokens import DnaTokenizer

IDS = torch.randint(0, 4, (2, 90), generator=torch.Generator().manual_seed(0))


def model(mixer, **changes):
    return LanguageModel(ModelConfig(width=16, heads=2, layers=2, pattern=(mixer,), **changes)).double()


def plain_of(subject):
    """A model without adapters, filled with the sums."""
    found = LanguageModel(subject.config).double()
    found.load_state_dict(adapter.weights(subject))
    return found


def moved(module):
    """Adapters as after some training: nothing in them is zero."""
    draw = torch.Generator().manual_seed(1)
    for name, parameter in module.named_parameters():
        if name.endswith(".up"):
            parameter.data.normal_(std=0.3, generator=draw)
    return module


def test_an_adapted_map_is_the_formula():
    """Hu et al. 2022, eq. 3."""
    layer = nn.Linear(5, 3).double()
    weight, x = layer.weight.detach().clone(), torch.randn(7, 5).double()
    assert adapter.adapt(layer, rank=2, alpha=6) == ["weight"]
    part = moved(layer).parametrizations.weight[0]
    assert part.down.shape == (2, 5) and part.up.shape == (3, 2)
    wanted = x @ weight.T + layer.bias + 3.0 * (x @ part.down.T) @ part.up.T
    torch.testing.assert_close(layer(x), wanted)


@pytest.mark.parametrize("mixer", MIXERS)
def test_every_mixer(mixer):
    """Each matrix of mixers and feed-forwards has one; the start is the model; gradients reach adapters alone; a plain
    model filled with the sums computes the same, state included."""
    plain, subject = model(mixer), model(mixer)
    names = adapter.adapt(subject.encoder, rank=4, alpha=8)
    matrices = [
        f"{path}.{name}"
        for path, part in plain.encoder.named_modules()
        if isinstance(part, nn.Linear | nn.RNNBase)
        for name, weight in part.named_parameters(recurse=False)
        if weight.ndim == 2
    ]
    assert names == matrices and {name.split(".")[2] for name in names} == {"mixer", "feedforward"}
    torch.testing.assert_close(subject(IDS)[0], plain(IDS)[0], rtol=0, atol=0)
    subject.loss(IDS)[0].backward()
    trained = {name for name, p in subject.encoder.named_parameters() if p.grad is not None and p.requires_grad}
    assert trained == {n for n, _ in subject.encoder.named_parameters() if n.endswith((".up", ".down"))}
    assert subject.head.score.weight.grad is not None
    merged = plain_of(moved(subject))
    wanted, after = subject(IDS[:, :50])
    found, alone = merged(IDS[:, :50])
    assert not torch.allclose(found, plain(IDS[:, :50])[0], atol=1e-3)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(merged(IDS[:, 50:], alone)[0], subject(IDS[:, 50:], after)[0])
    assert not adapter.state(plain) and adapter.weights(plain).keys() == plain.state_dict().keys()


@pytest.mark.parametrize("mixer", ["gated", "gated_delta", "gru"])
def test_gradients_are_those_of_the_product(mixer):
    """dL/dB = s dL/dW Aᵀ and dL/dA = s Bᵀ dL/dW, with dL/dW of the model of the sums; also when layers are worked out
    again."""
    subject = model(mixer)
    adapter.adapt(subject.encoder, rank=3, alpha=6)
    plain = plain_of(moved(subject))
    plain.loss(IDS)[0].backward()
    of_weight = {name: p.grad for name, p in plain.encoder.named_parameters()}
    for again in (False, True):
        subject.zero_grad()
        subject.encoder.recompute = again
        subject.loss(IDS)[0].backward()
        for path, part in subject.encoder.named_modules():
            if isinstance(part, adapter.Adapter):
                whole = of_weight[path.replace("parametrizations.", "").removesuffix(".0")]
                torch.testing.assert_close(part.up.grad, part.scale * whole @ part.down.T)
                torch.testing.assert_close(part.down.grad, part.scale * part.up.T @ whole)


def test_half_precision_reads_the_sum_of_full_precision():
    """A sum taken in bfloat16 would lose what is learned: 2^-9 of the weight is rounded away."""
    layer = nn.Linear(4, 4, bias=False)
    adapter.adapt(layer, rank=4, alpha=4)
    with torch.autocast("cpu", torch.bfloat16):
        moved(layer)
        inside = layer.weight
    assert torch.equal(inside, adapter.weights(layer)["weight"]) and adapter.weights(layer).keys() == {"weight"}


def test_some_maps_by_name():
    subject = model("gated")
    assert adapter.adapt(subject.encoder, rank=2, alpha=2, maps=("mixer.project", "expand")) == [
        f"layers.{i}.{name}.weight" for i in (0, 1) for name in ("mixer.project", "feedforward.expand")
    ]
    with pytest.raises(ConfigError, match=r"adapter\.maps: expected parts of .*feedforward.*, found 'projec'"):
        adapter.adapt(model("gated").encoder, rank=2, alpha=2, maps=("projec",))


def test_a_small_matrix_has_a_smaller_adapter():
    """A gate of one number a head."""
    subject = model("delta")
    adapter.adapt(subject.encoder, rank=8, alpha=16)
    part = subject.encoder.layers[0].mixer.gates.project.parametrizations.weight[0]
    assert part.up.shape == (2, 2) and part.scale == 2.0


def test_what_was_saved_is_put_back():
    """The same seed draws the same adapters; a saved state brings them and the weights beneath to the last bit."""
    first, second = (RecordModel(ModelConfig(width=16, heads=2, layers=1), head, ("a", "b"))
                     for head in [HeadConfig(task="classify", outputs=2)] * 2)  # fmt: skip
    for subject in (first, second):
        adapter.adapt(subject.encoder, rank=2, alpha=4, seed=3)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    saved = {name: tensor.clone() for name, tensor in adapter.state(moved(first)).items()}
    adapter.restore(second, saved)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_a_saved_model_is_a_plain_one(tmp_path):
    """In a checkpoint directory the sums stand."""
    subject = LanguageModel(ModelConfig(width=16, heads=2, layers=2))
    adapter.adapt(subject.encoder, rank=2, alpha=4)
    save(tmp_path / "model", moved(subject), DnaTokenizer())
    found = load(str(tmp_path / "model")).model
    assert not adapter.state(found)
    torch.testing.assert_close(found(IDS)[0], subject(IDS)[0])
