"""Recipes that measure converted models, and the time that a report card gives to each length."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from teachers import LAYERS, WIDTH, bert_tensors, write_bert

from longseq.model import load, save
from longseq.model.headed import VectorModel
from longseq.tasks.bench import worker
from longseq.tasks.convert import Source, convert
from longseq.tasks.convert.card import CardConfig, speed
from longseq.tasks.convert.work import CONVERT, FOLDER

RECIPES = Path(__file__).parents[2] / "pipelines" / "benchmarks"
SEGMENT = 40


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(RECIPES)])
    import conversion_speed

    for name, value in {"LENGTHS": (SEGMENT,), "ROUNDS": 1, "DOCUMENTS": 1}.items():
        monkeypatch.setattr(conversion_speed, name, value)
    return conversion_speed


class Silent:
    """A worker on a system that does not tell of memory."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, method):
        return {"tokens": 1000, "growth_mb": None, "in_use_mb": None}


class Laptop(Silent):
    """A slow one: the student passes 1,000 tokens a second, the whole teacher fewer, and the clock goes on."""

    now = 0.0

    def __init__(self, _, job):
        Laptop.now += 3.0  # a process begins
        longer = job.model.segment / 4096 if job.name == "softmax" else 0.0
        self.seconds = job.length / 1000 * (1 + longer)

    def ask(self, method, *_):
        if method == "peak_mb":
            return None
        Laptop.now += max(self.seconds, 0.2)
        return self.seconds


def test_the_recipe_leaves_the_report_of_the_conversion_and_says_what_is_not_known(recipe, tmp_path, monkeypatch):
    places = torch.randn(SEGMENT, WIDTH, generator=torch.Generator().manual_seed(1))
    write_bert(
        tmp_path / "bert",
        bert_tensors() | {"embeddings.position_embeddings.weight": places},
        max_position_embeddings=SEGMENT,
    )
    convert(Source(model=str(tmp_path / "bert")), tmp_path / "teacher")
    teacher = load(tmp_path / "teacher")
    student = VectorModel(replace(teacher.config, pattern=("linear",), across=True, feature_map="elu+1"))
    student.load_state_dict(teacher.model.state_dict())
    save(tmp_path / "student", student, teacher.tokenizer)
    (tmp_path / "student" / FOLDER).mkdir()
    (tmp_path / "student" / FOLDER / CONVERT).write_text("")
    errors = {f"attention_error_{n}": n / 8 for n in range(1, LAYERS + 1)}
    came = {"transfer": {"steps": 3, "figures": errors}}
    (tmp_path / "student" / FOLDER / "stages.json").write_text(json.dumps(came))
    (tmp_path / "student" / "report.json").write_text("{}")
    monkeypatch.setattr(worker, "Worker", Silent)
    monkeypatch.setattr(speed, "Worker", Laptop)
    found = recipe.measured_speed(tmp_path / "teacher", tmp_path / "student", ["abcdefghij " * 90] * 2)
    assert [row["stages"] for row in found["layers"]] == [{"transfer": n / 8} for n in range(1, LAYERS + 1)]
    assert (tmp_path / "student" / "report.json").read_text() == "{}"
    assert not (tmp_path / "student" / "report.html").exists()
    found["speed"] |= {"load_before": None, "load_after": None}
    page = "\n".join(recipe.described(found))
    assert all(text in page for text in ("load not known and not known", "grew by not known", "in use by not known"))
    assert "None" not in page and str(tmp_path) not in json.dumps(found)


def test_a_slow_laptop_has_time_for_4096_tokens_and_says_what_it_has_none_for(recipe, tmp_path, monkeypatch):
    write_bert(tmp_path / "bert", bert_tensors())
    convert(Source(model=str(tmp_path / "bert")), tmp_path / "teacher")
    config = load(tmp_path / "teacher").config
    monkeypatch.setattr(speed, "Worker", Laptop)
    monkeypatch.setattr(speed.time, "monotonic", lambda: Laptop.now)
    rows, skipped = speed.speed(config, replace(config, pattern=("linear",), across=True), CardConfig())
    assert {row.length for row in rows} == {256, 1024, 4096}
    (left,) = skipped
    assert left.what == "speed at 16,384 tokens" and left.reason.startswith("it takes ")


def test_a_model_is_known_wherever_it_lies(recipe, tmp_path):
    """By what it is, as many are called `model`."""
    import short_texts

    first = write_bert(tmp_path / "model", bert_tensors())
    second = Path(shutil.copytree(first, tmp_path / "elsewhere" / "model"))
    found = []
    for folder in (first, second):
        kind = convert(Source(model=str(folder)), tmp_path / f"kept{len(found)}").kind
        found.append(short_texts.known(folder, kind, load(tmp_path / f"kept{len(found)}")))
    assert found[0] == found[1] and len(found[0]["sha256"]) == 64
    row = {"name": "x", "texts_per_s": 1.0, "texts_per_processor_s": 1.0, "largest_difference": 0.0}
    told = {"texts": 2, "tokens": 9, "threads": 1, "rounds": 1, "rows": [row], "teacher": found[0]}
    told["lengths"] = dict.fromkeys(("5", "50", "95", "100"), 4.0)
    told["provenance"] = {"commit": "abc", "machine": "m", "cores": 2, "load": 0.1, "time": "now"}
    page = short_texts.markdown(told)
    assert f"A bert of {LAYERS} layers and {WIDTH} channels (" in page and found[0]["sha256"][:12] in page
