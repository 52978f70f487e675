"""Runs on documents: resumed equals undisturbed, the model goes on from there, wrong requests are said."""

import json
import os
import signal

import numpy as np
import pytest

from longseq.config import from_mapping
from longseq.errors import CheckpointError, ConfigError, InputError, StoppedError
from longseq.log import NullProgress
from longseq.model import load as load_model
from longseq.records import Alphabet, Record
from longseq.tasks.generate import Generator
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import kmers
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig, train

CLOCKED = ("tokens_per_s", "memory_mib", "seconds")


class Stopping(NullProgress):
    """Asks for a stop once `step` steps are over."""

    def __init__(self, step):
        self.left, self.what = step, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        self.left -= self.what == "train"
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents of a vocabulary of twelve words, each following two others only, and a tokenizer of them."""
    path, draw = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    words = [f"{a}{b}" for a in ("lamp", "tide", "boat") for b in ("s", "ed", "ing", "er")]
    (path / "docs").mkdir()
    texts = []
    for i in range(30):
        place, chosen = int(draw.integers(12)), []
        for _ in range(int(draw.integers(5, 120))):
            place = (place * 5 + int(draw.integers(2))) % 12
            chosen.append(words[place])
        texts.append(" ".join(chosen))
        (path / "docs" / f"{i:02d}.txt").write_text(texts[-1])
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter(["\n".join(texts)]))
    learn([record], Learning(vocabulary=290)).tokenizer.save(path / "tokenizer.json")
    letters = draw.choice(list(b"ACGT"), 3000, p=[0.4, 0.1, 0.1, 0.4]).astype(np.uint8).tobytes()
    (path / "g.fa").write_bytes(b">g\n" + letters + b"N" * 10 + letters[:500] + b"\n")
    kmers(2, Alphabet()).save(path / "kmers.json")
    DnaTokenizer().save(path / "letters.json")
    return path


@pytest.fixture(scope="module")
def settings(folder):
    def make(**changes):
        tree = {
            "inputs": [str(folder / "docs")],
            "steps": 6,
            "batch": 128,
            "device": "cpu",
            "threads": 1,
            "model": {"width": 16, "layers": 2, "heads": 2, "pattern": ["gated", "gru"], "dropout": 0.1},
            "data": {"window": 32, "carry": 2, "tokenizer": str(folder / "tokenizer.json"), "held_out": 0.2},
            "optimiser": {},
            "evaluation": {"every": 3, "tokens": 400},
            "checkpoint": {"every": 2},
        }
        for key, value in changes.items():
            table, _, name = key.rpartition("__")
            (tree[table] if table else tree)[name] = value
        return from_mapping(TrainConfig, tree)

    return make


def lines(run):
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in CLOCKED} for line in found]


@pytest.fixture(scope="module")
def reference(settings, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "undisturbed"
    return train(settings(), run), run


@pytest.mark.parametrize("after", [1, 4])
def test_stopped_and_resumed_equals_undisturbed(reference, settings, tmp_path, after):
    """In the middle of a carried passage, and between two."""
    with pytest.raises(StoppedError):
        train(settings(), tmp_path / "run", progress=Stopping(after))
    train(settings(), tmp_path / "run", resume=True)
    weights = [(run / "model" / "model.safetensors").read_bytes() for run in (tmp_path / "run", reference[1])]
    assert weights[0] == weights[1] and lines(tmp_path / "run") == lines(reference[1])


def test_a_run_says_what_it_read(reference, folder):
    outcome, run = reference
    figures = outcome.figures
    share = figures["tokens"] / figures["characters"]
    assert figures["bits_per_character"] == pytest.approx(figures["bits_per_token"] * share)
    assert outcome.held_out.startswith(f"{figures['bits_per_character']:.4f} bits per character held out")
    model = load_model(run / "model")
    assert model.config.vocabulary == model.tokenizer.vocabulary == 290
    assert (run / "model" / "tokenizer.json").read_bytes() == (folder / "tokenizer.json").read_bytes()
    card = (run / "model" / "README.md").read_text()
    assert "290 ids" in card and "documents |" in card


def test_it_beats_frequencies_alone_and_a_longer_run_starts_from_it(settings, tmp_path):
    """A word is followed by one of two: what frequencies cannot know."""
    some = settings(steps=60, optimiser__rate=1e-2, evaluation__every=0, model__dropout=0.0, evaluation__tokens=10**6)
    first = train(some, tmp_path / "one")
    assert first.figures["bits_per_character"] < 0.7 * first.figures["null_bits_per_character"]
    text = "".join(token.text for token in Generator(load_model(tmp_path / "one" / "model")).tokens(30))
    assert any(word in text for word in ("lamp", "tide", "boat"))
    start = str(tmp_path / "one" / "model")
    again = train(settings(steps=1, start=start, optimiser__rate=1e-9, evaluation__tokens=10**6), tmp_path / "two")
    assert again.figures["bits_per_token"] == pytest.approx(first.figures["bits_per_token"], rel=0.01)


def test_dna_in_words(settings, folder, tmp_path):
    """Bits per base compare with those of letters: the composition of these bases has 1.72."""
    words = settings(
        inputs=[str(folder / "g.fa")], data__tokenizer=str(folder / "kmers.json"), steps=30, optimiser__rate=1e-2
    )
    outcome = train(words, tmp_path / "run")
    assert outcome.held_out_bits == outcome.figures["bits_per_base"] < 1.9
    assert load_model(tmp_path / "run" / "model").tokenizer.words[15] == b"AA"


@pytest.mark.parametrize(("changes", "error", "said"), [
    ({"data__tokenizer": "{folder}/none.json"}, CheckpointError, "none.json: No such file"),
    ({"data__tokenizer": "{folder}/letters.json"}, ConfigError, "data.tokenizer: expected a tokenizer of documents"),
    ({"data__tokenizer": "{folder}/kmers.json"}, InputError, "expected DNA, which data.tokenizer is for"),
    ({"data__tokenizer": None}, InputError, "expected DNA, found document; .* longseq tokenizer train"),
    ({"start": "dna", "model": {}}, ConfigError, "another alphabet or tokenizer in dna; data.ambiguity=keep without"),
    ({"data__held_out_records": ["x.txt"]}, ConfigError, "data.held_out_records: expected ids of records"),
])  # fmt: skip
def test_wrong_requests(settings, folder, tmp_path, changes, error, said):
    filled = {k: v.format(folder=folder) if isinstance(v, str) else v for k, v in changes.items()}
    with pytest.raises(error, match=said):
        train(settings(**filled), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_settings_that_do_not_go_together(settings):
    with pytest.raises(ConfigError, match=r"data\.relabel: expected 0 with data\.tokenizer"):
        settings(data__relabel=0.5)
