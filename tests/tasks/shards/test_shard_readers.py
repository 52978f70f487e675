"""Shard law of `summarize` with models of one's own: what classifies, what chooses sentences, and what writes."""

import json

import pytest
import torch
from shard_files import fasta, leaves

from longseq.cli import main
from longseq.model import HeadConfig, ModelConfig, RecordModel, save
from longseq.tokens import DnaTokenizer

WORDS = ["sea", "house", "lamp", "rock", "tide", "boat"]


def classifier(folder, tiny):
    """Options, and records of DNA."""
    model = RecordModel(ModelConfig(width=16, layers=1, heads=1), HeadConfig(task="classify", outputs=2), ("x", "y"))
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(2))
    save(folder / "classes", model, DnaTokenizer())
    (folder / "a.fa").write_text(fasta((900, 0, 40, 1500), 70))
    (folder / "b.fa").write_text(fasta((700, 64), 60))
    return ["--model", tiny.path, "--classifier", folder / "classes", "--window", "500"], ["a.fa", "b.fa"]


def extractor(folder, tiny):
    """Options, and documents."""
    lines = [f"The {word} by the northern light is seen from every ship before dusk." for word in WORDS]
    rows = [{"id": f"d{n}", "text": " ".join(lines[n:] + lines[:n]), "abstract": lines[1]} for n in range(len(lines))]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "b.md").write_text("# One\n\n" + " ".join(lines[:3]) + "\n\n## Two\n\n" + " ".join(lines[3:]) + "\n")
    data, labels, run = (str(folder / name) for name in ("a.jsonl", "labels.jsonl", "run"))
    assert main(["oracle", data, "--out", labels, "-q"]) == 0
    learn = ["--task", "extract", "--labels", labels, "--set", "layers=0", "--set", "held_out=0.3"]
    assert main(["train", data, *learn, "--out", run, "-q"]) == 0
    return ["--extractor", f"{run}/model", "--sentences", "2"], ["a.jsonl", "b.md"]


def writer(folder, tiny):
    """Options, and documents."""
    pairs = "\n".join(["source,target", *(f"{colour} {word},{word}" for colour in ("red", "old") for word in WORDS)])
    (folder / "pairs.csv").write_text(f"{pairs}\n")
    settings = {"model.width": 16, "model.layers": 1, "pairs.unit": "words", "steps": 2, "batch": 80, "data.window": 8}
    learn = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words = ["train", str(folder / "pairs.csv"), "--task", "seq2seq", "--out", str(folder / "run"), *learn]
    assert main([*words, "--device", "cpu", "--threads", "1", "-q"]) == 0
    (folder / "a.jsonl").write_text("".join(json.dumps({"id": word, "text": f"old {word}"}) + "\n" for word in WORDS))
    (folder / "b.txt").write_text("red lamp\n")
    return ["--method", "generate", "--model", folder / "run" / "model"], ["a.jsonl", "b.txt"]


@pytest.mark.parametrize("reader", [classifier, extractor, writer])
def test_merged_shards_are_the_single_run(reader, tiny, tmp_path, longseq, capsys):
    options, names = reader(tmp_path, tiny)
    capsys.readouterr()
    asked = ["summarize", *(tmp_path / name for name in names), *options, "-q"]
    single = longseq(*asked, "--out", tmp_path / "whole")
    assert single[0] == 0, single
    for i in (2, 1):
        code, _, said = longseq(*asked, "--out", tmp_path / "batch", "--shard", f"{i}/2")
        assert code == 0, said
    assert longseq("merge", tmp_path / "batch", "--out", tmp_path / "merged", "-q") == single
    wanted = leaves(tmp_path / "whole")
    assert leaves(tmp_path / "merged") == wanted
    assert "not verbatim" in str(wanted) if reader is writer else "model" in str(wanted)
