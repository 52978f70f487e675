"""`longseq convert` to a linear model: what it says, and what it says of what cannot be."""

import itertools
import json
import re
import time

import pytest
from transfer import write_teacher, write_texts

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.model.headed import VectorModel
from longseq.tokens.word_pieces import word_pieces

FEW = [
    *("--threads", "1"),
    *(part for key, value in {
        "transfer.steps": 4, "transfer.batch": 64, "distil.steps": 4, "distil.batch": 64, "texts.held_out": 0.2
    }.items() for part in ("--set", f"{key}={value}")),
]  # fmt: skip


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    return write_teacher(folder / "bert"), write_texts(folder / "texts.jsonl")


@pytest.fixture
def convert(given, tmp_path, capsys):
    def call(*options, model=None, texts=(given[1],), out="out"):
        named = [part for name in texts for part in ("--texts", str(name))]
        code = main(["convert", str(model or given[0]), "--out", str(tmp_path / out), *named, *map(str, options)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def timeless(said):
    """Without the seconds that a stage took, those of looking at what stands included."""
    return re.sub(r" tokens in [^;]+;", " tokens;", said)


def test_it_says_what_each_stage_came_to(convert, tmp_path, capsys):
    asked = [*FEW, "--map", "hedgehog", "--window", 4, "--segment", 10]
    code, out, err = convert(*asked)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].endswith(
        " parameters, hedgehog in place of the softmax, softmax in windows of 4 tokens; reads segments of 10 tokens, "
        "[CLS] and [SEP] included"
    )
    assert [line.partition(":")[0] for line in lines[1:]] == ["left out", "swap", "transfer", "distil"]
    for line in lines[2:]:
        assert "cosine to the teacher 0." in line and len(line.partition("attention errors ")[2].split()) == 2
    assert lines[3].startswith("transfer: 4 steps, ")
    assert "transfer: model: 292 of 5," in err and "distil: run: 4 steps of " in err
    assert main(["info", str(tmp_path / "out"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["config"]["pattern"] == ["linear"] and facts["config"]["softmax_window"] == 4
    assert main(["check", str(tmp_path / "out"), "--length", "64", "--json"]) == 0
    assert all(law["ok"] for law in json.loads(capsys.readouterr().out)["laws"])
    code, _, err = convert(*asked)
    assert code == 2 and "holds a conversion already; --resume goes on with it, --force starts it anew" in err
    code, again, _ = convert(*asked, "--resume", "-q")
    assert code == 0 and timeless(again) == timeless(out)
    assert convert(*FEW, "--force", "-q", "--map", "exp")[0] == 0


def test_weights_are_swapped_without_texts(convert):
    code, out, _ = convert("--set", "transfer.steps=0", "--set", "distil.steps=0", texts=())
    assert code == 0 and len(out.splitlines()) == 2


def test_minutes_end_it(convert, tmp_path, monkeypatch):
    """On a clock that goes on by 200 ms whenever it is looked at."""
    clock = itertools.count(0, 0.2)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    small = {"transfer.share": 0.5, "transfer.batch": 64, "distil.batch": 64, "texts.held_out": 0}
    settings = [part for key, value in small.items() for part in ("--set", f"{key}={value}")]
    code, out, err = convert(*FEW[:2], "--minutes", 0.3, *settings)
    assert code == 0 and out.splitlines()[-1].endswith("nothing held out"), err
    assert (tmp_path / "out" / "training" / "distil" / "metrics.jsonl").read_text().count("\n") > 1


@pytest.mark.parametrize(
    ("options", "texts", "problem"),
    [
        ([], (), "texts: expected files or folders with texts to learn from, found none"),
        (["--map", "gauss"], None, "map: expected one of elu+1, relu"),
        (["--window", "99"], None, "model.softmax_window: expected 0 to model.segment (12) tokens, found 99"),
        (["--minutes", "0"], None, "minutes: expected above 0 and finite, found 0.0"),
        (["--resume", "--force"], None, "--resume and --force exclude each other"),
        (["--keep-softmax"], None, "--texts cannot be combined with --keep-softmax"),
        (["--keep-softmax", "--minutes", "3"], (), "--minutes cannot be combined with --keep-softmax"),
        (["--device", "tpu"], None, "device: expected auto, cpu, cuda or cuda:N"),
        (["--precision", "fp8"], None, "'fp8' is not one of"),
        *(
            (["--set", f"{key}={value}"], None, f"{key}: expected ")
            for key, value in {
                "texts.sentences": 1.5,
                "texts.held_out": 1,
                "texts.scored": 0,
                "texts.every": -1,
                "texts.seed": -1,
                "texts.column": "''",
                "transfer.steps": -1,
                "transfer.share": 1,
                "transfer.batch": 1,
                "transfer.rate": 0,
                "transfer.weights": -1,
                "distil.steps": -1,
                "distil.batch": 0,
                "distil.rate": "inf",
                "distil.rank": -1,
                "distil.alpha": 0,
                "distil.faster": 0,
                "distil.hidden": -1,
                "distil.pooled": -1,
                "distil.layers": "inf",
                "save_every": -1,
                "accumulate": 0,
            }.items()
        ),
        (["--set", "transfer.nothing=1"], None, "transfer.nothing: unknown key"),
        (
            ["--set", "distil.hidden=0", "--set", "distil.pooled=0", "--set", "distil.layers=0"],
            None,
            "distil.hidden: expected above 0 where distil.pooled and distil.layers are 0",
        ),
    ],
)
def test_requests_that_cannot_be(convert, given, tmp_path, options, texts, problem):
    code, out, err = convert(*options, texts=(given[1],) if texts is None else texts)
    assert (code, out) == (2, "") and problem in err
    assert not (tmp_path / "out").exists()


def test_texts_that_cannot_be_read(convert, tmp_path):
    code, _, err = convert(texts=(tmp_path / "nowhere",))
    assert code == 1 and "nowhere" in err and err.count("\n") == 1
    code, _, err = convert("--exclude", tmp_path / "nowhere")
    assert code == 1 and "nowhere" in err and err.count("\n") == 1
    (tmp_path / "dna.fa").write_text(">chr1\n" + "ACGT" * 40 + "\n")
    code, _, err = convert(texts=(tmp_path / "dna.fa",))
    assert code == 1 and "expected documents" in err
    assert not (tmp_path / "out").exists()


def test_teachers_that_have_no_linear_form(convert, given, tmp_path):
    tokenizer = word_pieces(given[0] / "vocab.txt")
    shape = {"vocabulary": 25, "width": 16, "layers": 1, "pattern": ("softmax",)}
    save(tmp_path / "language", LanguageModel(ModelConfig(**shape)), tokenizer)
    code, _, err = convert(model=tmp_path / "language")
    assert code == 1 and "expected a model to give vectors of documents" in err
    save(tmp_path / "causal", VectorModel(ModelConfig(**shape)), tokenizer)
    code, _, err = convert(model=tmp_path / "causal")
    assert code == 2 and "expected softmax mixers that read each segment by itself, both ways" in err
    within = {"visibility": "segment", "segment": 8, "across": False}
    save(tmp_path / "rotary", VectorModel(ModelConfig(**shape, **within)), tokenizer)
    code, _, err = convert(model=tmp_path / "rotary")
    assert code == 2 and "rotary.positions: expected 'learned' or 'none', found 'rotary'" in err
    assert not (tmp_path / "out").exists()
