"""Shared by tests of variants: a model, and rows with the reference they speak of."""

import pytest
import torch
from variant_rows import CHROMOSOME, HEAD, PLASMID

from longseq.model import LanguageModel, ModelConfig, save
from longseq.tasks.summarize.model import load_model
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    model = LanguageModel(ModelConfig(width=16, heads=2, layers=1))
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(3))
    save(folder / "m", model, DnaTokenizer())
    return folder / "m"


@pytest.fixture(scope="module")
def model(folder):
    return load_model(str(folder))


@pytest.fixture
def files(tmp_path):
    """Writes rows and the reference they speak of."""
    reference = tmp_path / "ref.fa"
    reference.write_text(f">gi|7|ref|NC_000001.1| x\n{CHROMOSOME}\n>p\n{PLASMID.lower()}\n")

    def write(*rows, head=HEAD):
        table = tmp_path / "in.vcf"
        table.write_text(head + "".join(line + "\n" for line in rows))
        return str(table), str(reference)

    return write
