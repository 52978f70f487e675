"""Nothing is held after work that was not held before: objects, open files, threads, child processes, mapped files."""

import gc
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest
import torch

import longseq
from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, TokenModel, load, save
from longseq.streaming import surprisal
from longseq.tokens import DnaTokenizer

RECIPES = Path(__file__).parents[2] / "pipelines" / "benchmarks"
TIMES = 8
"""Of each work; the first three are to wake what is kept for good."""
KEPT = 8 / 1024
"""MiB a time that come and go."""
WORDS = ("score", "annotate", "embed", "classify", "summarize", "a document", "info")


@pytest.fixture
def held(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(RECIPES)])
    import leaks

    return leaks.held


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Models, a sequence of some chunks, and a document."""
    folder, config, labels = tmp_path_factory.mktemp("held"), ModelConfig(width=16, layers=1, heads=1), ("none", "x")
    torch.manual_seed(0)
    save(folder / "dna", LanguageModel(config), DnaTokenizer())
    save(folder / "bases", TokenModel(config, HeadConfig(task="annotate", outputs=2), labels), DnaTokenizer())
    save(folder / "records", RecordModel(config, HeadConfig(task="classify", outputs=2), labels), DnaTokenizer())
    (folder / "x.fa").write_text(">r\n" + "ACGTTGCAAC" * 600 + "\n")
    (folder / "t.md").write_text(
        "# Log\n\n" + "The tide was out. A lamp burned in the lighthouse all night. " * 40 + "\n"
    )
    return folder


def works(place, run):
    """By name, something to do."""
    dna = ("--model", place / "dna", "--chunk", "1024")
    force = ("--out", place / "out", "--force")
    return {
        "score": lambda: run("score", place / "x.fa", *dna, "--track", *force),
        "annotate": lambda: run("annotate", place / "x.fa", "--model", place / "bases", *force),
        "embed": lambda: run("embed", place / "x.fa", *dna, "--window", 500, "--out", place / "v.parquet", "--force"),
        "classify": lambda: run("classify", place / "x.fa", "--model", place / "records", *force),
        "summarize": lambda: run("summarize", place / "x.fa", *dna, *force),
        "a document": lambda: run("summarize", place / "t.md", *force),
        "info": lambda: run("info", place / "x.fa"),
    }


@pytest.fixture
def run(capsys):
    from longseq.cli import main

    def call(*words):
        assert main([*map(str, words), *(() if words[0] == "info" else ("-q",))]) == 0
        capsys.readouterr()

    return call


def require_nothing_held(work, held):
    """Raise where each time leaves something; what is handed out has some ups and downs, all else has none."""
    for _ in range(3):
        work()
    gc.collect()
    gc.freeze()  # what is there need not be looked at each time
    try:
        found = [held()]
        for _ in range(TIMES - 3):
            work()
            found.append(held())
    finally:
        gc.unfreeze()
    for name in ("handles", "threads", "children", "mapped"):
        assert getattr(found[-1], name) == getattr(found[0], name), name
    for name, most in (("objects", 1), ("in_use_mb", KEPT)):  # one is the look itself
        grown = [after - before for after, before in pairwise(getattr(one, name) or 0 for one in reversed(found))]
        assert min(grown) <= most, f"{name}: {grown}"


@pytest.mark.parametrize("name", [*WORDS[-3:], *(pytest.param(one, marks=pytest.mark.slow) for one in WORDS[:-3])])
def test_a_command_leaves_nothing(name, place, run, held):
    require_nothing_held(works(place, run)[name], held)


def test_readers_and_streams_leave_nothing(place, held):
    checkpoint = load(place / "dna")
    letters = b"ACGTTGCAAC" * 300

    def work():
        reader = longseq.Surprisal(checkpoint, chunk=512)()
        assert len(reader.push(letters)) + len(reader.finish()) == len(letters)
        assert sum(len(hidden) for *_, hidden in longseq.stream(checkpoint, letters, chunk=512)) == len(letters)
        next(iter(longseq.stream(checkpoint, letters, chunk=512)))  # left half way

    require_nothing_held(work, held)


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        (lambda place: [], "objects"),
        (lambda place: bytes(1 << 14), "in_use_mb"),
        (lambda place: open(place / "x.fa"), "handles"),  # noqa: SIM115 - that is the leak
        (lambda place: threading.Timer(30, print), "threads"),
    ],
    ids=["objects", "bytes", "files", "threads"],
)
def test_what_is_planted_is_found(planted, found, place, held, monkeypatch):
    kept, step = [], surprisal.Surprisal.step
    reader = longseq.Surprisal(load(place / "dna"), chunk=512)

    def leaking(self, ids, state):
        kept.append(planted(place))
        if hasattr(kept[-1], "start"):
            kept[-1].start()
        return step(self, ids, state)

    monkeypatch.setattr(surprisal.Surprisal, "step", leaking)
    try:
        with pytest.raises(AssertionError, match=found):
            require_nothing_held(lambda: reader().push(b"ACGTTGCAAC" * 900), held)
    finally:
        for one in kept:
            for end in ("close", "cancel"):
                getattr(one, end, bool)()


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_twenty_million_tokens_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(RECIPES)])
    import long_cases
    import long_runs

    for name in long_cases.LONG:
        folder = tmp_path / name.replace(" ", "_")
        folder.mkdir()
        found = long_runs.run(name, long_runs.STEPS[1] if name == "train" else 20_000_000)
        added = found["added"]
        print(name, added, found["warm_up_peak_mb"], found["peak_mb"])
        assert {added[what] for what in ("handles", "threads", "children", "mapped")} == {0}, name
        assert added["objects"] < 5_000 and added["in_use_mb"] < 4 and added["rss_mb"] < 32, name
