"""Checkpoint directories: round trip, digest, and refusal of what does not fit."""

import json
import resource

import pytest
import torch
from safetensors.torch import load_file, save_file

from longseq.errors import AlphabetError, CheckpointError, OutputExistsError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.records import Alphabet
from longseq.tokens import DnaTokenizer


@pytest.fixture
def folder(tmp_path):
    model = LanguageModel(ModelConfig(width=8, heads=2, layers=2, pattern=("gated", "linear")))
    save(tmp_path / "m", model, DnaTokenizer(), labels=["a", "b"], card={"trained on": "nothing | at all"})
    return tmp_path / "m"


def test_round_trip(folder):
    checkpoint = load(folder)
    fresh = LanguageModel(checkpoint.config)
    assert checkpoint.config.pattern == ("gated", "linear")
    for name, tensor in fresh.state_dict().items():
        assert torch.equal(tensor, checkpoint.model.state_dict()[name])
    assert checkpoint.labels == ("a", "b")
    assert not checkpoint.model.training
    assert "nothing \\| at all" in (folder / "README.md").read_text()
    assert not any(p.suffix in (".bin", ".pt", ".pkl") for p in folder.rglob("*"))


def test_bfloat16_on_disk_is_float32_in_memory(folder, tmp_path):
    checkpoint = load(folder)
    save(tmp_path / "half", checkpoint.model, checkpoint.tokenizer, dtype=torch.bfloat16)
    again = load(tmp_path / "half")
    for name, tensor in again.model.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, checkpoint.model.state_dict()[name].bfloat16().float())
    assert again.sha256 != checkpoint.sha256


def test_a_full_disk_is_an_error_of_the_system_and_leaves_nothing(folder):
    checkpoint = load(folder)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))  # the configuration fits, the weights do not
    try:
        with pytest.raises(OSError, match="File too large"):
            save(folder.parent / "other", checkpoint.model, checkpoint.tokenizer)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [p.name for p in folder.parent.iterdir()] == ["m"]


def test_existing_output_is_refused(folder):
    checkpoint = load(folder)
    with pytest.raises(OutputExistsError, match="--force"):
        save(folder, checkpoint.model, checkpoint.tokenizer)
    save(folder, checkpoint.model, checkpoint.tokenizer, force=True)


def test_another_alphabet_is_refused(folder):
    DnaTokenizer(Alphabet(ambiguity="N")).save(folder / "tokenizer.json")
    with pytest.raises(AlphabetError, match="tokenizer this model was trained with"):
        load(folder)


def broken(change):
    def apply(folder):
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return apply


DAMAGE = {
    "no directory": (lambda f: [p.unlink() for p in f.iterdir()] and f.rmdir(), "nothing there"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "no model.safetensors"),
    "no safetensors": (lambda f: (f / "model.safetensors").write_bytes(b"rubbish" * 9), "a safetensors file"),
    "config is not JSON": (lambda f: (f / "config.json").write_text("{"), "expected JSON"),
    "another schema": (lambda f: (f / "config.json").write_text('{"schema": "x/9"}'), "longseq.checkpoint/1"),
    "unknown key": (lambda f: edit(f, "wdith", 3), "did you mean model.width"),
    "model is no table": (lambda f: rewrite(f, [1]), r"model: expected a table, found \[1\]"),
    "labels are not JSON": (lambda f: (f / "labels.json").write_text("{"), "labels.json: expected JSON"),
    "labels are no list": (lambda f: (f / "labels.json").write_text('"ab"'), "a list of class names"),
    "missing tensor": (broken(lambda w: w.pop("head.score.bias")), "tensor head.score.bias"),
    "extra tensor": (broken(lambda w: w.update(x=torch.zeros(1))), "no other tensors, found x"),
    "other shape": (broken(lambda w: w.update({"head.start": torch.zeros(9)})), r"head.start\): expected shape \(8,\)"),
    "absurd layers": (lambda f: edit(f, "layers", 4000), "tensors of 4,000 layers"),
    "absurd width": (lambda f: edit(f, "width", 1 << 16), "expected shape"),
    "width without end": (lambda f: edit(f, "width", 1 << 40), "model.width: expected 65,536 at most"),
    "vocabulary without end": (
        lambda f: edit(f, "vocabulary", 1 << 40),
        "model.vocabulary: expected 16,777,216 at most",
    ),
    "seed of 100 bits": (lambda f: edit(f, "seed", 1 << 100), "a whole number of at most 64 bits"),
    "a number that is none": (lambda f: edit(f, "dropout", float("nan")), "NaN is no number of JSON"),
    "a key twice": (lambda f: (f / "config.json").write_text('{"schema": 1, "schema": 2}'), "'schema' is there twice"),
    "nested without end": (
        lambda f: (f / "config.json").write_text("[" * 100_000),
        "lists and objects more than 100 deep",
    ),
    "labels that cannot be written": (lambda f: (f / "labels.json").write_text('["a", "\\ud800"]'), "labels.json"),
    "whole numbers": (broken(lambda w: w.update({"head.start": torch.zeros(8).long()})), "numbers of type F64, .* I64"),
    "too large": (
        broken(lambda w: w.update({"head.start": torch.full((8,), 1e300, dtype=torch.float64)})),
        "NaN or infinity",
    ),
    "a header of 100 MB": (lambda f: sparse(f / "model.safetensors"), "a header of 100,000,000 bytes"),
    "not finite": (broken(lambda w: w["head.start"].fill_(torch.nan)), "finite numbers"),
}


def sparse(file):
    with open(file, "wb") as stream:
        stream.write((100_000_000).to_bytes(8, "little") + b"{")
        stream.truncate(100_000_008)


def edit(folder, key, value):
    config = json.loads((folder / "config.json").read_text())
    config["model"][key] = value
    (folder / "config.json").write_text(json.dumps(config))


def rewrite(folder, model):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model": model}))


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named(folder, damage):
    change, message = DAMAGE[damage]
    change(folder)
    with pytest.raises(CheckpointError, match=message) as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_folder_of_sequences_does_not_hide_a_shipped_model(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("longseq.model.checkpoint.PRETRAINED", folder.parent)
    (tmp_path / "here" / folder.name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert load(folder.name).path == folder
    with pytest.raises(CheckpointError, match=r"no config.json"):
        load(f"./{folder.name}")
