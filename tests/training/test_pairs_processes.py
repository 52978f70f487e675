"""Two processes that share the pairs of a step learn as one does, and find the same figures."""

import json

import pytest
from processes import finish, settings, start
from test_processes import LIMIT, apart

from longseq.config import from_mapping
from longseq.training import TrainConfig, train


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three rows a step, of uneven lengths, in parts or not; all runs of two processes in one start."""
    folder = tmp_path_factory.mktemp("runs")
    pairs = [f"{'7' * (i % 5)}{i}\t{i * i}" for i in range(33)]
    (folder / "p.tsv").write_text("\n".join(["source\ttarget", *pairs]) + "\n")

    def tree(pattern, **changes):
        model = {"width": 16, "layers": 2, "heads": 2, "pattern": pattern}
        data = {"window": 20}
        return settings(str(folder / "p.tsv"), task="seq2seq", model=model, data=data, batch=39, steps=12, **changes)

    kinds = {"delta": (["gated", "delta"], {"accumulate": 2}), "lstm": (["lstm", "softmax"], {})}
    jobs = [{"settings": tree(pattern, **more), "out": str(folder / name)} for name, (pattern, more) in kinds.items()]
    said = dict(zip(kinds, zip(*finish(*start(2, jobs, folder)), strict=True), strict=True))
    return folder, {name: tree(pattern) for name, (pattern, _) in kinds.items()}, said


@pytest.mark.parametrize("name", ["delta", "lstm"])
def test_two_processes_are_as_one(runs, tmp_path, name):
    folder, trees, said = runs
    assert said[name] == ("", "")
    outcome = train(from_mapping(TrainConfig, trees[name]), tmp_path / "one")
    assert max(apart(folder / name, tmp_path / "one")) <= LIMIT
    text = (folder / name / "metrics.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in text if "held_out_exact_match" in line][-1]
    for figure, value in outcome.figures.items():
        assert found[f"held_out_{figure}"] == pytest.approx(value, rel=1e-4), figure


@pytest.mark.slow
def test_two_processes_are_as_one_for_long(runs, tmp_path):
    """Two hundred steps, small enough for rounding not to grow from one to the next."""
    _, trees, _ = runs
    long = trees["delta"] | {"steps": 200, "optimiser": {"rate": 1e-4}}
    assert finish(*start(2, [{"settings": long, "out": str(tmp_path / "two")}], tmp_path)) == [[""], [""]]
    train(from_mapping(TrainConfig, long), tmp_path / "one")
    assert max(apart(tmp_path / "two", tmp_path / "one")) <= LIMIT
