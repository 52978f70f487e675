"""Shared by tests of `longseq score`: two models, records, a run, and one that was stopped."""

from contextlib import contextmanager

import pytest
from scoring import CHUNK, LENGTHS, letters

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.tasks.score.scorer import Scorer
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for seed in (0, 1):
        model = LanguageModel(ModelConfig(width=16, heads=2, layers=1, seed=seed))
        save(folder / f"m{seed}", model, DnaTokenizer())
    return folder


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.fa"
    path.write_text("".join(f">r{i}\n{letters(n, i)}\n" for i, n in enumerate(LENGTHS)))
    return path


@pytest.fixture
def run(models, capsys):
    def call(*arguments, model="m0"):
        code = main(["score", "--chunk", str(CHUNK), *map(str, arguments), "--model", str(models / model)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def stopping(monkeypatch):
    """`with stopping():` a signal comes once 5,000 tokens of a record were scored."""

    @contextmanager
    def stop():
        take = Scorer._take

        def interrupt(self, scored, sums):
            take(self, scored, sums)
            if self._tokens > 5000:
                self._stop.name = "SIGTERM"

        with monkeypatch.context() as patch:
            patch.setattr(Scorer, "_take", interrupt)
            yield

    return stop


@pytest.fixture
def stopped(run, source, tmp_path, stopping):
    """`stopped(option, …)` leaves a run that was stopped after the second record began."""

    def stop(*options):
        with stopping():
            return run(source, "--out", tmp_path / "out", *options)

    return stop
