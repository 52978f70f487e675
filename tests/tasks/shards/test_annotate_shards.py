"""Shard law of `annotate`: intervals, tracks and genes of shards are those of one process, byte for byte."""

import numpy as np
import pytest
import torch
from whole import Runs, letters

from longseq.model import HeadConfig, ModelConfig, TokenModel, save
from longseq.tasks.annotate.frames import CLASSES
from longseq.tokens import DnaTokenizer

LABELS = ("none", "exon+", "exon-", "loop")
GENES = ("background", *CLASSES)


def saved(folder, labels, **config):
    torch.manual_seed(0)
    made = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2, **config)
    model = TokenModel(made, HeadConfig(task="annotate", outputs=len(labels)), labels)
    with torch.no_grad():
        model.head.weight.mul_(10)
        if labels == GENES:
            model.head.weight.zero_()
            model.head.bias.copy_(torch.tensor([-9.0, 0, 0, 0, 0, 0, 0]))
    save(folder, model, DnaTokenizer(), labels=labels)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        "intervals": saved(folder / "m", LABELS),
        "genes": saved(folder / "g", GENES, visibility="both", period=3),
    }


def gene(seed):
    rng = np.random.default_rng(seed)
    spacer = "TTAATTAATTAA" * 5
    return spacer + "ATG" + "".join(rng.choice(["GAC", "GCC", "GAA", "GGT", "GTC"], 150)) + "TAA" + spacer


@pytest.fixture
def source(tmp_path):
    """Genes; a record that cannot be read, an empty one, and names that stood before in another part of the file."""
    texts = {
        "a": gene(1), "b": gene(2), "bad": "ACGT!", "none": "", "c": letters(9000, 3), "d": gene(4),
        "e": letters(40, 5), "f": gene(6) + "N" * 30 + gene(7),
    }  # fmt: skip
    lines = [f">{name} d\n{text}\n" for name, text in texts.items()]
    path = tmp_path / "x.fa"
    path.write_text("".join([*lines, f">a\n{gene(8)}\n", f">g\n{gene(9)}\n", ">bad\nAC!T\n", f">d\n{gene(8)}\n"]))
    return path


def arguments(what, models):
    return ["--model", models[what], "--chunk", "64", *(["--genes"] if what == "genes" else ["--threshold", "0.3"])]


@pytest.mark.parametrize("what", ["intervals", "genes"])
def test_shards_make_the_folder_of_one_process(models, source, tmp_path, capsys, what):
    runs = Runs(capsys, tmp_path, "annotate", source, *arguments(what, models))
    one = runs.one()
    said = " ".join(one[2])
    assert one[0] == 3 and said.count("found '!'") == 2 and said.count("found a second one") == 2
    assert one[3]["out/annotation.json" if what == "intervals" else "out/genes.json"][what] > 3
    for of in (1, 3, 5):
        assert runs.shards(of) == one


@pytest.mark.parametrize("what", ["intervals", "genes"])
def test_jobs_make_the_folder_of_one_process(models, source, tmp_path, capsys, what):
    runs = Runs(capsys, tmp_path, "annotate", source, *arguments(what, models))
    assert runs.jobs(2) == runs.one()


def test_more_shards_than_records(models, tmp_path, capsys):
    path = tmp_path / "x.fa"
    path.write_text(f">a\n{gene(1)}\n>b\n{gene(2)}\n")
    runs = Runs(capsys, tmp_path, "annotate", path, *arguments("genes", models))
    assert runs.shards(4) == runs.one()
