"""A conversation read turn by turn is the whole of it read with each turn a segment of its own, and no turn is read
twice."""

import io
import json
import runpy
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from teachers import VOCABULARY
from torch.nn.functional import elu

from longseq.errors import CheckpointError, StateError
from longseq.model import HeadConfig, LanguageModel, ModelConfig, TokenModel, load, save
from longseq.model.headed import VectorModel
from longseq.model.state import named_tensors
from longseq.streaming import Conversation, Snapshot, load_snapshot, save_snapshot
from longseq.streaming.hidden import HiddenReader
from longseq.tokens import DnaTokenizer
from longseq.tokens.word_pieces import word_pieces

RECIPE = Path(__file__).parents[2] / "pipelines" / "dialogue" / "dialogue.py"
SEGMENT, HEADS = 8, 2
SHAPE = {
    "vocabulary": len(VOCABULARY),
    "width": 16,
    "heads": HEADS,
    "layers": 2,
    "visibility": "segment",
    "segment": SEGMENT,
    "norm": "layer",
    "post_norm": True,
    "positions": "learned",
    "bias": True,
    "feedforward": "gelu",
}
MODELS = {
    "kept softmax": {"pattern": ("softmax",), "across": False, "frame": (2, 3)},
    "linear": {"pattern": ("linear",), "feature_map": "elu+1"},
    "linear, special tokens": {"pattern": ("linear",), "feature_map": "elu+1", "frame": (2, 3)},
    "gate": {"pattern": ("linear",), "feature_map": "elu+1", "memory_gate": True, "frame": (2, 3)},
    "windows and gate": {
        "pattern": ("linear",),
        "feature_map": "elu+1",
        "memory_gate": True,
        "softmax_window": 4,
        "frame": (2, 3),
    },
}
TURNS = ["abc de", "f", "", "abcdef", "abcdefgh ij " * 3, "b c d e f g h i", "a", "jihg fed", "abc de"]
"""With a frame, six tokens fill a segment."""


@pytest.fixture(params=MODELS, scope="module")
def checkpoint(request, tmp_path_factory):
    return made(tmp_path_factory.mktemp("talk"), VectorModel(ModelConfig(**SHAPE | MODELS[request.param])))


def made(folder, model):
    torch.manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():  # gates are closed at the start, and biases zero
            if weight.dim() == 1 and "norm" not in name:
                weight.normal_(0, 0.5)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    save(folder / "m", model, word_pieces(folder / "vocab.txt"))
    return load(folder / "m")


