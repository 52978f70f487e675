"""Shard law of `classify`: tables, regions and evidence of shards are those of one process, byte for byte."""

import json

import pytest
import torch
from whole import Runs, mixed, records

from longseq.formats import read
from longseq.model import HeadConfig, ModelConfig, RecordModel, load, save
from longseq.model.calibration import Calibration, write_calibration
from longseq.tokens import DnaTokenizer
from longseq.tokens.train import Learning, learn


def saved(folder, tokenizer, labels, **head):
    config = ModelConfig(vocabulary=tokenizer.vocabulary, width=16, heads=2, layers=1)
    model = RecordModel(config, HeadConfig(outputs=len(labels), **head), labels)
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(2))
    save(folder, model, tokenizer)
    return load(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    found = saved(folder / "classes", DnaTokenizer(), ("x", "y", "z"), task="classify")
    write_calibration(found.path, Calibration(temperature=1.5, in_range_above=1.1, records=9), found.sha256)
    saved(folder / "numbers", DnaTokenizer(), ("n",), task="regress", offset=(3.5,), scale=(0.1,))
    return folder


@pytest.mark.parametrize(
    ("model", "options", "parts"),
    [("classes", ("--window", "100", "--every", "64"), (1, 3, 5)), ("numbers", ("--every", "0"), (3,))],
)
def test_shards_make_the_folder_of_one_process(models, tmp_path, capsys, model, options, parts):
    runs = Runs(capsys, tmp_path, "classify", *mixed(tmp_path), "--model", models / model, *options)
    one = runs.one()
    assert one[0] == 3 and any("found '!'" in line for line in one[2]) and len(one[3]) == 5
    for of in parts:
        assert runs.shards(of) == one
    assert runs.without_torch(parts[-1]) == one


@pytest.mark.slow
def test_jobs_make_the_folder_of_one_process(models, tmp_path, capsys):
    runs = Runs(capsys, tmp_path, "classify", *mixed(tmp_path), "--model", models / "classes")
    assert runs.jobs(2) == runs.one()


def test_evidence_of_documents_and_doubts_come_through(tmp_path, capsys):
    rows = [
        {"id": f"d{i}", "text": f"It was day {i}. " + "So they say. " * i + "Nobody spoke of it!"} for i in range(9)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "d.md").write_text("# One\n\nThe ship lay still. Nobody spoke!\n\n## Two\n\n船停在那里。 It sailed.\n")
    with read(tmp_path / "t.jsonl") as texts:
        saved(tmp_path / "m", learn(texts, Learning(vocabulary=280)).tokenizer, ("sea", "land"), task="classify")
    runs = Runs(
        capsys, tmp_path, "classify", tmp_path / "t.jsonl", tmp_path / "d.md", "--model", tmp_path / "m", talk=()
    )
    one = runs.one()
    assert one[0] == 0 and one[3]["out/evidence.tsv"].count(b"\n") > 9 and "is not calibrated" in one[2][0]
    assert runs.shards(4) == one == runs.without_torch(4)


@pytest.mark.parametrize("option", ["--json", ("--calibrate", "l.tsv"), ("--region", "r0")])
def test_what_cannot_be_cut_is_refused(models, tmp_path, capsys, option):
    (tmp_path / "x.fa").write_text(records(20))
    options = [option] if isinstance(option, str) else option
    runs = Runs(capsys, tmp_path, "classify", tmp_path / "x.fa", "--model", models / "classes")
    code, said = runs.shard("1/2", *options)
    assert code == 2 and len(said.err.splitlines()) == 1
