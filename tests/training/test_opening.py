"""Pages, and what the memory learns of them: plain formulas, every later segment once, closed gates see nothing."""

import json
from itertools import chain

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

from longseq.model import ModelConfig
from longseq.model.headed import VectorModel
from longseq.model.teachers import linear_form
from longseq.tokens.word_pieces import word_pieces
from longseq.training.transfer import OpeningConfig, Shape, Teacher, prepare
from longseq.training.transfer.objectives import gates
from longseq.training.transfer.opening import Opening, closed, freeze_for_opening, in_one_window
from longseq.training.transfer.pages import Pages

SEGMENT, BEFORE, AFTER = 6, 2, 3
SHAPE = {"vocabulary": 30, "width": 16, "layers": 2, "heads": 2, "convolution": 0, "bias": True, "norm": "layer"}


def softmax(segment, frame=(BEFORE, AFTER)):
    fixed = {"visibility": "segment", "pattern": ("softmax",), "across": False, "positions": "learned", "seed": 3}
    return VectorModel(ModelConfig(**SHAPE, **fixed, segment=segment, frame=frame)).eval()


def student(frame=(BEFORE, AFTER)):
    return linear_form(softmax(SEGMENT, frame), feature_map="hedgehog", softmax_window=3)


def page(lengths, seed):
    """Segments with so many tokens of text."""
    draw = torch.Generator().manual_seed(seed)
    text = [torch.randint(5, 30, (n,), generator=draw).tolist() for n in lengths]
    return text, [token for part in text for token in (BEFORE, *part, AFTER)]


def padded(pages):
    mask = torch.arange(max(map(len, pages))) < torch.tensor([len(ids) for ids in pages])[:, None]
    ids = torch.zeros(mask.shape, dtype=torch.int64)
    ids[mask] = torch.tensor([token for ids in pages for token in ids])
    return ids, mask


@pytest.fixture
def given():
    """Text of two pages, their ids and mask, and the weight of what is asked."""
    texts, pages = zip(*(page(lengths, seed) for seed, lengths in enumerate([(4, 4, 2), (4, 3)])), strict=True)
    ids, mask = padded(pages)
    asked = torch.zeros(mask.shape)
    asked[0, 13:15] = asked[1, 7:10] = 1
    return texts, ids, mask, asked


def test_the_teacher_reads_the_last_segment_first(given):
    texts, ids, mask, _ = given
    teacher = softmax(14)
    found = in_one_window(Teacher(teacher.encoder), student().encoder, ids, mask)
    for row, parts in enumerate(texts):
        text = (ids[row] >= 5) & mask[row]
        said = teacher(torch.tensor([[BEFORE, *parts[-1], *chain(*parts[:-1]), AFTER]]))[0][0, 1:-1]
        count = len(parts[-1])
        assert torch.allclose(found[row][text], torch.cat([said[count:], said[:count]]), atol=1e-5)
        assert len(said) == text.sum()


def test_without_special_tokens_too():
    ids = torch.randint(5, 30, (2, 2 * SEGMENT), generator=torch.Generator().manual_seed(0))
    teacher = softmax(2 * SEGMENT, ())
    found = in_one_window(Teacher(teacher.encoder), student(()).encoder, ids, None)
    assert torch.allclose(found.roll(SEGMENT, 1), teacher(ids.roll(SEGMENT, 1))[0], atol=1e-6)


@pytest.mark.parametrize("trained", ["gates", "all"])
def test_the_loss_is_of_the_text_of_the_last_segment(given, trained):
    _, ids, mask, weight = given
    model, teacher = student(), Teacher(softmax(14).encoder)
    with torch.no_grad():
        for gate in gates(model):
            gate.copy_(torch.tensor([0.4, -0.2]))

    def loss(**settings):
        settings = OpeningConfig(trained=trained, **settings)
        total, tokens, state = Opening(model, teacher, settings)(ids, weight, mask)
        assert tokens == weight.sum() and state is None
        return (total / tokens).item()

    asked = weight > 0
    wanted, hidden = in_one_window(teacher, model.encoder, ids, mask), model(ids, None, mask)[0]
    apart = ((hidden - wanted)[asked].square().sum() / wanted[asked].square().sum()).item()
    means = [[x[row][asked[row]].mean(0) for row in range(2)] for x in (hidden, wanted)]
    alike = torch.stack([cosine_similarity(a, b, dim=0) for a, b in zip(*means, strict=True)]).mean().item()
    first = teacher(ids[:, :SEGMENT]).hidden
    kept = ((hidden[:, :SEGMENT] - first).square().sum() / first.square().sum()).item() * (trained == "all")
    assert loss(pooled=0.0) == pytest.approx(apart + kept, rel=1e-4)
    assert loss(hidden=0.0, pooled=2.0) == pytest.approx(2 * (1 - alike) + kept, rel=1e-4)
    assert apart > 0.01 and alike < 0.99