def reread(checkpoint, turns):
    """Hidden vectors (T, D) of all turns in one dense reading in float64: what each token may see is a matrix."""
    encoder, config = deepcopy(checkpoint.model).double().encoder, checkpoint.config
    parts = [part for ids in turns for part in torch.from_numpy(ids.astype(np.int64)).split(SEGMENT)]
    place = torch.cat([torch.arange(len(part)) for part in parts])
    number = torch.cat([torch.full((len(part),), i) for i, part in enumerate(parts)])
    special = torch.cat(
        [torch.tensor([bool(config.frame) and i in (0, len(p) - 1) for i in range(len(p))]) for p in parts]
    )
    own, before = number[:, None] == number, (number[:, None] > number) & ~special
    near = own & (place[:, None] // (config.softmax_window or SEGMENT) == place // (config.softmax_window or SEGMENT))
    x = encoder.embedding_norm(encoder.embedding(torch.cat(parts)) + encoder.positions(place))
    for layer in encoder.layers:
        q, k, v = layer.mixer.project(x).unflatten(-1, (3, HEADS, -1)).permute(1, 2, 0, 3)
        spiky = (q @ k.mT / q.shape[-1] ** 0.5).exp()
        if config.pattern == ("softmax",):
            y = spiky * own @ v / (spiky * own).sum(-1, True)
        else:
            flat = (elu(q) + 1) @ (elu(k) + 1).mT
            local = flat * own
            if config.softmax_window:
                local = torch.where(near, spiky, local * layer.mixer.gain[:, None, None].exp())
            if config.memory_gate:
                y, read = local @ v / local.sum(-1, True), flat * before
                read = torch.where(before.any(-1, True), read @ v / read.sum(-1, True), y)
                y = y + layer.mixer.gate[:, None, None].tanh() * (read - y)
            else:
                y = (flat * before + local) @ v / (flat * before + local).sum(-1, True)
        x = layer.mixer_norm(x + layer.mixer.output(y.transpose(0, 1).flatten(1)))
        x = layer.feedforward_norm(x + layer.feedforward(x))
    return encoder.norm(x)


@torch.inference_mode()
def test_turn_by_turn_is_the_whole_read_anew(checkpoint):
    conversation, ids = Conversation(checkpoint), [checkpoint.tokenizer.encode(turn) for turn in TURNS]
    hidden = reread(checkpoint, [turn for turn in ids if len(turn)]).split([len(turn) for turn in ids])
    assert np.isnan(conversation.vector).all()
    for i, text in enumerate(TURNS):
        turn, wanted = conversation.add(text), hidden[i].mean(0).numpy()
        assert (turn.number, turn.tokens) == (i, len(ids[i])) and turn.vector.dtype == np.float32
        assert np.isnan(turn.vector).all() if not len(ids[i]) else np.abs(turn.vector - wanted).max() < 1e-5
        assert np.abs(conversation.vector - torch.cat(hidden[: i + 1]).mean(0).numpy()).max() < 1e-5
    assert (conversation.turns, conversation.tokens) == (len(TURNS), sum(map(len, ids)))


def test_a_text_that_goes_on_is_a_conversation_of_its_pieces(tmp_path):
    """Without segments, a turn goes on where the last one ended."""
    checkpoint = made(tmp_path, LanguageModel(ModelConfig(vocabulary=len(VOCABULARY), width=16, heads=2, layers=2)))
    conversation = Conversation(checkpoint)
    for turn in TURNS:
        conversation.add(turn)
    ids = np.concatenate([checkpoint.tokenizer.encode(turn) for turn in TURNS]).astype(np.int64)
    with torch.inference_mode():
        wanted = checkpoint.model.encoder(torch.from_numpy(ids)[None])[0][0].mean(0)
    assert np.abs(conversation.vector - wanted.numpy()).max() < 1e-5


def test_a_turn_costs_its_own_tokens(checkpoint, monkeypatch):
    read, step = [], HiddenReader.step
    monkeypatch.setattr(
        HiddenReader, "step", lambda self, ids, state: read.extend(ids.ravel().tolist()) or step(self, ids, state)
    )
    conversation, sizes = Conversation(checkpoint), set()
    for turn in TURNS * 3:
        read.clear()
        conversation.add(turn)
        assert read == checkpoint.tokenizer.encode(turn).tolist()
        state = conversation.snapshot().state
        sizes.add(tuple(tensor.shape for _, tensor in named_tensors(state)))
    assert len(sizes) == 1


@pytest.mark.parametrize("stop", [0, 1, 3, len(TURNS)])
def test_a_saved_conversation_goes_on_to_the_bit(checkpoint, stop, tmp_path):
    whole, first = Conversation(checkpoint), Conversation(checkpoint)
    for turn in TURNS * 3:
        whole.add(turn)
    for turn in TURNS[:stop]:
        first.add(turn)
    save_snapshot(tmp_path / "state", first.snapshot())
    first.add("abc")  # what comes after does not count
    again = Conversation(checkpoint, load_snapshot(tmp_path / "state", checkpoint))
    for turn in (TURNS * 3)[stop:]:
        again.add(turn)
    assert again.vectors.tobytes() == whole.vectors.tobytes() and again.vector.tobytes() == whole.vector.tobytes()
    assert (again.turns, again.tokens) == (whole.turns, whole.tokens)


def test_nearest_are_earlier_and_most_alike(checkpoint):
    conversation = Conversation(checkpoint)
    for turn in TURNS:
        conversation.add(turn)
    for number in range(len(TURNS)):
        cosines = {}
        for i in range(number):
            one, other = conversation.vectors[[i, number]].astype(float)
            if not np.isnan(one).any() and not np.isnan(other).any():
                cosines[i] = one @ other / np.sqrt((one @ one) * (other @ other))
        wanted = sorted(cosines, key=lambda i: -cosines[i])[:3]
        found = conversation.nearest(number)
        assert [near.number for near in found] == wanted
        assert all(abs(near.similarity - cosines[near.number]) < 1e-12 for near in found)
    if checkpoint.config.pattern == ("softmax",):  # without a memory the same words are the same vector
        assert conversation.nearest(8, 1)[0].number == 0 and conversation.nearest(8, 1)[0].similarity > 1 - 1e-6


def test_what_cannot_be(checkpoint, tmp_path):
    start = Conversation(checkpoint).snapshot()
    with pytest.raises(StateError, match=r"expected precision fp32, .*found bf16"):
        Conversation(checkpoint, start, precision="bf16")
    with pytest.raises(StateError, match="expected a conversation, found the state of another reading"):
        Conversation(checkpoint, Snapshot(state=None, model_sha256=checkpoint.sha256, position=0))
    with pytest.raises(StateError, match=r"a state of model .*\(.{12}\), found one of another model \(other\)"):
        Conversation(checkpoint, replace(start, model_sha256="other"))
    save(tmp_path / "dna", VectorModel(ModelConfig(width=16, heads=2, layers=1)), DnaTokenizer())
    with pytest.raises(CheckpointError, match="expected a model of documents, found one of DNA"):
        Conversation(load(tmp_path / "dna"))
    head = HeadConfig(task="masked", outputs=len(VOCABULARY), mask_id=4)
    both = {"vocabulary": len(VOCABULARY), "width": 16, "heads": 2, "layers": 1, "visibility": "both"}
    with pytest.raises(CheckpointError, match='"both", which reads backwards from the end'):
        Conversation(made(tmp_path, TokenModel(ModelConfig(**both), head)))
    (tmp_path / "across").mkdir()
    across = VectorModel(ModelConfig(**SHAPE | {"pattern": ("linear", "softmax")}))
    with pytest.raises(CheckpointError, match="softmax mixers that see earlier segments, and count on whole ones"):
        Conversation(made(tmp_path / "across", across))


def test_requests_that_the_recipe_refuses(checkpoint, tmp_path, monkeypatch, capsys):
    def said(*options):
        talk, model = tmp_path / "talk", checkpoint.path
        monkeypatch.setattr(sys, "argv", [str(RECIPE), str(talk), "--model", str(model), *options])
        monkeypatch.setattr(sys, "stdin", io.StringIO("abc\n"))
        with pytest.raises(SystemExit) as stop:
            runpy.run_path(str(RECIPE), run_name="__main__")
        return f"{stop.value.code} {capsys.readouterr().err}"

    (tmp_path / "examples.tsv").write_text("text\tclass\nabc de\tone\n")
    assert "column 'label'" in said("--examples", str(tmp_path / "examples.tsv"))
    assert "nowhere.tsv" in said("--examples", str(tmp_path / "nowhere.tsv"))
    assert "expected 0 or more, found -1" in said("--nearest", "-1")
    assert not (tmp_path / "talk").exists()
    (tmp_path / "talk").write_text("")
    assert "talk" in said()


def test_the_recipe_goes_on_where_the_last_answer_was_given(checkpoint, tmp_path, monkeypatch, capsys):
    def answers(talk, turns, *options):
        monkeypatch.setattr(sys, "argv", [str(RECIPE), str(tmp_path / talk), "--model", str(checkpoint.path), *options])
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{turn}\n" for turn in turns)))
        runpy.run_path(str(RECIPE), run_name="__main__")
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return [{key: value for key, value in row.items() if key != "milliseconds"} for row in found]

    (tmp_path / "examples.tsv").write_text("text\tlabel\nabc de\tone\nabc d\tone\njihg fed\ttwo\n")
    options = ["--examples", str(tmp_path / "examples.tsv"), "--nearest", "2", "--vectors"]
    whole = answers("whole", TURNS, *options)
    assert [row["turn"] for row in whole] == list(range(8))  # an empty line is no turn
    conversation = Conversation(checkpoint)
    for row, text in zip(whole, filter(None, TURNS), strict=True):
        assert np.array_equal(conversation.add(text).vector, np.float32(row["vector"]))
        assert [(n["turn"], n["similarity"]) for n in row["nearest"]] == conversation.nearest(row["turn"], 2)
    assert answers("nothing", ["\u200b"], *options) == [{"turn": 0, "tokens": 0, "nearest": []}]
    assert whole[0]["label"] == "one" and max(whole[6]["labels"], key=whole[6]["labels"].get) == whole[6]["label"]
    first = answers("parts", TURNS[:4], *options)
    with open(tmp_path / "parts" / "turns.jsonl", "a") as file:  # killed before the state of this turn was written
        file.write('{"text": "a b')
    assert first + answers("parts", TURNS[4:], *options) == whole
    assert (tmp_path / "parts" / "turns.jsonl").read_bytes() == (tmp_path / "whole" / "turns.jsonl").read_bytes()
