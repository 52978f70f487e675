"""Shard law of `annotate`: intervals, tracks and genes of shards are those of one process, byte for byte."""

import numpy as np
import pytest
import torch
from whole import Runs, letters

from longseq.model import HeadConfig, ModelConfig, TokenModel, save
from longseq.model.headed import build
from longseq.records import reverse_complement
from longseq.tasks.annotate.frames import CLASSES
from longseq.tokens import DnaTokenizer

LABELS = ("none", "exon+", "exon-", "loop")
GENES = ("background", *CLASSES)


def of_intervals(folder):
    torch.manual_seed(0)
    config = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2)
    model = TokenModel(config, HeadConfig(task="annotate", outputs=len(LABELS)), LABELS)
    with torch.no_grad():
        model.head.weight.mul_(10)
    save(folder, model, DnaTokenizer(), labels=LABELS)
    return folder


def of_genes(folder):
    """Has learned one gene, on either strand."""
    torch.manual_seed(0)
    tokenizer, text = DnaTokenizer(), gene(1).encode()
    config = ModelConfig(vocabulary=tokenizer.vocabulary, width=16, layers=1, heads=2, visibility="both", period=3)
    model = build(config, HeadConfig(task="annotate", outputs=len(GENES)), GENES, tokenizer)
    ids = torch.from_numpy(
        np.stack([tokenizer.encode(x)[0] for x in (text, reverse_complement(text))]).astype(np.int64)
    )
    truth = torch.zeros(2, len(text), dtype=torch.int64)
    inside = torch.arange(len(text) - 120)
    truth[0, 60:-60], truth[1, 60:-60] = 1 + inside % 3, 4 + inside.flip(0) % 3
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(50):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(ids)[0].mT, truth).backward()
        optimiser.step()
    save(folder, model, tokenizer, labels=GENES)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {"intervals": of_intervals(folder / "m"), "genes": of_genes(folder / "g")}


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
    assert runs.without_torch(3) == one


def test_jobs_make_the_folder_of_one_process(models, source, tmp_path, capsys):
    runs = Runs(capsys, tmp_path, "annotate", source, *arguments("genes", models))
    assert runs.jobs(2) == runs.one()


def test_more_shards_than_records(models, tmp_path, capsys):
    path = tmp_path / "x.fa"
    path.write_text(f">a\n{gene(1)}\n>b\n{gene(2)}\n")
    runs = Runs(capsys, tmp_path, "annotate", path, *arguments("genes", models))
    assert runs.shards(4) == runs.one()
