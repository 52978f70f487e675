"""The directory of a run: one run at a time writes there, and what is done stays done."""

import pytest
from processes import genome, settings

from longseq.config import from_mapping
from longseq.errors import ConfigError, OutputExistsError
from longseq.training import TrainConfig, train
from longseq.training.rundir import RunDirectory


@pytest.fixture
def config(tmp_path):
    return settings(genome(tmp_path / "genome.fa", 300), steps=2)


def test_two_runs_never_write_to_one_directory(config, tmp_path):
    run = tmp_path / "run"
    with RunDirectory(run) as other:
        other.take()
        with pytest.raises(OutputExistsError, match=r"another run \(process \d+ on .+\) is writing here"):
            train(from_mapping(TrainConfig, config), run)
        assert [p.name for p in run.iterdir()] == ["longseq.lock"]
    assert list(run.iterdir()) == []
    train(from_mapping(TrainConfig, config), run)
    assert not (run / "longseq.lock").exists()


def test_a_lock_that_a_killed_run_left_is_no_hindrance(config, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "longseq.lock").write_text("process 1 on nowhere\n")
    train(from_mapping(TrainConfig, config), run)


def test_what_a_killed_run_left_of_its_outputs_is_removed(config, tmp_path):
    """Killed before its settings had their name, it is no stranger either."""
    run, whole = tmp_path / "run", tmp_path / "whole"
    train(from_mapping(TrainConfig, config), whole)
    for aside in ("data/.0123456789abcdef.a1b2c3d4", "checkpoints/..step-00000002.deadbeef.12345678"):
        (run / aside).mkdir(parents=True)
        (run / aside / "ids.bin").write_bytes(b"half")
        if aside.startswith("data"):
            (run / ".run.9c32b868.toml").write_text("inputs = ")
            (run / "mine.txt").write_text("mine")
            with pytest.raises(OutputExistsError):  # beside what is none of ours nothing is begun
                train(from_mapping(TrainConfig, config), run)
            (run / "mine.txt").unlink()
            train(from_mapping(TrainConfig, config), run)
        else:
            train(from_mapping(TrainConfig, config), run, resume=True)
    assert {p.relative_to(run) for p in run.rglob("*")} == {p.relative_to(whole) for p in whole.rglob("*")}


def test_other_inputs_are_refused_before_they_are_read(config, tmp_path, monkeypatch):
    run = tmp_path / "run"
    train(from_mapping(TrainConfig, config), run)
    kept = {p.relative_to(run): p.read_bytes() for p in run.rglob("*") if p.is_file()}
    other = config | {"inputs": settings(genome(tmp_path / "other.fa", 400))["inputs"]}
    monkeypatch.setattr("longseq.training.store.write", lambda *_: pytest.fail("the inputs were read"))
    with pytest.raises(ConfigError, match="inputs: expected the data the run began with, found other data"):
        train(from_mapping(TrainConfig, other), run, resume=True)
    assert [p.name for p in (run / "data").iterdir()] == [next(k.parts[1] for k in kept if k.parts[0] == "data")]
    assert {p.relative_to(run): p.read_bytes() for p in run.rglob("*") if p.is_file()} == kept


def test_who_did_not_take_the_directory_removes_nothing_there(tmp_path):
    late = RunDirectory(tmp_path / "run")
    with RunDirectory(tmp_path / "run") as other:
        other.take()
        (other.data / "bases").mkdir(parents=True)
        late.tidy()
        assert (other.data / "bases").is_dir()


def test_steps_that_are_done_are_not_taken_back(config, tmp_path):
    run = tmp_path / "run"
    train(from_mapping(TrainConfig, config), run)
    kept = (run / "run.toml").read_text()
    with pytest.raises(ConfigError, match="steps: expected at least the 2 that are done, found 1"):
        train(from_mapping(TrainConfig, config | {"steps": 1}), run, resume=True)
    assert (run / "run.toml").read_text() == kept
