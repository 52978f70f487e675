"""From a table of pairs to answers, as a person calls it."""

import json

import pytest

from longseq.cli import main


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    things = ["sea", "house", "lamp", "rock", "tide", "boat"]
    rows = [f"{colour} {thing},{thing}" for colour in ("red", "blue", "old", "far", "lit") for thing in things]
    (folder / "pairs.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    settings = {"model.width": 16, "model.layers": 1, "pairs.unit": "words", "steps": 60, "batch": 80}
    settings |= {"data.window": 8, "optimiser.rate": 1e-2}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words += ["--device", "cpu", "--threads", "1", "-q"]
    assert main(["train", str(folder / "pairs.csv"), "--task", "seq2seq", "--out", str(folder / "run"), *words]) == 0
    return folder / "run" / "model"


@pytest.fixture
def ask(model, capsys):
    def call(*words):
        capsys.readouterr()
        code = main(["generate", "--model", str(model), *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_a_source_is_answered(ask):
    assert ask("--prompt", "old boat") == (0, "boat\n", "")
    code, out, _ = ask("--prompt", "red  lamp", "--json")
    found = json.loads(out)
    assert code == 0 and (found["text"], found["ended"], len(found["ids"])) == ("lamp", True, 2)


def test_each_line_of_a_file_is_answered(ask, tmp_path):
    file = tmp_path / "sources.txt"
    file.write_text("old boat\nlit sea\nfar rock\n")
    assert ask("--prompt-file", file) == (0, "boat\nsea\nrock\n", "")
    for words in (["--json"], ["--save-state", tmp_path / "s"]):
        code, _, err = ask("--prompt-file", file, *words)
        assert code == 2 and "take one source" in err
    file.write_text("old boat\n\nlit sea\n")
    code, out, err = ask("--prompt-file", file)
    assert (code, out) == (1, "") and "sources.txt:2: expected a source on each line" in err


def test_an_answer_goes_on_from_its_state(ask, tmp_path):
    state = tmp_path / "s"
    assert ask("--prompt", "old boat", "--length", 0, "--save-state", state)[:2] == (0, "\n")
    assert ask("--state", state) == (0, "boat\n", "")


def test_what_cannot_be_answered_is_said(ask):
    code, out, err = ask("--prompt", "old ship")
    assert (code, out) == (1, "") and "prompt: expected what the model has learned, found 'ship'" in err
    code, _, err = ask()
    assert code == 2 and "nothing is asked; give a source" in err
