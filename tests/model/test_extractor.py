"""Extractors: what one sentence's answer depends on, and what a directory keeps."""

import json

import pytest
import torch

from longseq.errors import CheckpointError, ConfigError
from longseq.model.extractor import Extractor, ExtractorConfig, load_extractor, save_extractor

TRAITS = ("first", "second", "third")


def extractor(**changed) -> Extractor:
    model = Extractor(ExtractorConfig(traits=TRAITS, **{"width": 8, **changed})).eval()
    if model.config.layers:
        torch.manual_seed(3)
        torch.nn.init.normal_(model.together.weight)
    return model


def moved(model: Extractor, sentence: int) -> list[bool]:
    """Which answers change with the traits of one sentence."""
    traits = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    other = traits.clone()
    other[sentence] += 1
    return [not torch.equal(a, b) for a, b in zip(model(traits), model(other), strict=True)]


def test_without_layers_a_sentence_is_judged_by_itself():
    assert moved(extractor(layers=0), 4) == [row == 4 for row in range(9)]


def test_the_recurrence_sees_both_ways():
    assert all(moved(extractor(layers=1), 0)) and all(moved(extractor(layers=1), 8))


def test_a_new_recurrence_adds_nothing_yet():
    traits = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    model = Extractor(ExtractorConfig(traits=TRAITS, width=8)).eval()
    assert torch.equal(model(traits), model.alone(model.scaled(traits)))


def test_states_stand_beside_the_traits():
    model = extractor(layers=0, states=5)
    traits, states = torch.randn(4, 3), torch.randn(4, 5)
    assert torch.equal(model(traits, states), model.alone(torch.cat([traits, states], 1).clamp(-8, 8)))


def test_worth_adds_answers_in_units_of_their_spread():
    model = extractor(layers=0)
    model.unit.copy_(torch.tensor([2.0, 0.5]))
    assert model.worth(torch.tensor([[2.0, 0.5], [4.0, 0.0]])).tolist() == pytest.approx([2 / 2**0.5, 2 / 2**0.5])


def test_a_directory_keeps_all(tmp_path):
    model = extractor(states=5)
    model.unit.fill_(3.0)
    save_extractor(tmp_path, model, "# card\n")
    found, traits, states = load_extractor(tmp_path), torch.randn(6, 3), torch.randn(6, 5)
    assert found.config == model.config and not found.training
    assert torch.equal(found(traits, states), model(traits, states)) and found.unit.tolist() == [3.0, 3.0]
    assert (tmp_path / "README.md").read_text() == "# card\n"


def test_damaged_directories_are_refused(tmp_path):
    with pytest.raises(CheckpointError, match="--task extract"):
        load_extractor(tmp_path)
    model = extractor()
    model.unit.fill_(float("nan"))
    save_extractor(tmp_path, model, "")
    with pytest.raises(CheckpointError, match=r"\(unit\): expected finite"):
        load_extractor(tmp_path)
    save_extractor(tmp_path, extractor(layers=0), "")
    facts = json.loads((tmp_path / "config.json").read_text())
    for changed, said in (
        ({**facts, "schema": "longseq.checkpoint/1"}, "expected schema longseq.extractor/1"),
        ({**facts, "extractor": {**facts["extractor"], "layers": 1}}, "enter.weight|forwards"),
        ({**facts, "extractor": {**facts["extractor"], "width": 0}}, "width"),
    ):
        (tmp_path / "config.json").write_text(json.dumps(changed))
        with pytest.raises(CheckpointError, match=said):
            load_extractor(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    (tmp_path / "config.json").write_text(json.dumps(facts))
    with pytest.raises(CheckpointError, match="a safetensors file"):
        load_extractor(tmp_path)


@pytest.mark.parametrize("bad", [{"layers": -1}, {"states": -1}, {"width": 7}, {"traits": ()}])
def test_bad_shapes_are_refused(bad):
    with pytest.raises(ConfigError):
        ExtractorConfig(**{"traits": TRAITS, **bad})
