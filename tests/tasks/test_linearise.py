"""Laws of a conversion to a linear model: errors fall, a resume is exact, what should stay stays."""

import json
from pathlib import Path

import pytest
import torch
from transfer import Stopping, same, weights, write_teacher, write_texts

from longseq.config import load
from longseq.errors import ConfigError, OutputExistsError, StoppedError, UsageError
from longseq.model import load as load_model
from longseq.tasks.convert import Settings, Source, linearise

FEW = {
    "threads": 1,
    "texts.every": 6,
    "texts.held_out": 0.2,
    "transfer.steps": 12,
    "transfer.batch": 96,
    "transfer.rate": 0.03,
    "distil.steps": 20,
    "distil.batch": 96,
    "distil.rate": 0.001,
    "save_every": 5,
}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A teacher and texts."""
    folder = tmp_path_factory.mktemp("given")
    return str(write_teacher(folder / "bert")), str(write_texts(folder / "texts.jsonl"))


def settings(given, **changes):
    changes = {key.replace("__", "."): value for key, value in changes.items()}
    tree = {"inputs": [given[1]], **FEW, **changes}
    return load(Settings, None, [f"{key}={json.dumps(value)}" for key, value in tree.items()])


def convert(given, out, **changes):
    options = {name: changes.pop(name) for name in ("resume", "force", "progress") if name in changes}
    return linearise(Source(model=given[0]), settings(given, **changes), out, **options)


@pytest.fixture(scope="module")
def whole(given, tmp_path_factory):
    """A conversion that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "out"
    return out, convert(given, out, window=3)


def lines(out, stage):
    found = [json.loads(line) for line in (out / "training" / stage / "metrics.jsonl").open()]
    return [{k: v for k, v in line.items() if k not in ("seconds", "tokens_per_s", "memory_mib")} for line in found]


def test_errors_fall_stage_by_stage(whole):
    out, made = whole
    swap, transfer, distil = (made.came[name].figures for name in ("swap", "transfer", "distil"))
    for layer in (1, 2):
        assert transfer[f"attention_error_{layer}"] < 0.8 * swap[f"attention_error_{layer}"]
    assert distil["hidden_error"] < transfer["hidden_error"] < swap["hidden_error"]
    told = [line for line in lines(out, "transfer") if "held_out_attention_error_1" in line]
    assert [line["step"] for line in told] == [6, 12]
    assert (
        made.came["transfer"].figures.items()
        >= {name.removeprefix("held_out_"): value for name, value in told[1].items() if name != "step"}.items()
    )
    card = load_model(out).card
    assert "| transfer | 12 steps, " in card and "softmax inside windows of 3 tokens" in card


def test_transfer_trains_maps_and_gains_alone(whole, given, tmp_path):
    convert(given, tmp_path / "swap", window=3, transfer__steps=0, distil__steps=0)
    swapped, moved = weights(tmp_path / "swap"), weights(whole[0] / "training" / "transfer" / "model")
    changed = {name for name in swapped if not torch.equal(swapped[name], moved[name])}
    assert changed == {name for name in swapped if ".map." in name or name.endswith(".gain")} and changed
    last = weights(whole[0])
    assert all(torch.equal(last[name], swapped[name]) == name.endswith(".gate") for name in swapped)
    assert not (tmp_path / "swap" / "training").exists()


@pytest.mark.parametrize("nth", [1, 2])
def test_stopped_and_resumed_it_is_the_same_conversion(whole, given, tmp_path, nth):
    out = tmp_path / "out"
    with pytest.raises(StoppedError, match="all of it is saved; --resume goes on"):
        convert(given, out, window=3, progress=Stopping(7, nth))
    assert not (out / "model.safetensors").exists()
    with pytest.raises(OutputExistsError, match="holds a conversion already; --resume goes on with it"):
        convert(given, out, window=3)
    with pytest.raises(ConfigError, match="window: expected 3, found 4; a resumed conversion keeps it"):
        convert(given, out, window=4, resume=True)
    made = convert(given, out, window=3, resume=True)
    assert same(weights(out), weights(whole[0]))
    for stage in ("transfer", "distil"):
        assert lines(out, stage) == lines(whole[0], stage)
        assert made.came[stage].figures == whole[1].came[stage].figures


