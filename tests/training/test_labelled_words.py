"""Laws of labels on documents and on DNA in words: told apart above the null, figures as defined, an exact resume."""

import json
import math
import os
import signal

import numpy as np
import pytest
import torch

from longseq.config import from_mapping
from longseq.errors import ConfigError, InputError, StoppedError
from longseq.log import NullProgress
from longseq.model import RecordModel, TokenModel, load
from longseq.records import Alphabet, Record
from longseq.tokens.subwords import kmers
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig, train
from longseq.training.documents import prepare
from longseq.training.tasks import make

SHARED = ["sel", "mora", "tavi"]
OWN = {"old": ["brun", "keth", "dorn"], "new": ["liu", "fanei", "osai"]}
"""Words of two invented languages: a third of each is the other's too."""
QUIET = {"evaluation__every": 0, "checkpoint__every": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`d.jsonl` with `l.tsv`: 40 documents of a few to 120 words; `g.fa`: 30 records in words of two bases."""
    path, draw = tmp_path_factory.mktemp("words"), np.random.default_rng(0)
    documents, rows = [], ["id\tlanguage\twords\tshare"]
    for i in range(40):
        language = ("old", "new")[i % 2]
        words = draw.choice(SHARED + OWN[language], int(draw.integers(4, 120)))
        documents.append({"id": f"d{i}", "text": " ".join(words)})
        rows.append(f"d{i}\t{language}\t{';'.join(OWN[language][:2])}\t{np.mean(words == 'mora') + (i % 2):.4f}")
    (path / "d.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (path / "l.tsv").write_text("\n".join(rows) + "\n")
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter(d["text"] + "\n" for d in documents))
    learn([record], Learning(vocabulary=265)).tokenizer.save(path / "tokenizer.json")
    letters = [("ACAC" * 60, "AGGT" * 60)[i % 2][: int(draw.integers(9, 200))] for i in range(30)]
    (path / "g.fa").write_text("".join(f">g{i}\n{s}\n" for i, s in enumerate(letters)))
    (path / "g.tsv").write_text("id\tkind\n" + "".join(f"g{i}\t{'xy'[i % 2]}\n" for i in range(30)))
    kmers(2, Alphabet()).save(path / "kmers.json")
    return path


@pytest.fixture(scope="module")
def settings(folder):
    columns = {"classify": "language", "multilabel": "words", "regress": "share"}

    def make(task="classify", **changes):
        tree = {
            "inputs": [str(folder / "d.jsonl")],
            "task": task,
            "steps": 9,
            "batch": 256,
            "device": "cpu",
            "threads": 1,
            "model": {"width": 16, "layers": 1, "heads": 2},
            "data": {"window": 32, "carry": 2, "tokenizer": str(folder / "tokenizer.json"), "held_out": 0.2},
            "labels": {"file": str(folder / "l.tsv"), "column": columns[task]} if task in columns else {},
            "optimiser": {"rate": 1e-2},
            "evaluation": {"every": 4},
            "checkpoint": {"every": 2, "keep": 9},
        }
        if task == "masked":
            tree["model"] |= {"visibility": "both"}
            tree["data"] |= {"carry": 1}
        for key, value in changes.items():
            table, _, name = key.rpartition("__")
            (tree[table] if table else tree)[name] = value
        return from_mapping(TrainConfig, tree)

    return make


@pytest.mark.parametrize(("task", "figure", "least", "null", "options"), [
    ("classify", "accuracy", 0.95, "null_accuracy", {"labels__smoothing": 0.1, "labels__weights": "balanced"}),
    ("multilabel", "auprc", 0.95, "null_auprc", {"labels__weights": "balanced"}),
    ("regress", "r2", 0.7, None, {"labels__pooling": "attention"}),
])  # fmt: skip
def test_two_languages_are_told_apart(settings, tmp_path, task, figure, least, null, options):
    outcome = train(settings(task, steps=25, **options, **QUIET), tmp_path / "run")
    assert outcome.figures[figure] > least
    assert null is None or outcome.figures[null] < 0.7
    found = load(tmp_path / "run" / "model")
    assert isinstance(found.model, RecordModel) and found.config.vocabulary == found.tokenizer.vocabulary == 265
    names = {"classify": ("new", "old"), "multilabel": ("brun", "fanei", "keth", "liu"), "regress": ("share",)}
    assert found.labels == names[task]
    assert "265 ids" in found.card and "up to 32 tokens" in found.card and "bases" not in found.card
    assert "documents" in found.card and "| strands | forward |" in found.card


def test_figures_are_those_of_the_documents_read_whole(settings, folder, tmp_path):
    """Of held-out ones, most of them longer than what is carried, from the checkpoint and the tokens of their text."""
    held = [f"d{i}" for i in (0, 1, 2, 3, 9)]
    outcome = train(settings(steps=6, data__held_out_groups=held, **QUIET), tmp_path / "run")
    found = load(tmp_path / "run" / "model")
    truth = dict(row.split("\t")[:2] for row in (folder / "l.tsv").read_text().splitlines()[1:])
    nats, longest = [], 0
    for line in (folder / "d.jsonl").read_text().splitlines():
        document = json.loads(line)
        if document["id"] in held:
            (chunk,) = found.tokenizer.chunks(iter([document["text"]]), 10**6)
            longest = max(longest, len(chunk))
            scores, _ = found.model(torch.from_numpy(chunk.ids).long()[None])
            nats.append(-scores.log_softmax(-1)[0, found.labels.index(truth[document["id"]])].item())
    assert longest > 64
    assert outcome.figures["records"] == 5 and outcome.figures["nats"] == pytest.approx(np.mean(nats), rel=1e-5)


@pytest.mark.parametrize("visibility", ["both", "segment"])
def test_bits_are_those_of_the_hidden_tokens(settings, tmp_path, visibility):
    """Of each held-out window by itself, or carried on, and the null by frequencies of what is learned from."""
    given = {"model__visibility": visibility}
    if visibility == "segment":
        given |= {"model__pattern": ["linear"], "model__segment": 16, "data__carry": 2}
    config = settings("masked", steps=3, evaluation__tokens=10**6, **given, **QUIET)
    outcome = train(config, tmp_path / "run")
    found = load(tmp_path / "run" / "model")
    assert isinstance(found.model, TokenModel) and found.config.vocabulary == 266 == found.model.head_config.mask_id + 1
    task = make(config, prepare(config.inputs, tmp_path / "data", found.tokenizer))
    counts = np.ones(265)
    for number in range(task.train.passages):
        for phase in range(task.train.carry):
            batch = task.train.batch([number], phase)
            counts += np.bincount(batch.targets[batch.mask], minlength=265)
    counts[found.tokenizer.end] = 0
    null, nats, asked = 0.0, 0.0, 0
    for number in range(task.held_out.passages):
        state = None
        for phase in range(task.held_out.carry):
            batch = task.held_out.batch([number], phase)
            if not batch.mask.any():
                continue
            with torch.no_grad():
                scores, state = found.model(torch.from_numpy(batch.ids), state)
            for t in np.flatnonzero(batch.weight[0]):
                nats -= scores[0, t].log_softmax(-1)[batch.targets[0, t]].item()
                null -= math.log2(counts[batch.targets[0, t]] / counts.sum())
                asked += 1
    assert outcome.figures["tokens"] == asked > 50
    assert outcome.figures["bits_per_token"] == pytest.approx(nats / math.log(2) / asked, rel=1e-4)
    assert outcome.figures["null_bits_per_token"] == pytest.approx(
        null / asked, rel=0.02
    )  # it counts ends of documents
    assert "bits per hidden token held out" in outcome.held_out and "15% of the words; 10% of these" in found.card


def test_hidden_words_are_learned(settings, tmp_path):
    outcome = train(settings("masked", steps=60, **QUIET), tmp_path / "run")
    assert outcome.figures["bits_per_token"] < 0.9 * outcome.figures["null_bits_per_token"]
    causal = settings(steps=2, start=str(tmp_path / "run" / "model"), model={}, **QUIET)  # its encoder, to classify
    train(causal, tmp_path / "next")
    assert load(tmp_path / "next" / "model").config.vocabulary == 266


class Stopping(NullProgress):
    def __init__(self, step, act):
        self.left, self.act, self.what = step, act, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        self.left -= self.what == "train"
        if self.left == 0:
            self.act()


@pytest.mark.parametrize("task", ["classify", "masked"])
def test_stopped_or_killed_and_resumed_is_the_same_run(settings, tmp_path, task):
    whole, run = tmp_path / "whole", tmp_path / "run"
    train(settings(task), whole)

    def die():
        raise RuntimeError("kill -9")

    with pytest.raises(StoppedError):
        train(settings(task), run, progress=Stopping(3, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    with pytest.raises(RuntimeError):
        train(settings(task), run, resume=True, progress=Stopping(4, die))
    train(settings(task), run, resume=True)
    one, two = ((folder / "model" / "model.safetensors").read_bytes() for folder in (run, whole))
    assert one == two


def test_dna_in_words_is_read_forwards(settings, folder, tmp_path):
    inputs, table = [str(folder / "g.fa")], str(folder / "g.tsv")
    given = {"inputs": inputs, "labels__file": table, "labels__column": "kind"}
    config = settings(**given, data__tokenizer=str(folder / "kmers.json"), steps=20, **QUIET)
    outcome = train(config, tmp_path / "run")
    assert outcome.figures["accuracy"] > 0.9 > outcome.figures["null_accuracy"]
    task = make(config, prepare(inputs, tmp_path / "data", load(tmp_path / "run" / "model").tokenizer))
    places = [place for n in range(2 * task.train.passages) for place in task.train.places(n, 0)]
    assert {place.strand for place in places} == {"+"}
    assert task.described.startswith("24 records of 2 classes") and task.described.endswith("tokens")


def test_wrong_requests(settings, folder, tmp_path):
    with pytest.raises(ConfigError, match=r"data\.tokenizer: expected none to annotate: intervals count bases"):
        settings("annotate", labels__file=str(folder / "l.bed"))
    with pytest.raises(ConfigError, match=r"mask\.span: expected none of documents"):
        train(settings("masked", mask={"span": 3}), tmp_path / "run")
    (tmp_path / "l.tsv").write_text("id\tlabel\nzz\tx\nd0\ty\n")
    with pytest.raises(InputError, match="'zz' that no input holds"):
        train(settings(labels__file=str(tmp_path / "l.tsv"), labels__column=None), tmp_path / "run")
    assert not (tmp_path / "run").exists()
