"""Laws of documents that are read once: the head is the one of the whole model, and a book is one example."""

import json
import os
import signal

import numpy as np
import pytest
import torch

from longseq.config import from_mapping
from longseq.errors import StoppedError
from longseq.log import NullProgress
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.records import Record
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig, train

LONG = 300
"""Words of a document; a class shows in a run of twelve of them, anywhere."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, draw = tmp_path_factory.mktemp("spans"), np.random.default_rng(0)
    rows = []
    for i in range(48):
        words = draw.choice(["sel", "mora", "tavi", "und", "ola"], LONG - int(draw.integers(40))).tolist()
        at = int(draw.integers(60, len(words) - 12))
        words[at : at + 12] = draw.choice([["brun", "keth"], ["liu", "osai"]][i % 2], 12).tolist()
        rows.append({"id": f"d{i}", "text": " ".join(words) + ".", "label": ("old", "new")[i % 2]})
    (path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter(row["text"] for row in rows))
    tokenizer = learn([record], Learning(vocabulary=290)).tokenizer
    save(path / "m", LanguageModel(ModelConfig(vocabulary=290, width=32, heads=2, layers=1)), tokenizer)
    return path


def settings(folder, **changes):
    tree = {
        "inputs": [str(folder / "d.jsonl")],
        "task": "classify",
        "start": str(folder / "m"),
        "freeze": "encoder",
        "device": "cpu",
        "threads": 1,
        "labels": {"file": str(folder / "d.jsonl"), "held_out": 0.25},
        "data": {"tokenizer": str(folder / "m" / "tokenizer.json")},
        "evaluation": {"every": 0},
        "checkpoint": {"every": 3},
    }
    for key, value in changes.items():
        table, _, name = key.rpartition("__")
        (tree[table] if table else tree)[name] = value
    return from_mapping(TrainConfig, tree)


@pytest.mark.parametrize(("pooling", "span"), [(None, None), ("mean", 16), ("max", 7), ("attention", 1)])
def test_figures_are_those_of_the_model_that_reads_documents_whole(folder, tmp_path, pooling, span):
    held = [f"d{i}" for i in (0, 1, 2, 7, 9)]
    asked = {"labels__pooling": pooling, "labels__span": span, "data__held_out_groups": held}
    outcome = train(settings(folder, steps=4, **asked), tmp_path / "run")
    found, before = load(tmp_path / "run" / "model"), load(folder / "m").model.encoder.state_dict()
    head = found.model.head_config
    assert (head.pooling, head.span) == (pooling or "attention", 64 if span is None else span)
    assert all(torch.equal(tensor, before[name]) for name, tensor in found.model.encoder.state_dict().items())
    assert f"in means of {head.span} tokens" in found.card
    nats = []
    for row in map(json.loads, (folder / "d.jsonl").read_text().splitlines()):
        if row["id"] in held:
            (chunk,) = found.tokenizer.chunks(iter([row["text"]]), 10**6)
            with torch.no_grad():
                scores = found.model(torch.from_numpy(chunk.ids).long()[None])[0][0]
            nats.append(-float(scores.log_softmax(-1)[found.labels.index(row["label"])]))
    assert outcome.figures["records"] == 5 and outcome.figures["nats"] == pytest.approx(np.mean(nats), rel=1e-4)


def test_what_is_said_in_twelve_words_is_learned_and_tf_idf_stands_beside(folder, tmp_path):
    outcome = train(settings(folder, labels__span=8, steps=100), tmp_path / "run")
    assert outcome.figures["accuracy"] >= 0.9
    assert outcome.figures["tfidf_accuracy"] >= 0.9 and "TF-IDF 1.0000 and 1.0000" in outcome.held_out


class Stop(NullProgress):
    """Asks to stop at its n-th step."""

    def __init__(self, after):
        self.left = after

    def advance(self, amount, total=None, **shown):
        self.left -= "rate" in shown
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_stopped_run_goes_on_to_the_same_bits(folder, tmp_path):
    wanted = train(settings(folder, steps=8), tmp_path / "a")
    with pytest.raises(StoppedError):
        train(settings(folder, steps=8), tmp_path / "b", progress=Stop(5))
    found = train(settings(folder, steps=8), tmp_path / "b", resume=True)
    assert found.figures == wanted.figures
    assert load(tmp_path / "a" / "model").sha256 == load(tmp_path / "b" / "model").sha256


def test_the_tokenizer_is_that_of_the_start(folder, tmp_path):
    outcome = train(settings(folder, steps=2, data__tokenizer=None), tmp_path / "run")
    assert outcome.figures["records"] == 12
