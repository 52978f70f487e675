"""Laws of training on labels: what can be told is learned, a resume is exact, a start is a start, faults are said."""

import json
import os
import signal

import numpy as np
import pytest
import torch

from longseq.config import from_mapping
from longseq.errors import ConfigError, InputError, StoppedError
from longseq.log import NullProgress
from longseq.model import RecordModel, TokenModel, load
from longseq.model.calibration import read_calibration
from longseq.tokens import DnaTokenizer
from longseq.training import TrainConfig, train
from longseq.training.store import prepare
from longseq.training.tasks import make

CLOCKED = ("tokens_per_s", "memory_mib", "seconds")
LETTERS = np.frombuffer(b"ACGT", np.uint8)
RICH = ([0.4, 0.1, 0.1, 0.4], [0.1, 0.4, 0.4, 0.1], [0.25] * 4)
"""Composition of three kinds of records; the third one goes ACGT over and over."""


class Stopping(NullProgress):
    def __init__(self, step, act):
        self.left, self.act, self.what = step, act, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        self.left -= self.what == "train"
        if self.left == 0:
            self.act()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`r.fa` with `l.tsv`: 48 records of three kinds; `c.fa` with `c.bed`: 10 with an island of G and C."""
    path, rng = tmp_path_factory.mktemp("labelled"), np.random.default_rng(0)
    sequences, rows = [], ["id\tkind\tgc\ttags\tgenus"]
    for i in range(48):
        n = int(rng.integers(20, 90))
        letters = ("ACGT" * 30)[:n] if i % 3 == 2 else LETTERS[rng.choice(4, n, p=RICH[i % 3])].tobytes().decode()
        sequences.append(f">s{i} x\n{letters}\n")
        gc = sum(letters.count(c) for c in "GC") / n
        rows.append(f"s{i}\tkind{i % 3}\t{gc:.4f}\t{('at', 'gc', 'at;gc')[i % 3]}\tg{i // 6}")
    (path / "r.fa").write_text("".join(sequences))
    (path / "l.tsv").write_text("\n".join(rows) + "\n")
    sequences, rows = [], []
    for i in range(10):
        n, a = int(rng.integers(150, 250)), int(rng.integers(5, 60))
        letters = LETTERS[rng.choice(4, n, p=[0.45, 0.05, 0.05, 0.45])].copy()
        letters[a : a + 70] = LETTERS[rng.choice(4, 70, p=[0.05, 0.45, 0.45, 0.05])]
        sequences.append(f">c{i}\n{letters.tobytes().decode()}\n")
        rows.append(f"c{i}\t{a}\t{a + 70}\tisland\n")
    (path / "c.fa").write_text("".join(sequences))
    (path / "c.bed").write_text("".join(rows))
    return path


@pytest.fixture(scope="module")
def settings(folder):
    def make(task="classify", **changes):
        columns = {"classify": "kind", "multilabel": "tags", "regress": "gc", "annotate": None}
        intervals = task == "annotate"
        tree = {
            "inputs": [str(folder / ("c.fa" if intervals else "r.fa"))],
            "task": task,
            "steps": 9,
            "batch": 256,
            "device": "cpu",
            "threads": 1,
            "model": {"width": 16, "layers": 1, "heads": 2},
            "data": {"window": 32, "carry": 2},
            "labels": {"file": str(folder / ("c.bed" if intervals else "l.tsv")), "column": columns[task]},
            "optimiser": {"rate": 1e-2},
            "evaluation": {"every": 4},
            "checkpoint": {"every": 2, "keep": 9},
        }
        for key, value in changes.items():
            table, _, name = key.rpartition("__")
            (tree[table] if table else tree)[name] = value
        return from_mapping(TrainConfig, tree)

    return make


def lines(run):
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in CLOCKED} for line in found]


def weights(run):
    return (run / "model" / "model.safetensors").read_bytes()


QUIET = {"evaluation__every": 0, "checkpoint__every": 0}


@pytest.mark.parametrize(("task", "figure", "least", "null"), [
    ("classify", "accuracy", 0.9, "null_accuracy"),
    ("multilabel", "auprc", 0.95, "null_auprc"),
    ("regress", "r2", 0.8, None),
    ("annotate", "macro_f1", 0.85, "null_accuracy"),
])  # fmt: skip
def test_what_can_be_told_is_learned(settings, tmp_path, task, figure, least, null):
    outcome = train(settings(task, steps=60, **QUIET), tmp_path / "run")
    assert outcome.figures[figure] > least
    assert null is None or outcome.figures[null] < 0.8
    assert "held out" in outcome.held_out
    found = load(tmp_path / "run" / "model")
    assert isinstance(found.model, TokenModel if task == "annotate" else RecordModel)
    names = {"classify": ("kind0", "kind1", "kind2"), "multilabel": ("at", "gc"), "regress": ("gc",)}
    assert found.labels == names.get(task, ("background", "island"))
    assert f"held-out {figure.replace('_', ' ')}" in found.card


def test_a_saved_model_answers_as_was_reported(settings, folder, tmp_path):
    """Read letter by letter from the checkpoint, in other cuts than those of the run."""
    config = settings("regress", steps=60, data__held_out_groups=["s0", "s1", "s5"], **QUIET)
    outcome = train(config, tmp_path / "run")
    found = load(tmp_path / "run" / "model")
    truth = {row.split("\t")[0]: float(row.split("\t")[2]) for row in (folder / "l.tsv").read_text().splitlines()[1:]}
    records = (folder / "r.fa").read_text().split(">")[1:]
    errors = []
    for record in (records[0], records[1], records[5]):
        ids = torch.from_numpy(DnaTokenizer().encode(record.split("\n")[1].encode())[0]).long()[None]
        _, reading = found.model(ids[:, :7])
        scores, _ = found.model(ids[:, 7:], reading)
        errors.append(found.model.answers(scores).item() - truth[record.split()[0]])
    assert outcome.figures["rmse"] == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-3)


@pytest.mark.parametrize("task", ["classify", "annotate"])
def test_stopped_or_killed_and_resumed_is_the_same_run(settings, tmp_path, task):
    whole, run = tmp_path / "whole", tmp_path / "run"
    train(settings(task), whole)

    def die():
        raise RuntimeError("kill -9")

    with pytest.raises(StoppedError):  # between the two windows over which states are carried
        train(settings(task), run, progress=Stopping(3, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    with pytest.raises(RuntimeError):
        train(settings(task), run, resume=True, progress=Stopping(4, die))
    train(settings(task), run, resume=True)
    assert weights(run) == weights(whole)
    assert lines(run) == lines(whole)


@pytest.mark.parametrize(("changes", "key"), [
    ({"labels__smoothing": 0.1}, "labels.smoothing"),
    ({"labels__column": "genus"}, "labels.column"),
    ({"task": "multilabel"}, "task"),
])  # fmt: skip
def test_another_question_is_another_run(settings, tmp_path, changes, key):
    train(settings(steps=2, **QUIET), tmp_path / "run")
    with pytest.raises(ConfigError, match=rf"{key}: expected .*a resumed run keeps it"):
        train(settings(steps=2, **QUIET, **changes), tmp_path / "run", resume=True)


def test_other_labels_are_another_run(settings, folder, tmp_path):
    (tmp_path / "l.tsv").write_text((folder / "l.tsv").read_text())
    config = settings(steps=2, labels__file=str(tmp_path / "l.tsv"), **QUIET)
    train(config, tmp_path / "run")
    (tmp_path / "l.tsv").write_text((folder / "l.tsv").read_text().replace("s3\tkind0", "s3\tkind1"))
    with pytest.raises(ConfigError, match="the data the run began with"):
        train(config, tmp_path / "run", resume=True)


def test_from_a_trained_encoder(settings, folder, tmp_path):
    """Frozen it stays as it was, and the head learns; the same head is taken over too."""
    language = from_mapping(TrainConfig, {
        "inputs": [str(folder / "r.fa")], "steps": 2, "batch": 64, "device": "cpu", "threads": 1,
        "model": {"width": 16, "layers": 1, "heads": 2, "seed": 5}, "data": {"window": 32},
    })  # fmt: skip
    train(language, tmp_path / "language")
    first = load(tmp_path / "language" / "model")
    given = {"start": str(tmp_path / "language" / "model"), "model": {}}
    frozen = settings(steps=4, freeze="encoder", optimiser__rate=0.1, **given, **QUIET)
    plans = []
    train(frozen, tmp_path / "frozen", announce=plans.append)
    second = load(tmp_path / "frozen" / "model")
    assert second.config == first.config
    assert plans[0].parameters == 3 * 16 + 3
    for name, tensor in first.model.encoder.state_dict().items():
        assert torch.equal(tensor, second.model.encoder.state_dict()[name])
    train(frozen, tmp_path / "frozen", resume=True)  # takes the shape of the model from the run
    given["start"] = str(tmp_path / "frozen" / "model")
    train(settings(steps=1, optimiser__rate=1e-9, **given, **QUIET), tmp_path / "again")
    again = load(tmp_path / "again" / "model").model
    assert torch.allclose(again.head.score.weight, second.model.head.score.weight, atol=1e-6)
    with pytest.raises(ConfigError, match=r"model\.width: expected 16 as in .*, found 32; leave it away"):
        train(settings(start=given["start"], model={"width": 32}), tmp_path / "other")
    with pytest.raises(ConfigError, match=r"start: expected a model that reads the same tokens.*data\.ambiguity=keep"):
        train(settings(**given, data__ambiguity="N"), tmp_path / "other")


def test_a_step_without_targets_moves_nothing(settings, tmp_path):
    """Two records, one of N alone, a step each: weight decay would show."""
    (tmp_path / "x.fa").write_text(">a\nACGTACGT\n>b\nNNNNNNNN\n>c\nACGTACG\n")
    (tmp_path / "l.tsv").write_text("id\tlabel\na\t1\nb\t2\nc\t3\n")
    config = settings(
        "regress", inputs=[str(tmp_path / "x.fa")], labels__file=str(tmp_path / "l.tsv"), labels__column=None,
        steps=3, batch=8, data__window=8, data__carry=1, checkpoint__every=1, labels__held_out=0.0,
        optimiser__warmup=0.0, optimiser__weight_decay=0.5,
    )  # fmt: skip
    train(config, tmp_path / "run")
    saved = [
        (tmp_path / "run" / "checkpoints" / f"step-0000000{i}" / "model.safetensors").read_bytes() for i in (1, 2, 3)
    ]
    losses = [line["loss"] for line in lines(tmp_path / "run")]
    assert losses.count(0.0) == 1
    still = losses.index(0.0)
    if still:
        assert saved[still] == saved[still - 1]
    assert len(set(saved)) == (2 if still else 3)


@pytest.mark.parametrize(("weights_", "wanted"), [("equal", 1.0), ("balanced", 2.0)])
def test_rare_classes_may_weigh_more(settings, tmp_path, weights_, wanted):
    """12 of one class and 4 of the other: 16 / (2 · 4) for the rare one."""
    (tmp_path / "x.fa").write_text("".join(f">r{i}\nACGTAC\n" for i in range(16)))
    (tmp_path / "l.tsv").write_text(
        "id\tlabel\n" + "".join(f"r{i}\t{'rare' if i < 4 else 'usual'}\n" for i in range(16))
    )
    config = settings(
        inputs=[str(tmp_path / "x.fa")], labels__file=str(tmp_path / "l.tsv"), labels__column=None,
        labels__weights=weights_, labels__held_out=0.0,
    )  # fmt: skip
    task = make(config, prepare(config.inputs, tmp_path / "data", DnaTokenizer()))
    batch = task.train.batch(range(16), 0)
    assert batch.weight[batch.targets == 0] == pytest.approx([wanted] * 4)
    assert batch.weight.sum() == pytest.approx(16)


@pytest.mark.parametrize(
    ("task", "alike"), [("classify", ", of each class alike"), ("multilabel", ""), ("regress", "")]
)
def test_only_classes_are_held_out_alike(settings, tmp_path, task, alike):
    config = settings(task)
    made = make(config, prepare(config.inputs, tmp_path / "data", DnaTokenizer()))
    assert made.rule == f"{made.held_out.passages} of 48 records{alike}"


def test_groups_and_too_little(settings, folder, tmp_path):
    plans = []
    grouped = settings(labels__group="genus", steps=1, **QUIET)
    train(grouped, tmp_path / "run", announce=plans.append)
    assert "groups: g" in plans[0].held_out and plans[0].data.startswith("42 records of 3 classes")
    train(settings(labels__held_out=0.0, steps=1, **QUIET), tmp_path / "all", announce=plans.append)
    assert any("nothing is held out (labels.held_out)" in note for note in plans[1].notes)
    with pytest.raises(InputError, match=r"nowhere\.tsv"):
        train(settings(labels__file="nowhere.tsv"), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_end_of_a_single_record_is_held_out(settings, tmp_path):
    """Labels from the very file that holds the letters."""
    letters = np.random.default_rng(0).choice(list("acgt"), 200)
    rows = "".join(f"{i + 1:>9} {''.join(letters[i : i + 60])}\n" for i in range(0, 200, 60))
    places = ("CDS             11..50", "CDS             complement(join(81..120,171..190))", "tRNA            5..9")
    features = "".join(f"     {place}\n" for place in places)
    (tmp_path / "g.gb").write_text(
        f"LOCUS       G 200 bp DNA\nFEATURES             Location/Qualifiers\n{features}ORIGIN\n{rows}//\n"
    )
    file, plans = str(tmp_path / "g.gb"), []
    config = settings(
        "annotate", inputs=[file], labels__file=file, labels__classes=["CDS"], labels__strands=True, steps=1, **QUIET
    )
    outcome = train(config, tmp_path / "run", announce=plans.append)
    assert plans[0].held_out == "the last 20% of the record, 40 bases"
    assert plans[0].data == "160 bases of 3 classes (background 50.0%, CDS+ 25.0%, CDS- 25.0%)"
    assert outcome.figures["bases"] == 40 and outcome.figures["null_accuracy"] == 0.5


def test_what_classes_come_to_without_a_model_and_how_far_it_can_be_believed(settings, tmp_path):
    """k-mers and GC alone beside the model, on the records held out; the fit to those goes with the model."""
    outcome = train(settings(steps=2, **QUIET), tmp_path / "run")
    figures = outcome.figures
    assert figures["kmer_accuracy"] >= 0.8 and figures["gc_accuracy"] >= 0.8
    assert f"4-mers {figures['kmer_macro_f1']:.4f}" in outcome.held_out and "GC alone" in outcome.held_out
    found = load(tmp_path / "run" / "model")
    calibration = read_calibration(found.path, found.sha256)
    assert calibration.temperature == figures["temperature"] and calibration.records == figures["records"]
    assert calibration.in_range_above == figures["in_range_above"]
    assert calibration.nats == figures["calibrated_nats"] and calibration.error == figures["calibrated_error"]
    again = train(settings("regress", steps=2, **QUIET), tmp_path / "run", force=True)
    assert "kmer_accuracy" not in again.figures and not (tmp_path / "run" / "model" / "calibration.json").exists()
