"""`longseq annotate --resume`: a run that was killed or stopped ends with the files of one that never was."""

import json
import random
import re

import pytest
import torch

from longseq.cli import main
from longseq.model import HeadConfig, ModelConfig, TokenModel, save
from longseq.tasks.annotate.frames import CLASSES
from longseq.tasks.annotate.work import Work
from longseq.tokens import DnaTokenizer

KINDS = {"intervals": ("none", "x+", "x-"), "genes": ("background", *CLASSES)}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, labels in KINDS.items():
        torch.manual_seed(1)
        config = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2)
        model = TokenModel(config, HeadConfig(task="annotate", outputs=len(labels)), labels)
        with torch.no_grad():
            model.head.weight.mul_(10)
        save(folder / name, model, DnaTokenizer(), labels=labels)
    return folder


@pytest.fixture
def fasta(tmp_path):
    """Short and long, one that cannot be read, one without letters, one that closes on itself."""
    texts = ["".join(random.Random(i).choices("ACGTacgtN", k=n)) for i, n in enumerate((90, 900, 12, 0, 700, 300))]
    texts[2] = "AC!T"
    heads = ["r0", "r1", "r2", "r3", "r4 circular=true", "r5"]
    path = tmp_path / "x.fa"
    path.write_text("".join(f">{head}\n{text}\n" for head, text in zip(heads, texts, strict=True)))
    return path


@pytest.fixture
def run(models, fasta, capsys):
    def call(kind, out, *more):
        given = ["annotate", str(fasta), "--model", str(models / kind), "--out", str(out), "--chunk", "64"]
        code = main([*given, *(["--genes"] if kind == "genes" else []), *more])
        return code, *capsys.readouterr()

    return call


def contents(folder):
    """Bytes of each file; of the JSON what it says, but for the run that made it."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (name,) = [name for name in found if name.endswith(".json")]
    facts = json.loads(found[name])
    return found | {name: {key: value for key, value in facts.items() if key != "run"}}


class KilledError(BaseException):
    """In the place of a SIGKILL."""


@pytest.fixture
def until(monkeypatch):
    """`until(records, act)` calls `act(work)` once so many records are over, in the midst of the next one."""

    def plan(records, act):
        def planted(work):
            if len(work.rows) >= records:
                act(work)
            give_way(work)

        monkeypatch.setattr(Work, "give_way", planted)

    give_way = Work.give_way
    yield plan
    monkeypatch.undo()


def killed(work):
    with open(work._path, "ab") as file:  # what a killed run may leave
        file.write(b'["half a l')
    work.close = lambda *, keep: work._folder.release()
    raise KilledError


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_run_goes_on_to_the_same_bytes(run, until, tmp_path, kind, monkeypatch):
    whole, out = tmp_path / "whole", tmp_path / "out"
    code, _, err = run(kind, whole)
    assert code == 3 and "found '!'" in err
    for records in (1, 3, 4):
        until(records, killed)
        with pytest.raises(KilledError):
            run(kind, out, "--resume")
        assert not out.exists() and (tmp_path / ".out.partial" / "rows.jsonl").exists()
    monkeypatch.undo()
    code, said, err = run(kind, out)
    assert code == 2 and "holds a run that was stopped; --resume goes on with it, --force starts it anew" in err
    for other in (["--on-unknown", "N"], ["--chunk", "128"], ["--region", "r1"]):
        code, _, err = run(kind, out, "--resume", *other)
        assert code == 1 and "with which the run began" in err
    option = {"genes": "min-gene", "intervals": "min-length"}[kind]
    code, _, err = run(kind, out, "--resume", f"--{option}", "77")
    assert code == 1 and f"expected {option.replace('-', '_')} " in err
    code, said, err = run(kind, out, "--resume")
    assert code == 3 and err.count("found '!'") == 1 and "5 records, 1,990 bases" in said
    assert contents(out) == contents(whole)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_signal_saves_and_says_how_to_go_on(run, until, tmp_path, monkeypatch):
    def stop(work):
        work._stop.name = "SIGTERM"

    until(2, stop)
    code, out, err = run("intervals", tmp_path / "out")
    assert (code, out) == (85, "") and not (tmp_path / "out").exists()
    assert re.search(r"stopped by SIGTERM after 4 records; what was done is saved; --resume goes on\n$", err)
    monkeypatch.undo()
    assert run("intervals", tmp_path / "out", "--resume")[0] == 3
    assert run("intervals", tmp_path / "whole")[0] == 3
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_run_that_is_done_says_so_and_others_are_refused(run, tmp_path, models):
    out = tmp_path / "out"
    assert run("intervals", out, "--resume")[0] == 3
    assert run("intervals", out, "--resume") == (0, f"{out}: is done already\n", "")
    code, _, err = run("intervals", out, "--resume", "--threshold", "0.9")
    assert code == 2 and "exists already, made with threshold 0.0 instead of 0.9" in err
    code, _, err = run("intervals", out, "--resume", "--force")
    assert code == 2 and "--resume and --force exclude each other" in err
    code, _, err = run("intervals", tmp_path / "no" / "out")
    assert code == 2 and "its directory does not exist" in err
    assert main(["annotate", "-", "--model", str(models / "intervals"), "--out", str(out), "--resume"]) == 2


def test_what_is_not_ours_is_left_alone(run, tmp_path):
    partial = tmp_path / ".out.partial"
    partial.mkdir()
    (partial / "mine.txt").write_text("mine")
    code, _, err = run("intervals", tmp_path / "out")
    assert code == 2 and "holds 'mine.txt', which no run of annotate wrote there" in err
    assert (partial / "mine.txt").read_text() == "mine"
