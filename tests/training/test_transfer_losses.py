"""What a teacher's answer is compared by: plain formulas, padding changes nothing, the teacher learns nothing."""

import pytest
import torch
from torch.nn.functional import cosine_similarity

from longseq.model import ModelConfig
from longseq.model.headed import VectorModel
from longseq.model.teachers import linear_form
from longseq.training.transfer import DistilConfig, Teacher, TransferConfig
from longseq.training.transfer.objectives import (
    AttentionTransfer,
    Distillation,
    freeze_for_distillation,
    freeze_for_transfer,
)
from longseq.training.transfer.teaching import attention_errors
from longseq.training.transfer.weights import divergence

MAPS = ("hedgehog", "exp", "elu+1", "taylor2")
SHAPE = {"vocabulary": 30, "width": 16, "layers": 2, "heads": 2, "segment": 10, "convolution": 0, "bias": True}


@pytest.fixture(scope="module")
def teacher():
    model = VectorModel(
        ModelConfig(
            **SHAPE, visibility="segment", pattern=("softmax",), across=False, positions="learned", norm="layer", seed=3
        )
    ).eval()
    with torch.no_grad():
        for layer in model.encoder.layers:
            layer.mixer.project.weight *= 2
    return model


def read(count=5, length=8, seed=0):
    return torch.randint(30, (count, length), generator=torch.Generator().manual_seed(seed))


def padded(ids, short):
    """The same texts, but the last `short` tokens of each other row, and a mask."""
    mask = torch.ones(ids.shape, dtype=torch.bool)
    mask[::2, ids.shape[1] - short :] = False
    return ids.masked_fill(~mask, 0), mask


def student(teacher, name="hedgehog", window=0):
    model = linear_form(teacher, feature_map=name, softmax_window=window)
    with torch.no_grad():
        for layer in model.encoder.layers:
            if layer.mixer.gain is not None:
                layer.mixer.gain.copy_(torch.tensor([0.5, -1.0]))
    return model


def test_the_teacher_says_what_its_layers_say(teacher):
    ids = read()
    answer = Teacher(teacher.encoder)(ids)
    x = teacher.encoder.embedding(ids) + teacher.encoder.positions.weight[:8]
    for layer, heard, said, after in zip(teacher.encoder.layers, answer.heard, answer.said, answer.layers, strict=True):
        assert torch.allclose(layer.mixer_norm(x), heard) and torch.allclose(layer.mixer(heard)[0], said)
        x = layer(x)[0]
        assert torch.allclose(x, after)
    assert torch.allclose(teacher(ids)[0], answer.hidden) and not answer.hidden.requires_grad


@pytest.mark.parametrize("window", [0, 3])
@pytest.mark.parametrize("name", MAPS)
def test_divergence_of_the_weights_that_attention_has(teacher, name, window):
    """The student's weights are what its attention gives of values that are the unit vectors."""
    model, mask = student(teacher, name, window), padded(read(), 3)[1]
    theirs, ours = teacher.encoder.layers[0].mixer, model.encoder.layers[0].mixer
    x = torch.randn(5, 8, 16, generator=torch.Generator().manual_seed(1))
    found = divergence(theirs, ours, x, mask).item()
    wanted, rows = 0.0, 0
    for text, valid in zip(x, mask, strict=True):
        inside = text[valid]
        q, k, _ = theirs.project(inside).unflatten(-1, (3, 2, 8)).permute(1, 2, 0, 3)
        teachers = (q @ k.mT / 8**0.5).softmax(-1)
        (phi_q, lacking), (phi_k, power) = ours.map.scaled_query(q[None]), ours.map.key(k[None])
        weights = (phi_q @ phi_k.mT)[0]
        if lacking is not None:
            weights = weights * lacking[0, ..., None].exp() * power[0, :, None].exp2()
        if window:
            places = torch.arange(len(inside)) // window
            near = places[:, None] == places
            weights = torch.where(near, (q @ k.mT / 8**0.5).exp(), weights * ours.gain.exp()[:, None, None])
        students = weights / weights.sum(-1, keepdim=True)
        wanted += (teachers * (teachers / students).log()).sum().item()
        rows += 2 * len(inside)
    assert abs(found - wanted / rows) < 1e-4 * wanted / rows
    assert found > 0


def test_attention_errors_are_relative(teacher):
    model, (ids, mask) = student(teacher), padded(read(), 3)
    answer = Teacher(teacher.encoder)(ids, mask)
    for n, found in enumerate(attention_errors(model.encoder, answer, mask).tolist()):
        apart = size = 0.0
        for row, valid in enumerate(mask):
            heard = answer.heard[n][row][valid][None]
            wanted = teacher.encoder.layers[n].mixer(heard)[0]
            apart += (model.encoder.layers[n].mixer(heard)[0] - wanted).square().sum().item()
            size += wanted.square().sum().item()
        assert found == pytest.approx(apart / size, rel=1e-4)


