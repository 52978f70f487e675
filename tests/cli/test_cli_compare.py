"""`longseq compare`, small: what it leaves, that a stopped run goes on, and what it refuses."""

import json

import numpy as np
import pytest

from longseq.cli import main
from longseq.config import load
from longseq.errors import InputError, StateError
from longseq.log import NullProgress
from longseq.tasks.compare.config import CompareConfig
from longseq.tasks.compare.run import TRIAL, compare
from longseq.tasks.working import beside

SETTINGS = (
    'models=["rnn","linear"]',
    "width=16",
    "heads=2",
    "layers=1",
    "lengths=[8,32]",
    "reach.farthest=8",
    "jobs=1",
    "reach.examples=2",
    "addition.digits=1",
    "addition.steps=4",
    "addition.batch=8",
    "bases.steps=3",
    "bases.window=32",
    "bases.scored=64",
)


class Stops(NullProgress):
    """Like Ctrl-C, once one part is done."""

    def advance(self, amount, *, total=None, **facts):
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def genome(tmp_path_factory):
    path = tmp_path_factory.mktemp("genome") / "toy.fa"
    letters = np.random.default_rng(0).choice(list("ACGT"), 3000, p=[0.4, 0.3, 0.2, 0.1])
    path.write_text(f">toy\n{''.join(letters)}\n")
    return path


@pytest.fixture(scope="module")
def done(genome, tmp_path_factory):
    """A run that was stopped after one of its lessons, and the same command again."""
    out = tmp_path_factory.mktemp("compare") / "story"
    config = load(CompareConfig, None, [*SETTINGS, f'inputs=["{genome}"]'])
    with pytest.raises(KeyboardInterrupt):
        compare(config, folder=beside(out), progress=Stops())
    (kept,) = beside(out).glob("*-*.json")
    first = json.loads(kept.read_text())["learned"]
    given = [f"--set={setting}" for setting in SETTINGS]
    assert main(["compare", str(genome), *given, "--out", str(out), "--plots", "svg", "-q"]) == 0
    return out, first, given


def test_json_page_and_pictures(done):
    out, _, _ = done
    found = json.loads((out / "compare.json").read_text())
    assert found["schema"] == "longseq.compare/1" and found["config"]["steps"] == {"addition": 4, "bases": 3}
    assert [one["model"] for one in found["models"]] == ["rnn", "linear"]
    for model in found["models"]:
        assert [(one["task"], one["steps"], one["curve"][-1]["step"]) for one in model["learned"]] == [
            ("addition", 4, 4),
            ("bases", 3, 3),
        ]
        assert [row["length"] for row in model["cost"]] == [8, 32]
        assert all(len(one["reach"]["trained"]) == len(one["reach"]["distances"]) == 6 for one in model["learned"])
    page = (out / "compare.html").read_text()
    assert all(f'id="{place}"' in page for place in ("gradients", "costs", "learning-addition", "learning-bases"))
    names = {"costs", *(f"{what}_{task}" for what in ("learning", "gradients") for task in ("addition", "bases"))}
    assert {path.name for path in (out / "plots").iterdir()} == {f"{name}.svg" for name in names}


def test_what_was_done_before_a_stop_is_taken_up(done):
    out, first, _ = done
    found = json.loads((out / "compare.json").read_text())
    again = [one for model in found["models"] for one in model["learned"]]
    (same,) = [one for one in again if (one["model"], one["task"]) == (first["model"], first["task"])]
    assert {name: same[name] for name in first} == first  # to the seconds that it took
    assert not beside(out).exists()


def test_bits_and_shares_beside_frequencies(done):
    tasks = {task["name"]: task for task in json.loads((done[0] / "compare.json").read_text())["tasks"]}
    p = np.array([0.4, 0.3, 0.2, 0.1])
    strands = (p + p[::-1]) / 2  # both are read
    assert tasks["bases"]["frequency_bits"] == pytest.approx(-(strands * np.log2(strands)).sum(), abs=0.06)
    assert tasks["addition"]["held_out"] == "10 of 100 pairs"


def test_what_it_refuses(done, genome, tmp_path, capsys):
    out, _, given = done
    line = ["compare", str(genome), *given]
    for more, words in (
        (["--out", str(out)], "exists already"),
        (["--quick", "--minutes", "3"], "exclude each other"),
        (["--plots", "png"], "--out"),
        (["--models", "rnn,gpt"], "models"),
    ):
        assert main([*line, *more]) == 2
        assert words in capsys.readouterr().err


def test_steps_by_the_clock_are_kept_and_other_settings_are_no_way_to_go_on(tmp_path, capsys):
    """No time is left after the trial of a step: there are as few steps as there may be."""
    out = tmp_path / "story"
    own = [*(s for s in SETTINGS if not s.startswith("addition.steps")), "minutes=0.001", 'tasks=["addition"]']
    with pytest.raises(KeyboardInterrupt):
        compare(load(CompareConfig, None, [*own, 'models=["rnn"]']), folder=beside(out), progress=Stops())
    assert json.loads((beside(out) / "steps.json").read_text()) == {"addition": TRIAL}
    line = ["compare", *(f"--set={setting}" for setting in own), "--models", "gru"]
    assert main([*line, "--out", str(out)]) == 1
    assert "models" in capsys.readouterr().err


def test_an_input_that_cannot_be_read_is_refused_before_anything_is_learned(tmp_path):
    folder, own = beside(tmp_path / "story"), [*SETTINGS, f'inputs=["{tmp_path}/missing.fa"]']
    with pytest.raises(InputError, match=r"missing\.fa"):
        compare(load(CompareConfig, None, own), folder=folder)
    assert {path.name for path in folder.iterdir()} == {"run.json", "longseq.lock"}
    for _ in range(2):  # what is refused lets go of the folder
        with pytest.raises(StateError, match="seed"):
            compare(load(CompareConfig, None, [*own, "seed=1"]), folder=folder)
