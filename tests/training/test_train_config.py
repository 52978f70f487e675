"""The configuration of a run: a good and a bad value of each rule, and the file it is kept in."""

import dataclasses

import pytest

from longseq.config import load, to_toml
from longseq.errors import ConfigError
from longseq.training.config import TrainConfig

BAD = [
    ("steps=0", "steps"),
    ("epochs=0", "epochs"),
    ("minutes=-1", "minutes"),
    ("batch=2047", "batch"),
    ("threads=0", "threads"),
    ("precision=fp8", "precision"),
    ("device=abacus", "device"),
    ("data.window=1", "data.window"),
    ("data.carry=0", "data.carry"),
    ("data.shift=-1", "data.shift"),
    ("data.shift=5", "data.shift: expected 0 to next"),
    ("data.relabel=1.5", "data.relabel"),
    ("data.relabel_by=some", "data.relabel_by"),
    ("data.ambiguity=drop", "data.ambiguity"),
    ("data.held_out=1", "data.held_out"),
    ("data.seed=-1", "data.seed"),
    ("data.both_strands=1", "data.both_strands"),
    ("optimiser.rate=0", "optimiser.rate"),
    ("optimiser.floor=2", "optimiser.floor"),
    ("optimiser.warmup=1", "optimiser.warmup"),
    ("optimiser.beta1=1", "optimiser.beta1"),
    ("optimiser.beta2=-0.1", "optimiser.beta2"),
    ("optimiser.epsilon=0", "optimiser.epsilon"),
    ("optimiser.weight_decay=-1", "optimiser.weight_decay"),
    ("optimiser.clip=0", "optimiser.clip"),
    ("optimiser.rate=inf", "optimiser.rate: expected a finite number"),
    ("optimiser.epsilon=inf", "optimiser.epsilon: expected a finite number"),
    ("optimiser.epsilon=nan", "optimiser.epsilon: expected a finite number"),
    ("optimiser.weight_decay=inf", "optimiser.weight_decay: expected a finite number"),
    ("optimiser.clip=inf", "optimiser.clip: expected a finite number"),
    ("adapter.alpha=inf", "adapter.alpha: expected a finite number"),
    ("epochs=inf", "epochs: expected a finite number"),
    ("minutes=inf", "minutes: expected a finite number"),
    ("evaluation.every=-1", "evaluation.every"),
    ("evaluation.tokens=0", "evaluation.tokens"),
    ("checkpoint.every=-1", "checkpoint.every"),
    ("checkpoint.keep=0", "checkpoint.keep"),
    ("checkpoint.best=1", "checkpoint.best"),
    ("accumulate=0", "accumulate"),
    ("recompute=1", "recompute"),
    ("processes.sequence=0", "processes.sequence"),
    ("model.layers=0", "model.layers"),
    ("model.vocabulary=14", "model.vocabulary"),
    ("data.windows=5", "did you mean data.window"),
]


@pytest.mark.parametrize(("assignment", "message"), BAD)
def test_bad_values_name_their_key(assignment, message):
    with pytest.raises(ConfigError, match=message):
        load(TrainConfig, None, [assignment])


def test_the_file_reads_back_as_it_was(tmp_path):
    config = load(
        TrainConfig,
        None,
        [
            'inputs=["a b.fa", "c\\"d\\\\.fa", "é\\u007f.fa"]',
            "steps=7",
            "minutes=0.5",
            "data.held_out_records=[]",
            "data.both_strands=false",
            "optimiser.epsilon=1e-12",
            'model.pattern=["gated", "gru"]',
            "precision=bf16",
        ],
    )
    file = tmp_path / "run.toml"
    file.write_text(to_toml(config), encoding="utf-8")
    assert load(TrainConfig, file) == config
    assert load(TrainConfig, file, ["steps=8"]) == dataclasses.replace(config, steps=8)
    assert "epochs" not in file.read_text(encoding="utf-8")


def test_every_field_says_what_it_is():
    import ast
    import inspect

    from longseq.training import config

    for node in ast.parse(inspect.getsource(config)).body:
        if isinstance(node, ast.ClassDef) and node.name != "TrainConfig":
            for field, after in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(field, ast.AnnAssign):
                    assert isinstance(after, ast.Expr), f"{node.name}.{field.target.id}"
