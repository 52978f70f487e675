"""A genome and models small enough for any test."""

import random

import pytest
import torch

from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, TokenModel, load, save
from longseq.tokens import DnaTokenizer

CLASSES = {"classify": ("poor", "rich"), "annotate": ("none", "exon+", "exon-")}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Folders of models as they are born, by what they do."""
    torch.manual_seed(0)
    folder, config = tmp_path_factory.mktemp("models"), ModelConfig(width=16, layers=1, heads=2)
    heads = {task: HeadConfig(task=task, outputs=len(labels)) for task, labels in CLASSES.items()}
    record = RecordModel(config, heads["classify"], CLASSES["classify"])
    token = TokenModel(config, heads["annotate"], CLASSES["annotate"])
    with torch.no_grad():
        token.head.weight.mul_(10)
    models = {"next": LanguageModel(config), "classify": record, "annotate": token}
    for name, model in models.items():
        save(folder / name, model, DnaTokenizer(), labels=CLASSES.get(name))
    return {name: folder / name for name in models}


@pytest.fixture(scope="session")
def model(made):
    return load(made["next"])


def letters(length, seed=0):
    return "".join(random.Random(seed).choices("ACGT", k=length))


@pytest.fixture(scope="session")
def genome(tmp_path_factory):
    """Two records, with windows and a run of N."""
    path = tmp_path_factory.mktemp("genome") / "x.fa"
    path.write_text(f">one <b>a</b>\n{letters(900)}{'N' * 150}{letters(300, 1)}\n>two\n{letters(80, 2)}\n")
    return path