def test_closed_gates_learn_and_closed_means_alone(given):
    _, ids, mask, weight = given
    model = student()
    freeze_for_opening(model, OpeningConfig())
    assert [name for name, p in model.named_parameters() if p.requires_grad] == [
        f"encoder.layers.{n}.mixer.gate" for n in range(2)
    ]
    Opening(model, Teacher(softmax(14).encoder), OpeningConfig())(ids, weight, mask)[0].backward()
    assert all((gate.grad != 0).all() for gate in gates(model))
    with torch.no_grad():
        for gate in gates(model):
            gate.fill_(0.7)
        opened = model(ids, None, mask)[0]
        with closed(model):
            found = model(ids, None, mask)[0]
        alone = torch.cat([model(ids[:1, at : at + 6])[0] for at in (0, 6, 12)], 1)
    assert torch.allclose(found[0, :16], alone[0, :16], atol=1e-5)
    assert not torch.allclose(opened[0, 6:16], alone[0, 6:16], atol=1e-2)
    assert torch.equal(opened[:, :6], found[:, :6]) and all((gate == 0.7).all() for gate in gates(model))


def test_maps_and_gains_are_learned_beside_where_asked():
    model = student()
    freeze_for_opening(model, OpeningConfig(trained="maps"))
    learned = {
        name.rpartition("mixer.")[2].partition(".")[0] for name, p in model.named_parameters() if p.requires_grad
    }
    assert learned == {"gate", "gain", "map"}
    freeze_for_opening(model, OpeningConfig(trained="all"))
    assert all(p.requires_grad for p in model.parameters())


@pytest.mark.parametrize("trained", ["gates", "maps", "all"])
def test_all_that_is_trained_has_a_gradient(given, trained):
    """Processes that average gradients must find them all; here no token is outside the window of another."""
    _, ids, mask, weight = given
    model = linear_form(softmax(SEGMENT), feature_map="hedgehog", softmax_window=SEGMENT)
    settings = OpeningConfig(trained=trained)
    freeze_for_opening(model, settings)
    Opening(model, Teacher(softmax(14).encoder), settings)(ids, weight, mask)[0].backward()
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Documents of 1, 4, 5 (whole), 9 and 30 tokens, one letter a token."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]) + "\n")
    draw = np.random.default_rng(0)
    rows = [{"id": f"d{n}", "text": " ".join(draw.choice(list("abcdefghij"), n))} for n in (1, 4, 5, 9, 30)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tokenizer = word_pieces(folder / "vocab.txt").framed(BEFORE, AFTER, SEGMENT)
    return prepare([str(folder / "texts.jsonl")], folder / "cache", tokenizer, SEGMENT)


@pytest.mark.parametrize("most", [2, 3, 8])
def test_each_segment_but_a_documents_first_is_asked_once(texts, most):
    rows = np.arange(len(texts.lengths))
    pages = Pages(texts, rows, Shape(SEGMENT, most, 2), batch=40, seed=1)
    later = [int(page[-1]) for page in pages.pages]
    firsts = {int(np.flatnonzero((texts.document == d) & ~texts.sentence)[0]) for d in range(5)}
    assert sorted(later) == [row for row in rows[~texts.sentence].tolist() if row not in firsts]
    for page in pages.pages:
        assert 2 <= len(page) <= most and len(set(texts.document[page])) == 1 and (np.diff(page) == 1).all()
    read = [pages.batch([n]) for n in range(pages.passages)]
    assert sum(int(batch.weight.sum()) for batch in read) == sum(int(texts.lengths[row]) - 2 for row in later)
    assert sum(batch.tokens for batch in read) == pages.tokens
    assert all(batch.ids.size <= 40 or len(batch.ids) == 1 for batch in read)
    for batch in read:
        assert (batch.ids[batch.weight > 0] >= 5).all() and not batch.weight[:, :SEGMENT].any()
    sample = np.concatenate(pages.sample(10**6))
    assert sorted(sample) == list(range(len(pages.pages))) and len(pages.sample(1)[0]) == 1
    where = pages.places(0)[0]
    assert where.start < where.end and where.record.startswith("d")
