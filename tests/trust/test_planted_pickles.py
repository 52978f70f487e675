"""Files of checkpoints, runs and data sets that are pickles in disguise: whatever reads them, nothing in them runs."""

import json
import pickle
import shutil

import pytest
from planted import KINDS, pickled

import longseq
from longseq.cli import main

SETTINGS = ("steps=2", "batch=64", "data.window=32", "model.width=8", "model.layers=1", "model.heads=1")
OF_OTHERS = ("pytorch_model.bin", "optimizer.bin", "scheduler.bin", "scaler.pt", "sampler.bin", "random_states_0.pkl")
"""Pickles that other libraries keep in a folder of a run, and read."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    (folder / "a.fa").write_text(">a\n" + "ACGTTGCAGATTACAGATTA" * 40 + "\n")
    line = ["train", str(folder / "a.fa"), "--out", str(folder / "run"), "-q", "--device", "cpu", "--threads", "1"]
    assert main([*line, *(word for one in SETTINGS for word in ("--set", one))]) == 0
    return folder


@pytest.fixture
def copied(run, tmp_path):
    """A run of one's own, and the mark that a bomb would leave."""
    shutil.copytree(run / "run", tmp_path / "run")
    return tmp_path / "run", tmp_path / "mark"


def resume(run, copy, *more):
    settings = [word for one in (*SETTINGS[1:], "steps=3") for word in ("--set", one)]
    ways = ["--resume", "-q", "--device", "cpu", "--threads", "1"]
    return main(["train", str(run / "a.fa"), "--out", str(copy), *ways, *settings, *more])


@pytest.mark.parametrize("plant", KINDS)
def test_a_bomb_goes_off_where_it_is_unpickled(plant, tmp_path):
    """Else the tests below would prove nothing."""
    import numpy as np
    import torch

    plant(tmp_path / "a", tmp_path / "mark")
    for read in (
        lambda: pickle.loads((tmp_path / "a").read_bytes()),
        lambda: torch.load(tmp_path / "a", weights_only=False),
        lambda: np.load(tmp_path / "a", allow_pickle=True),
        lambda: pickle.loads(__import__("zipfile").ZipFile(tmp_path / "a").read("a/data.pkl")),
    ):
        try:
            read()
        except Exception:
            continue
    assert (tmp_path / "mark").is_dir()


@pytest.mark.parametrize("plant", KINDS)
def test_the_state_of_a_run(plant, run, copied, capsys):
    copy, mark = copied
    for file in copy.glob("checkpoints/step-*/training/state.pt"):
        plant(file, mark)
    assert resume(run, copy) == 1
    assert "expected the state of a training run" in capsys.readouterr().err
    model = copy / "checkpoints" / (copy / "checkpoints" / "latest").read_text().strip()
    assert longseq.load(str(model)) is not None
    for path in (model, model / "training", model / "training" / "state.pt", copy):
        assert main(["info", str(path)]) in (0, 1)
    assert main(["summarize", str(run / "a.fa"), "--model", str(model), "-q"]) == 0
    assert not mark.exists()


@pytest.mark.parametrize("plant", KINDS[:3])
def test_files_of_a_checkpoint_and_of_others_beside_them(plant, run, copied):
    """Those that we read are refused; those that others would read are not looked at."""
    copy, mark = copied
    model = copy / "model"
    for name in OF_OTHERS:
        plant(model / name, mark)
        plant(copy / name, mark)
    assert main(["summarize", str(run / "a.fa"), "--model", str(model), "-q"]) == 0
    assert main(["info", str(model)]) == 0
    new = [word for one in SETTINGS[:3] for word in ("--set", one)]
    assert (
        main(["train", str(run / "a.fa"), "--from", str(model), "--out", str(copy.with_name("new")), "-q", *new]) == 0
    )
    for name in sorted(path.name for path in model.iterdir() if path.is_file() and path.name not in OF_OTHERS):
        kept = (model / name).read_bytes()
        plant(model / name, mark)
        main(["info", str(model)])
        main(["summarize", str(run / "a.fa"), "--model", str(model), "-q"])
        (model / name).write_bytes(kept)
    assert not mark.exists()


def test_what_a_run_prepared_and_noted(run, copied):
    copy, mark = copied
    for path in sorted(path for path in copy.rglob("*") if path.is_file() and "model" not in path.parts):
        kept = path.read_bytes()
        pickled(path, mark)
        resume(run, copy)
        main(["info", str(path)])
        if path.exists():
            path.write_bytes(kept)
    assert not mark.exists()


def test_a_data_set_of_another_library(tmp_path):
    datasets = pytest.importorskip("datasets")
    mark, folder = tmp_path / "mark", tmp_path / "set"
    datasets.Dataset.from_dict({"text": ["The lamp was lit at dusk."] * 3}).save_to_disk(folder)
    (folder / "set.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n")  # what once loaded a set
    for name in ("cache-0123456789abcdef.pkl", "fingerprint.pkl", "indices.arrow"):
        pickled(folder / name, mark)
    assert main(["summarize", str(folder), "-q"]) == 0
    state = json.loads((folder / "state.json").read_text())
    state |= {"_format_type": "torch", "_format_kwargs": {"a": "!!python/object/apply:os.mkdir"}}
    (folder / "state.json").write_text(json.dumps(state))
    about = json.loads((folder / "dataset_info.json").read_text())
    about["features"] = {"text": {"_type": "__import__('os').system", "feature": {"_type": "Pickle"}}}
    (folder / "dataset_info.json").write_text(json.dumps(about))
    assert main(["summarize", str(folder), "-q"]) == 0
    for name in ("state.json", "dataset_info.json", *(path.name for path in folder.glob("*.arrow"))):
        kept = (folder / name).read_bytes()
        pickled(folder / name, mark)
        main(["summarize", str(folder), "-q"])
        main(["info", str(folder)])
        (folder / name).write_bytes(kept)
    assert not mark.exists()


@pytest.mark.parametrize("plant", KINDS)
@pytest.mark.parametrize("ending", ["pkl", "npy", "pt", "arrow", "parquet", "safetensors", "state"])
def test_any_file_that_is_asked_about(plant, ending, tmp_path):
    file = tmp_path / f"a.{ending}"
    plant(file, tmp_path / "mark")
    main(["info", str(file)])
    main(["summarize", str(file), "-q"])
    assert not (tmp_path / "mark").exists()
