"""`longseq compare --quick` in earnest."""

import json

import pytest

from longseq.cli import main


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_six_models_on_both_tasks_and_the_vanishing_gradient(tmp_path):
    assert main(["compare", "--quick", "--out", str(tmp_path / "story"), "-q"]) == 0
    found = json.loads((tmp_path / "story" / "compare.json").read_text())
    models = {one["model"]: {part["task"]: part for part in one["learned"]} for one in found["models"]}
    assert list(models) == ["rnn", "lstm", "gru", "softmax", "linear", "gated"]
    left = {name: tasks["bases"]["reach"]["trained"][-1] for name, tasks in models.items()}  # 512 bases back
    assert left["rnn"] < 1e-20 < 1e-9 < min(left["softmax"], left["linear"])
    assert models["rnn"]["addition"]["curve"][-1]["right"] > 0.9
    assert models["gated"]["addition"]["curve"][-1]["right"] > 0.9
    (task,) = [task for task in found["tasks"] if task["name"] == "bases"]
    assert all(tasks["bases"]["curve"][-1]["bits"] < task["frequency_bits"] + 0.02 for tasks in models.values())
