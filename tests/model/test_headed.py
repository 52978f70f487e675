"""Models with heads of their own: any cut, any padding, and a checkpoint directory that gives them back."""

import json

import pytest
import torch

from longseq.config import to_mapping
from longseq.errors import CheckpointError, ConfigError
from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, TokenModel, load, save
from longseq.model.headed import build
from longseq.records import reverse_complement
from longseq.streaming import Surprisal
from longseq.tokens import DnaTokenizer

SMALL = {"width": 16, "layers": 2, "heads": 2}
CLASSIFY = HeadConfig(task="classify", outputs=3, pooling="attention")
REGRESS = HeadConfig(task="regress", outputs=1, offset=(2.5,), scale=(0.5,))
ANNOTATE = HeadConfig(task="annotate", outputs=3)
NAMES = ("x", "y", "z")


def drawn(*shape, seed=0):
    return torch.randint(0, 4, shape, generator=torch.Generator().manual_seed(seed))


def worst(found, wanted):
    return float((found - wanted).detach().abs().max())


@pytest.mark.parametrize("pattern", ["gated", "linear", "gru", "delta"])
def test_records_do_not_depend_on_cuts_or_lane_mates(pattern):
    model = RecordModel(ModelConfig(pattern=(pattern,), **SMALL), CLASSIFY, NAMES).double()
    long, short = drawn(1, 70), drawn(1, 23, seed=1)
    wanted = torch.cat([model(long)[0], model(short)[0]])
    ids = torch.zeros(2, 70, dtype=torch.long)
    ids[0], ids[1, :23] = long, short
    mask = torch.arange(70) < torch.tensor([[70], [23]])
    for sizes in ([70], [20, 1, 49], [64, 6]):
        reading = None
        for part, valid in zip(ids.split(sizes, 1), mask.split(sizes, 1), strict=True):
            scores, reading = model(part, reading, valid)
        assert worst(scores, wanted) <= 1e-10


def test_tokens_do_not_depend_on_lane_mates_and_mirror_each_other():
    """Read both ways: a record and its reverse complement have equal scores, mirrored, once the passes are swapped."""
    model = build(ModelConfig(visibility="both", **SMALL), ANNOTATE, NAMES, DnaTokenizer()).double()
    letters = b"ACGTTGCANRYACCATG"
    ids = torch.from_numpy(DnaTokenizer().encode(letters)[0]).long()[None]
    padded = torch.cat([ids, drawn(1, 9)], 1)
    mask = torch.arange(26)[None] < 17
    wanted, state = model(ids)
    assert state is None
    assert worst(model(padded, mask=mask)[0][:, :17], wanted) <= 1e-10
    other = torch.from_numpy(DnaTokenizer().encode(reverse_complement(letters))[0]).long()[None]
    with torch.no_grad():
        model.head.weight.copy_(model.head.weight.roll(16, 1))
    assert worst(model(other)[0].flip(1), wanted) <= 1e-10


def test_tokens_carry_their_state():
    model = TokenModel(ModelConfig(**SMALL), ANNOTATE, NAMES).double()
    ids = drawn(2, 50)
    first, state = model(ids[:, :20])
    second, _ = model(ids[:, 20:], state)
    assert worst(torch.cat([first, second], 1), model(ids)[0]) <= 1e-10


@pytest.mark.parametrize(("config", "head", "names", "kind"), [
    (ModelConfig(**SMALL), CLASSIFY, NAMES, RecordModel),
    (ModelConfig(**SMALL), REGRESS, ("height",), RecordModel),
    (ModelConfig(visibility="both", **SMALL), ANNOTATE, NAMES, TokenModel),
    (ModelConfig(vocabulary=16, **SMALL), HeadConfig(task="masked", outputs=15, mask_id=15), (), TokenModel),
])  # fmt: skip
def test_a_directory_gives_the_model_back(tmp_path, config, head, names, kind):
    model = build(config, head, names, DnaTokenizer()).eval()
    save(tmp_path / "m", model, DnaTokenizer(), card={"held out": "nothing"})
    found = load(tmp_path / "m")
    assert isinstance(found.model, kind)
    assert (found.model.head_config, found.labels, found.config) == (head, names or None, config)
    assert torch.equal(found.model(drawn(1, 9))[0], model(drawn(1, 9))[0])
    assert f"model to {head.answers}" in found.card
    with pytest.raises(CheckpointError, match=f"expected a language model, found a model to {head.answers}"):
        Surprisal(found)


def test_a_language_model_is_kept_as_before(tmp_path):
    save(tmp_path / "m", LanguageModel(ModelConfig(**SMALL)), DnaTokenizer())
    facts = json.loads((tmp_path / "m" / "config.json").read_text())
    assert set(facts) == {"schema", "longseq", "model", "tokenizer_sha256"}
    assert isinstance(load(tmp_path / "m").language_model(), LanguageModel)
    assert not (tmp_path / "m" / "labels.json").exists()


@pytest.mark.parametrize(("change", "message"), [
    (lambda head: head | {"task": "sing"}, "head.task: expected one of"),
    (lambda head: head | {"outputs": 0}, "head.outputs: expected >= 1"),
    (lambda head: head | {"outputs": 4}, "expected 4 names, found 3"),
    (lambda head: head | {"scale": [1.0]}, "head.scale: expected 0 numbers"),
    (lambda head: [head], "head: expected a table"),
])  # fmt: skip
def test_a_head_that_cannot_be(tmp_path, change, message):
    save(tmp_path / "m", RecordModel(ModelConfig(**SMALL), CLASSIFY, NAMES), DnaTokenizer())
    file = tmp_path / "m" / "config.json"
    facts = json.loads(file.read_text())
    assert facts["head"] == json.loads(json.dumps(to_mapping(CLASSIFY)))
    file.write_text(json.dumps(facts | {"head": change(facts["head"])}))
    with pytest.raises(CheckpointError, match=message):
        load(tmp_path / "m")


def test_a_record_is_not_read_both_ways():
    with pytest.raises(ConfigError, match=r"model\.visibility: expected 'causal' or 'segment' to classify"):
        RecordModel(ModelConfig(visibility="both", **SMALL), CLASSIFY, NAMES)
