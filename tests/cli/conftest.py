"""Runs of `longseq summarize`, for the files that have no `run` of their own, and what they are run on."""

from pathlib import Path

import pytest

from longseq.cli import main


@pytest.fixture
def run(capsys):
    """`run(argument, …)` is (exit code, stdout, stderr) of `longseq summarize … --no-model`."""

    def call(*arguments, model=("--no-model",)):
        code = main(["summarize", *map(str, [*arguments, *model])])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def make(tmp_path):
    def write(name: str, data: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    import torch

    from longseq.model import LanguageModel, ModelConfig, save
    from longseq.tokens import DnaTokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    save(folder, LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return folder
