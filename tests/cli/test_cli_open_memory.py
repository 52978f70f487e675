"""`longseq convert STUDENT --open-memory`: what it says, and what it says of what cannot be."""

import json
import re

import pytest
from teachers import bert_tensors, write_bert
from transfer import write_texts

from longseq.cli import main
from longseq.config import load
from longseq.tasks.convert import Settings, Source, linearise

FEW = ["--threads", "1", "--set", "opening.steps=3", "--set", "opening.batch=96", "--set", "texts.held_out=0.2"]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    bert = write_bert(folder / "bert", bert_tensors())
    settings = load(Settings, None, ["transfer.steps=0", "distil.steps=0"])
    linearise(Source(model=str(bert), segment=5), settings, folder / "student")
    return folder / "student", bert, write_texts(folder / "texts.jsonl")


@pytest.fixture
def convert(given, tmp_path, capsys):
    def call(*options, model=None, teacher=True, texts=True):
        named = ["--teacher", given[1]] * teacher + ["--texts", given[2]] * texts
        argv = ["convert", model or given[0], "--open-memory", "--out", tmp_path / "out", *named, *options]
        code = main([str(part) for part in argv])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_it_says_what_the_memory_came_to(convert, given, tmp_path, capsys):
    code, out, err = convert(*FEW)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].endswith("student opened; segments of 5 tokens beside 3 segments in one window of the teacher")
    assert [line.partition(":")[0] for line in lines[1:]] == [
        *("teacher", "closed", "opening"),
        *("gates of layer 1", "gates of layer 2"),
    ]
    assert all("error to the teacher with earlier segments beside " in line for line in lines[1:4])
    assert lines[3].startswith("opening: 3 steps, ") and len(lines[4].partition(": ")[2].split()) == 2
    assert "opening: model: 4 of " in err and "opening: run: 3 steps of " in err
    assert main(["check", str(tmp_path / "out"), "--length", "64", "--json"]) == 0
    assert all(law["ok"] for law in json.loads(capsys.readouterr().out)["laws"])
    code, _, err = convert(*FEW)
    assert code == 2 and "holds a conversion already; --resume goes on with it, --force starts it anew" in err
    code, again, _ = convert(*FEW, "--resume", "-q")
    # Without the seconds that it took, those of looking at what stands included.
    one, other = (re.sub(r" tokens in [^;]+;", " tokens;", told) for told in (out, again))
    assert code == 0 and one == other
    assert main(["convert", str(given[1]), "--out", str(tmp_path / "out"), "--texts", str(given[2])]) == 2


@pytest.mark.parametrize(
    ("options", "left_out", "problem"),
    [
        ([], {"texts": False}, "texts: expected files or folders with long texts to learn from, found none"),
        ([], {"teacher": False}, "the teacher is missing; --teacher MODEL names the one that the model was converted"),
        (["--keep-softmax"], {}, "--keep-softmax cannot be combined with --open-memory"),
        (["--map", "exp"], {}, "--map cannot be combined with --open-memory"),
        (["--segment", "9"], {}, "--segment cannot be combined with --open-memory"),
        (["--resume", "--force"], {}, "--resume and --force exclude each other"),
        (["--minutes", "0"], {}, "minutes: expected above 0 and finite, found 0.0"),
        (["--set", "distil.rate=1"], {}, "distil: unknown key"),
        (["--set", "texts.sentences=1"], {}, "texts.sentences: unknown key"),
        *(
            (["--set", f"opening.{key}={value}"], {}, f"opening.{key}: expected ")
            for key, value in {
                "trained": "some",
                "segments": 1,
                "steps": 0,
                "batch": 1,
                "rate": 0,
                "slower": 0,
                "hidden": -1,
                "pooled": "inf",
            }.items()
        ),
        (
            ["--set", "opening.hidden=0", "--set", "opening.pooled=0"],
            {},
            "opening.hidden: expected above 0 where opening.pooled is 0",
        ),
    ],
)
def test_requests_that_cannot_be(convert, tmp_path, options, left_out, problem):
    code, out, err = convert(*options, **left_out)
    assert (code, out) == (2, "") and problem in err
    assert not (tmp_path / "out").exists()


def test_texts_of_one_segment_teach_nothing(convert, tmp_path):
    (tmp_path / "short.txt").write_text("a b .\n")
    code, _, err = convert(*FEW, "--texts", tmp_path / "short.txt", texts=False)
    assert code == 1 and "texts: expected documents of more than 5 tokens" in err


def test_a_teacher_is_of_an_opening(given, tmp_path, capsys):
    argv = ["convert", given[1], "--out", tmp_path / "out", "--teacher", given[1]]
    assert main([str(part) for part in argv]) == 2
    assert "--teacher is of --open-memory alone; leave it out: MODEL is the teacher" in capsys.readouterr().err
