"""Laws of classify over gaps: where no base says anything no class is told, and a gap changes none beside it."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from longseq.cli import main
from longseq.model import HeadConfig, ModelConfig, RecordModel, load, save
from longseq.model.calibration import Calibration
from longseq.tasks.classify import Answers
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("gaps") / "m"
    save(
        folder,
        RecordModel(ModelConfig(width=16, heads=2, layers=1), HeadConfig(task="classify", outputs=2), ("x", "y")),
        DnaTokenizer(),
    )
    return folder


def test_no_class_where_no_base_says_anything(model, tmp_path, capsys):
    file = tmp_path / "x.fa"
    bases = "ACGGT" * 40
    file.write_text(f">gap\n{'N' * 300}\n>codes\nRYKM\n>within\n{'N' * 250}{bases}{'N' * 150}\n>plain\n{bases}\n")
    out = tmp_path / "out"
    assert (
        main(["classify", str(file), "--model", str(model), "--window", "100", "--every", "100", "--out", str(out)])
        == 0
    )
    records = {row["record"]: row for row in pq.read_table(out / "records.parquet").to_pylist()}
    assert {name for name, row in records.items() if row["class"] is None} == {"gap", "codes"}
    assert {name for name, row in records.items() if row["p_x"] is None} == {"gap", "codes"}
    for table, silent in (("windows", [0, 1, 5]), ("running", [0, 1])):
        rows = [row for row in pq.read_table(out / f"{table}.parquet").to_pylist() if row["record"] == "within"]
        assert [i for i, row in enumerate(rows) if row["p_x"] is None] == silent and len(rows) == 6
    assert [row["unknown"] for row in pq.read_table(out / "windows.parquet").to_pylist()[:3]] == [None] * 3
    assert {line.split("\t")[0] for line in (out / "regions.bed").read_text().splitlines()} == {"within", "plain"}
    capsys.readouterr()
    assert main(["summarize", str(file), "--no-model", "--classifier", str(model), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["records"]
    assert [row["classes"] is None for row in found] == [True, True, False, False]


def test_windows_without_scores_belong_to_those_around_them(model):
    checkpoint = load(model)
    x, y, none = [4.0, -4.0], [-4.0, 4.0], [np.nan, np.nan]
    for calibration in (None, Calibration(temperature=1.0, in_range_above=0.0, records=9)):
        answers = Answers(checkpoint.model, calibration)
        regions = answers.regions(np.array([none, x, none, x, x, none, y, y, none], np.float32))
        assert [region.label for region in regions] == ["x", "y"] and regions[0].first == 0 and regions[1].last == 9
        assert all(region.probability == pytest.approx(1 / (1 + np.exp(-8))) for region in regions)
        assert answers.regions(np.array([none, none], np.float32)) == []