def test_adapters_leave_a_plain_model(given, tmp_path):
    """Weights differ from the teacher's by a matrix of low rank; biases, norms and embeddings are the teacher's."""
    convert(given, tmp_path / "out", transfer__steps=0, distil__rank=2, distil__alpha=4)
    convert(given, tmp_path / "swap", transfer__steps=0, distil__steps=0)
    before, after = weights(tmp_path / "swap"), weights(tmp_path / "out")
    assert before.keys() == after.keys()
    for name, weight in after.items():
        change = weight - before[name]
        if ".map." in name:
            assert change.any()
        elif weight.ndim == 2 and "layers" in name:
            assert torch.linalg.matrix_rank(change, rtol=1e-3) == 2
        else:
            assert not change.any()


def test_a_map_without_weights_of_its_own_trains_the_projections(given, tmp_path):
    made = convert(given, tmp_path / "out", map="elu+1", distil__steps=0)
    swap, transfer = (made.came[name].figures["attention_error"] for name in ("swap", "transfer"))
    assert transfer < swap and set(made.came) == {"swap", "transfer"}
    convert(given, tmp_path / "swap", map="elu+1", transfer__steps=0, distil__steps=0)
    before, after = weights(tmp_path / "swap"), weights(tmp_path / "out")
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name in before if ".mixer.project." in name}
    rule = r"transfer\.projections: expected true, or left away, with a map that has no weights, found False"
    with pytest.raises(ConfigError, match=rule):
        convert(given, tmp_path / "none", map="elu+1", transfer__projections=False)


def test_weights_are_learned_in_short_texts(given, tmp_path):
    made = convert(given, tmp_path / "out", transfer__weights=12, distil__steps=0, window=3)
    told = [line["loss"] for line in lines(tmp_path / "out", "transfer") if "loss" in line]
    assert sum(told[-3:]) < sum(told[:3])
    assert made.came["transfer"].figures["attention_error"] < made.came["swap"].figures["attention_error"]


def test_excluded_texts_are_part_of_what_a_conversion_is(given, tmp_path):
    first = json.loads(Path(given[1]).read_text().splitlines()[0])["text"]
    (tmp_path / "out.txt").write_text(first + "\n")
    made = convert(given, tmp_path / "out", exclude=[str(tmp_path / "out.txt")], distil__steps=0)
    kept = json.loads((tmp_path / "out" / "training" / "stages.json").read_text())
    assert kept["transfer"]["figures"] == dict(made.came["transfer"].figures)
    with pytest.raises(ConfigError, match=r"exclude: expected \[.*out.txt'\], found \[\]"):
        convert(given, tmp_path / "out", resume=True, distil__steps=0)


@pytest.mark.parametrize("window", [8, 12])
def test_transfer_reads_texts_longer_than_a_window(given, tmp_path, window):
    """Where none is, it reads all, and the softmax of the teacher stays as it was."""
    made = convert(given, tmp_path / "out", window=window, texts__sentences=0.9, distil__steps=0)
    swap, transfer = (made.came[name].figures["attention_error"] for name in ("swap", "transfer"))
    assert transfer < swap if window < 12 else max(swap, transfer) < 1e-6


def test_maps_alone_are_distilled(given, tmp_path):
    """Beyond windows of 4 tokens the model comes nearer to its teacher; its other weights are the teacher's."""
    asked = {"window": 4, "transfer__steps": 0, "distil__trained": "maps", "distil__rate": 0.01}
    made = convert(given, tmp_path / "out", **asked)
    swap, distil = (made.came[name].figures["hidden_error"] for name in ("swap", "distil"))
    assert distil < 0.9 * swap
    convert(given, tmp_path / "swap", window=4, transfer__steps=0, distil__steps=0)
    swapped, last = weights(tmp_path / "swap"), weights(tmp_path / "out")
    changed = {name for name in swapped if not torch.equal(swapped[name], last[name])}
    assert changed and all(".map." in name or name.endswith(".gain") for name in changed)
    with pytest.raises(ConfigError, match=r"distil\.rank: expected 0 where distil.trained is 'maps', found 2"):
        convert(given, tmp_path / "none", distil__trained="maps", distil__rank=2)
    with pytest.raises(
        ConfigError, match=r"distil\.trained: expected 'all' with a map that has no weights, found 'maps'"
    ):
        convert(given, tmp_path / "none", map="elu+1", distil__trained="maps")
    assert not (tmp_path / "none").exists()  # before the texts were read


def test_a_conversion_runs_in_one_process(given, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="a conversion runs in one process, not in 2; start it without a launcher"):
        convert(given, tmp_path / "out")
