"""A conversion that was stopped: what `longseq info` says of it, and what stands where one is to be."""

import json
import shlex

import pytest
from transfer import Stopping, same, weights, write_teacher, write_texts

from longseq.cli import main
from longseq.config import load
from longseq.errors import StoppedError
from longseq.tasks.convert import Settings, Source, linearise

FEW = {
    "map": "hedgehog", "threads": 1, "texts.held_out": 0.2, "save_every": 5, "texts.seed": 3,
    "transfer.steps": 6, "transfer.batch": 64, "distil.steps": 6, "distil.batch": 64, "distil.rate": 2e-3,
}  # fmt: skip


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gi ven")
    (folder / "not.txt").write_text("a bc de\n")
    return write_teacher(folder / "bert"), write_texts(folder / "texts.jsonl"), folder / "not.txt"


def convert(given, out, progress=None):
    tree = FEW | {"inputs": [str(given[1])], "exclude": [str(given[2])]}
    settings = load(Settings, None, [f"{key}={json.dumps(value)}" for key, value in tree.items()])
    return linearise(Source(model=str(given[0]), segment=10), settings, out, progress=progress)


@pytest.fixture(scope="module")
def whole(given, tmp_path_factory):
    """Weights of one that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "out"
    convert(given, out)
    return weights(out)


def info(path, capsys, *options):
    assert main(["info", str(path), *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("nth", "stage"), [(1, "transfer"), (2, "distil")])
def test_it_is_said_what_was_stopped_where_and_how_to_go_on(given, whole, tmp_path, capsys, nth, stage):
    out = tmp_path / "out"
    with pytest.raises(StoppedError):
        convert(given, out, Stopping(4, nth))
    facts = json.loads(info(out, capsys, "--json"))
    assert facts["what"] == "conversion" and facts["stage"] == stage and facts["model"] == str(given[0])
    assert list(facts["stages"]) == ["swap", "transfer"][:nth]
    assert facts["stages"]["swap"].startswith("cosine to the teacher 0.")
    assert (facts["stage_so_far"]["steps"], facts["stage_so_far"]["resumable"]) == (4, True)
    assert facts["stage_so_far"]["asked_for"]["steps"] == 6
    text = info(out, capsys)
    assert f"status        not finished; its stage {stage} is to be done\n" in text and facts["go_on"] in text
    program, *arguments = shlex.split(facts["go_on"])
    assert program == "longseq" and main([*arguments, "--no-report", "-q"]) == 0
    capsys.readouterr()
    assert same(weights(out), whole)
    assert json.loads(info(out, capsys, "--json"))["what"] == "checkpoint"


def test_a_checkpoint_that_is_being_made_anew_says_so(given, tmp_path, capsys):
    main(["convert", str(given[0]), "--keep-softmax", "--out", str(tmp_path / "out")])
    capsys.readouterr()
    assert "conversion" not in json.loads(info(tmp_path / "out", capsys, "--json"))
    (tmp_path / "out" / "training").mkdir()
    (tmp_path / "out" / "training" / "convert.toml").write_text(f'[source]\nmodel = "{given[0]}"\n[settings]\n')
    facts = json.loads(info(tmp_path / "out", capsys, "--json"))
    assert facts["what"] == "checkpoint" and facts["conversion"]["stage"] == "transfer"
    assert facts["conversion"]["stages"] == facts["conversion"]["stage_so_far"] == {}
    (tmp_path / "out" / "training" / "convert.toml").write_text("of = 'another version'\n")
    assert "conversion" not in json.loads(info(tmp_path / "out", capsys, "--json"))


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("beside", [(), ("config.json",)])
def test_a_folder_called_training_that_is_no_conversion_stays(given, tmp_path, capsys, force, beside):
    own = tmp_path / "out" / "training" / "months.txt"
    own.parent.mkdir(parents=True)
    for file in (own, *(tmp_path / "out" / name for name in beside)):
        file.write_text("of work")
    options = ["--force"] if force else []
    asked = ["convert", str(given[0]), "--texts", str(given[1]), "--out", str(tmp_path / "out")]
    assert main([*asked, *options]) == 2
    said = "training: is no conversion's, and would be replaced; move it" if force else "out: exists already"
    assert said in capsys.readouterr().err and own.read_text() == "of work"
