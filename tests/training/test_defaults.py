"""Settings that are left open: what they become, and that those which are given stand."""

import tomllib

import pytest
from processes import genome, settings

from longseq.config import from_mapping, load
from longseq.errors import ConfigError
from longseq.training import TrainConfig, defaults, train

LABELLED = ["task=classify", "labels.file=l.tsv"]
FROM = ["start=dna", *LABELLED]


@pytest.mark.parametrize(("given", "longest", "batch", "rate"), [
    ([], 10**6, 16384, 3e-3),
    (["data.window=65536"], 10**6, 65536, 3e-3),  # a window at least
    (["start=dna"], 10**6, 16384, 1e-3),
    (LABELLED, 60, 1024, 3e-3),
    (LABELLED, 300, 4800, 3e-3),
    (LABELLED, 10**6, 8192, 3e-3),
    (["task=annotate", "labels.file=l.bed"], 10**6, 4096, 3e-3),
    (["task=seq2seq"], 100, 1600, 3e-3),
    (FROM, 60, 1024, 1e-3),
    ([*FROM, "freeze=encoder"], 60, 1024, 1e-2),
    ([*FROM, "adapter.rank=4"], 60, 1024, 3e-3),
    ([*FROM, "freeze=encoder", "adapter.rank=4"], 60, 1024, 3e-3),
    ([*FROM, "optimiser.rate=0.5", "batch=61"], 60, 61, 0.5),
])  # fmt: skip
def test_what_is_open_is_settled_by_task_and_start(given, longest, batch, rate):
    config = load(TrainConfig, None, given)
    found = defaults.settled(config, longest, 10**7)
    assert (found.batch, found.optimiser.rate) == (batch, rate)
    assert defaults.settled(found, longest, 10**7) == found
    assert (found.data, found.model, found.labels) == (config.data, config.model, config.labels)


@pytest.mark.parametrize(("tokens", "batch"), [(100, 4096), (200_000, 6250), (10**6, 16384)])
def test_little_data_are_read_in_small_steps(tokens, batch):
    assert defaults.settled(load(TrainConfig, None, []), tokens, tokens).batch == batch


@pytest.mark.parametrize(("task", "per_epoch", "times"), [
    ("next", 10, 1.0),
    ("masked", 10, 1.0),
    ("classify", 10, 20.0),
    ("annotate", 100, 10.0),
    ("regress", 1e4, 3.0),
    ("seq2seq", 100, 10.0),
])  # fmt: skip
def test_labels_are_read_more_than_once(task, per_epoch, times):
    assert defaults.epochs(task, per_epoch) == times


def test_a_step_holds_a_token():
    """Records from labels may be shorter than a window, so a step may be."""
    load(TrainConfig, None, [*LABELLED, "batch=1"])
    with pytest.raises(ConfigError, match=r"batch: expected at least one window \(1 tokens\), found -1"):
        load(TrainConfig, None, [*LABELLED, "batch=-1"])


def test_a_run_keeps_what_was_settled(tmp_path):
    """So that a later version, with other defaults, goes on with it as it was."""
    letters, out = genome(tmp_path / "genome.fa", 300), tmp_path / "run"
    open_ = settings(letters, steps=1, batch=0, data__carry=1)
    plans = []
    train(from_mapping(TrainConfig, open_), out, announce=plans.append)
    kept = tomllib.loads((out / "run.toml").read_text())
    assert (kept["batch"], kept["optimiser"]["rate"], plans[0].batch) == (4096, 3e-3, 4096)
    train(from_mapping(TrainConfig, open_ | {"steps": 2}), out, resume=True)
