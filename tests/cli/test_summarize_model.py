"""`longseq summarize` with a model that reads DNA."""

import json
import random

import pytest
from pyarrow import parquet


def test_bits_of_a_model(run, make, tiny_model, tmp_path):
    letters = "".join(random.Random(2).choices("ACGT", k=3_000))
    source = make("x.fa", f">a\n{letters}\n>b\nNNNN\n>c\n")
    code, out, _ = run(source, "--json", "--window", 500, "--out", tmp_path / "o", model=("--model", tiny_model))
    found = json.loads(out)
    a, b, c = found["records"]
    assert code == 0 and found["run"]["model"] == str(tiny_model) and len(found["run"]["model_sha256"]) == 64
    assert 1.5 < a["bits_forward"] < 8 and a["bits_per_base"] == pytest.approx(
        (a["bits_forward"] + a["bits_reverse"]) / 2
    )
    costs = [(window["bits"], window["z"]) for window in a["surprising"]]
    assert 1 <= len(costs) <= 5 and costs == sorted(costs, reverse=True) and min(costs)[1] >= 0
    assert b["bits_per_base"] is c["bits_per_base"] is None
    windows = parquet.read_table(tmp_path / "o" / "windows.parquet")
    assert windows["bits"].null_count == 1
    assert sum(windows["bits"].to_pylist()[:6]) / 6 == pytest.approx(a["bits_per_base"], rel=1e-5)


def test_bad_models_exit_1(run, make, tiny_model, tmp_path):
    source = make("x.fa", ">a\nACGT\n")
    code, out, err = run(source, model=("--model", tmp_path / "none"))
    assert (code, out) == (1, "") and "expected a checkpoint directory or a shipped name" in err
    other = tmp_path / "other"
    other.mkdir()
    for file in tiny_model.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    (other / "tokenizer.json").write_text(json.dumps({**tokenizer, "letters": "ACGTN"}))
    code, out, err = run(source, model=("--model", other))
    assert (code, out) == (1, "") and "tokenizer" in err and err.count("\n") == 1


def test_a_device_that_is_not_there(run, make, tiny_model):
    code, out, err = run(make("x.fa", ">a\nACGT\n"), "--device", "vax", model=("--model", tiny_model))
    assert (code, out) == (2, "") and "--device: expected a usable device 'vax'" in err and err.count("\n") == 1


def test_documents_need_no_model(run, make, tmp_path):
    text = make("t.txt", "A sentence is here. Another one is there.\n")
    assert run(text, model=("--model", tmp_path / "none"))[0] == 0
