"""Two processes that share the examples of a step learn from labels as one does, for every task."""

import numpy as np
import pytest
from processes import finish, settings, start
from test_processes import LIMIT, apart

from longseq.config import from_mapping
from longseq.training import TrainConfig, train

TASKS = {
    "classify": {"labels__weights": "balanced", "labels__pooling": "attention", "accumulate": 2},
    "multilabel": {"labels__smoothing": 0.1},
    "regress": {"labels__pooling": "last"},
    "annotate": {"model__visibility": "both", "data__carry": 1},
    "masked": {"model__visibility": "both", "data__carry": 1},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three windows a step, of records of uneven lengths; all runs of two processes in one start."""
    folder, rng = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    letters, table, bed = [], ["id\tclassify\tmultilabel\tregress"], []
    for i in range(14):
        n = int(rng.integers(20, 150))
        letters.append(f">s{i}\n{rng.choice(list(b'ACGT'), n).astype(np.uint8).tobytes().decode()}\n")
        table.append(f"s{i}\t{'xyy'[i % 3]}\t{('p', 'q', 'p;q')[i % 3]}\t{rng.normal():.3f}")
        bed.append(f"s{i}\t3\t{n // 2}\tthing\n")
    (folder / "r.fa").write_text("".join(letters))
    table_file = str(folder / "l.tsv")
    (folder / "l.tsv").write_text("\n".join(table) + "\n")
    (folder / "l.bed").write_text("".join(bed))

    def tree(task, **changes):
        labels = {name.removeprefix("labels__"): changes.pop(name) for name in [*changes] if name.startswith("labels")}
        if task != "masked":
            labels |= {"file": str(folder / "l.bed")} if task == "annotate" else {"file": table_file, "column": task}
        return settings(str(folder / "r.fa"), task=task, labels=labels, steps=8, evaluation__every=4, **changes)

    jobs = [{"settings": tree(task, **changes), "out": str(folder / task)} for task, changes in TASKS.items()]
    return folder, tree, dict(zip(TASKS, zip(*finish(*start(2, jobs, folder)), strict=True), strict=True))


@pytest.mark.parametrize("task", TASKS)
def test_two_processes_are_as_one(runs, tmp_path, task):
    folder, tree, said = runs
    assert said[task] == ("", "")
    alone = TASKS[task] | {"accumulate": 1}
    train(from_mapping(TrainConfig, tree(task, **alone)), tmp_path / "one")
    assert max(apart(folder / task, tmp_path / "one")) <= LIMIT