def test_distillation_is_the_sum_of_its_terms(teacher):
    model, (ids, mask) = student(teacher), padded(read(), 3)
    weight = mask.float()

    def loss(**settings):
        settings = {"hidden": 0.0, "pooled": 0.0, "layers": 0.0, **settings}
        total, tokens, state = Distillation(model, Teacher(teacher.encoder), DistilConfig(**settings))(
            ids, weight, mask
        )
        assert tokens == mask.sum() and state is None
        return (total / tokens).item()

    texts = [ids[row, valid][None] for row, valid in enumerate(mask)]
    ours, theirs = ([m(text)[0][0] for text in texts] for m in (model, teacher))
    apart = sum((a - b).square().sum() for a, b in zip(ours, theirs, strict=True))
    assert loss(hidden=1.0) == pytest.approx((apart / sum(b.square().sum() for b in theirs)).item(), rel=1e-4)
    alike = [cosine_similarity(a.mean(0), b.mean(0), dim=0) for a, b in zip(ours, theirs, strict=True)]
    assert loss(pooled=1.0) == pytest.approx(1 - torch.stack(alike).mean().item(), rel=1e-4)
    parts = loss(hidden=1.0), loss(pooled=1.0), loss(layers=1.0)
    assert parts[2] > 0
    assert loss(hidden=2.0, pooled=0.5, layers=3.0) == pytest.approx(2 * parts[0] + parts[1] / 2 + 3 * parts[2])


@pytest.mark.parametrize("weights", [0, 10])
def test_padding_changes_neither_loss_nor_gradient(teacher, weights):
    ids = read(4, 6)
    wide = torch.cat([ids, ids.new_full((4, 3), 7)], 1)
    mask = (torch.arange(9) < 6).expand(4, 9)
    found = []
    for given in ({"ids": ids, "weight": torch.ones(4, 6)}, {"ids": wide, "weight": mask.float(), "mask": mask}):
        model, settings = student(teacher, window=4), TransferConfig(weights=weights)
        freeze_for_transfer(model, settings)
        total, _, _ = AttentionTransfer(model, Teacher(teacher.encoder), settings)(**given)
        total.backward()
        found.append([total.detach(), *(p.grad for p in model.parameters() if p.requires_grad)])
    assert all(torch.allclose(one, two, atol=1e-5) for one, two in zip(*found, strict=True)) and len(found[0]) == 7


@pytest.mark.parametrize("trained", ["maps", "all"])
@pytest.mark.parametrize("window", [0, 8])
def test_all_that_is_distilled_has_a_gradient(teacher, trained, window):
    """Processes that average gradients must find them all: not the gates, which a segment by itself tells nothing."""
    model, settings = student(teacher, window=window), DistilConfig(trained=trained)
    freeze_for_distillation(model, settings)
    Distillation(model, Teacher(teacher.encoder), settings)(read(), torch.ones(5, 8))[0].backward()
    learned = {name for name, p in model.named_parameters() if p.requires_grad}
    assert all(p.grad is not None for name, p in model.named_parameters() if name in learned)
    others = {name for name, _ in model.named_parameters()} - learned
    assert {name.endswith(".gate") for name in others} == ({True} if trained == "all" else {True, False})


def test_the_teacher_does_not_learn(teacher):
    before = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    objective = Distillation(student(teacher), Teacher(teacher.encoder), DistilConfig()).train()
    assert objective.model.training and not objective.teacher.encoder.training
    objective(read(), torch.ones(5, 8))[0].backward()
    assert all(p.grad is None and not p.requires_grad for p in teacher.encoder.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in teacher.state_dict().items())


@pytest.mark.parametrize("weights", [0, 10])
def test_texts_within_a_window_ask_nothing_of_what_stands_outside(teacher, weights):
    """Their attention is the softmax's already: no error, a gradient of zero for every parameter that is trained."""
    model, settings = student(teacher, window=8), TransferConfig(weights=weights)
    freeze_for_transfer(model, settings)
    total, _, _ = AttentionTransfer(model, Teacher(teacher.encoder), settings)(read(), torch.ones(5, 8))
    total.backward()
    trained = [p for p in model.parameters() if p.requires_grad]
    assert abs(total.item()) < 1e-4 and len(trained) == 6
    assert all(p.grad is not None and p.grad.abs().max() < 1e-3 for p in trained)
