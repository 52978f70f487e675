"""Two processes that share the examples of a step learn from labels as one does, for every task, of bases and words."""

import json

import numpy as np
import pytest
from processes import finish, settings, start
from test_processes import LIMIT, apart

from longseq.config import from_mapping
from longseq.records import Record
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig, train

TASKS = {
    "bases": {
        "classify": {"labels__weights": "balanced", "labels__pooling": "attention", "accumulate": 2},
        "multilabel": {"labels__smoothing": 0.1},
        "regress": {"labels__pooling": "last"},
        "annotate": {"model__visibility": "both", "data__carry": 1},
        "masked": {"model__visibility": "both", "data__carry": 1},
    },
    "words": {
        "classify": {"labels__weights": "balanced"},
        "masked": {"model__visibility": "both", "data__carry": 1},
    },
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Three windows a step, of records of uneven lengths."""
    folder, rng = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    letters, table, bed, documents = [], ["id\tclassify\tmultilabel\tregress"], [], []
    for i in range(14):
        n = int(rng.integers(20, 150))
        letters.append(f">s{i}\n{rng.choice(list(b'ACGT'), n).astype(np.uint8).tobytes().decode()}\n")
        table.append(f"s{i}\t{'xyy'[i % 3]}\t{('p', 'q', 'p;q')[i % 3]}\t{rng.normal():.3f}")
        bed.append(f"s{i}\t3\t{n // 2}\tthing\n")
        documents.append(json.dumps({"id": f"s{i}", "text": " ".join(rng.choice(["tide", "lamp", "boats"], n))}) + "\n")
    (folder / "r.fa").write_text("".join(letters))
    table_file = str(folder / "l.tsv")
    (folder / "l.tsv").write_text("\n".join(table) + "\n")
    (folder / "l.bed").write_text("".join(bed))
    (folder / "d.jsonl").write_text("".join(documents))
    text = Record(id="x", kind="document", source="x", index=0, pieces=iter(documents))
    learn([text], Learning(vocabulary=262)).tokenizer.save(folder / "tokenizer.json")

    def tree(unit, task, **changes):
        labels = {name.removeprefix("labels__"): changes.pop(name) for name in [*changes] if name.startswith("labels")}
        if task != "masked":
            labels |= {"file": str(folder / "l.bed")} if task == "annotate" else {"file": table_file, "column": task}
        if unit == "words":
            changes["data__tokenizer"] = str(folder / "tokenizer.json")
        inputs = str(folder / ("d.jsonl" if unit == "words" else "r.fa"))
        return settings(inputs, task=task, labels=labels, **{"steps": 8, "evaluation__every": 4} | changes)

    return folder, tree


@pytest.fixture(scope="module")
def runs(data):
    """All runs of two processes of one unit, in one start."""
    (folder, tree), made = data, {}

    def of(unit):
        if unit not in made:
            tasks = TASKS[unit].items()
            jobs = [{"settings": tree(unit, t, **changes), "out": str(folder / unit / t)} for t, changes in tasks]
            made[unit] = dict(zip(TASKS[unit], zip(*finish(*start(2, jobs, folder)), strict=True), strict=True))
        return made[unit]

    return of


@pytest.mark.parametrize(
    ("unit", "task"),
    [
        pytest.param(unit, task, marks=() if unit == "bases" else pytest.mark.slow)
        for unit, tasks in TASKS.items()
        for task in tasks
    ],
)
def test_two_processes_are_as_one(data, runs, tmp_path, unit, task):
    folder, tree = data
    assert runs(unit)[task] == ("", "")
    alone = TASKS[unit][task] | {"accumulate": 1}
    train(from_mapping(TrainConfig, tree(unit, task, **alone)), tmp_path / "one")
    assert max(apart(folder / unit / task, tmp_path / "one")) <= LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "task"), [(unit, task) for unit, tasks in TASKS.items() for task in tasks])
def test_two_processes_are_as_one_for_long(data, tmp_path, unit, task):
    """Two hundred steps, over the ends of many epochs, small enough for rounding not to grow from one to the next."""
    _, tree = data
    small = {"steps": 200, "evaluation__every": 100, "optimiser__rate": 1e-4}
    long = tree(unit, task, **TASKS[unit][task] | small)
    assert finish(*start(2, [{"settings": long, "out": str(tmp_path / "two")}], tmp_path)) == [[""], [""]]
    train(from_mapping(TrainConfig, long | {"accumulate": 1}), tmp_path / "one")
    assert max(apart(tmp_path / "two", tmp_path / "one")) <= LIMIT
