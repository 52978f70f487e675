"""Two processes on documents are as one, to rounding."""

import numpy as np
import pytest
from processes import finish, lines, settings, start

from longseq.config import from_mapping
from longseq.records import Record
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig, train


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(0)
    (tmp_path / "docs").mkdir()
    texts = [" ".join(draw.choice(["lamp", "tide", "boat"], draw.integers(5, 120))) for _ in range(30)]
    for i, text in enumerate(texts):
        (tmp_path / "docs" / f"{i:02d}.txt").write_text(text)
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter(texts))
    learn([record], Learning(vocabulary=262)).tokenizer.save(tmp_path / "tokenizer.json")
    return tmp_path


@pytest.mark.slow
def test_two_processes_are_as_one(folder, tmp_path):
    """Rows of one step differ in width between the two; or each holds a slice of every row."""
    common = {
        "steps": 4,
        "evaluation__every": 2,
        "evaluation__tokens": 500,
        "data__tokenizer": str(folder / "tokenizer.json"),
        "data__held_out": 0.2,
    }
    docs = str(folder / "docs")
    ways = {"rows": {}, "time": {"processes__sequence": 2}}
    jobs = [
        {"settings": settings(docs, **common, **changes), "out": str(tmp_path / name)} for name, changes in ways.items()
    ]
    assert finish(*start(2, jobs, tmp_path)) == [["", ""], ["", ""]]
    train(from_mapping(TrainConfig, settings(docs, **common)), tmp_path / "one")
    wanted = lines(tmp_path / "one")
    for name in ways:
        for ours, theirs in zip(lines(tmp_path / name), wanted, strict=True):
            assert ours == pytest.approx(theirs, rel=1e-5)
