"""A model small enough for any test."""

import pytest


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    import torch

    from longseq.model import LanguageModel, ModelConfig, load, save
    from longseq.tokens import DnaTokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    save(folder, LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return load(folder)
