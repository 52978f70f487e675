"""`check` passes what is right, and names the law that a planted fault breaks."""

import json

import faults
import pytest
import torch

from longseq.cli import check as command_line
from longseq.cli import main
from longseq.errors import ConfigError
from longseq.model.mixers import MIXERS
from longseq.tasks.check import operation
from longseq.tasks.check.run import LAWS, LONGEST, check
from longseq.tasks.check.subject import random_model

SMALL = ("model.width=16", "model.layers=1")
LENGTH = 1500  # tokens
FEW = ("linear", "gated", "softmax", "gru")
"""Mixers that are tried each time."""


def outcome(mixer, feature_map=None, laws=LAWS):
    return check([random_model(mixer, feature_map, SMALL)], LENGTH, laws)


def broken(found):
    return {law.law for law in found.broken}


@pytest.mark.parametrize("mixer", [pytest.param(one, marks=() if one in FEW else pytest.mark.slow) for one in MIXERS])
def test_every_mixer_passes(mixer):
    found = outcome(mixer)
    assert found.laws and not found.broken, found.broken


@pytest.mark.parametrize("setting", ['model.visibility="segment"', "model.rescale=0", "model.block=7"])
def test_other_settings_pass(setting):
    subject = random_model("linear", "elu+1", (*SMALL, "model.segment=48", setting))
    found = check([subject], LENGTH)
    assert found.laws and not found.broken, found.broken


def test_the_length_suits_the_state():
    """A state that grows is read less far; each law comes first once, whatever it asks for."""
    for mixer, marks in (("softmax", 2), ("gru", 3)):  # after 1,024 tokens, 4,096, and at the end
        found = check([random_model(mixer, None, SMALL)], None, [law for law in LAWS if law.name == "gradient"])
        assert found.ok and {law.law for law in found.laws} == {"gradient"}
        found = check([random_model(mixer, None, SMALL)], None, [law for law in LAWS if law.name == "drift"])
        assert found.ok and found.laws[0].cases == marks


FAULTS = [
    (faults.dropped_tail, "gated", "silu", "split"),
    (faults.raw_epsilon, "linear", "elu+1", "epsilon"),
    (faults.raw_epsilon, "linear", "elu+1", "rescaling"),
    (faults.counted_padding, "linear", "elu+1", "padding"),
    (faults.decaying_padding, "gated", "silu", "padding"),
    (faults.half_memory, "linear", "elu+1", "memory"),
    (faults.half_memory, "gated", "silu", "memory"),
    (faults.rounded_memory, "linear", "elu+1", "memory"),
    (faults.rounded_memory, "linear", "elu+1", "long sum"),
]


@pytest.mark.parametrize(("plant", "mixer", "feature_map", "law"), FAULTS)
def test_a_fault_breaks_its_law(plant, mixer, feature_map, law, monkeypatch):
    laws = [one for one in LAWS if one.name == law]
    assert not broken(outcome(mixer, feature_map, laws))
    plant(monkeypatch)
    found = outcome(mixer, feature_map, laws)
    assert broken(found) == {law}
    assert any(result.worst > result.limit for result in found.broken)


@pytest.mark.parametrize(
    ("plant", "kept"),
    [
        (faults.dropped_tail, {"lanes", "causality", "rescaling", "memory", "epsilon", "long sum"}),
        (faults.decaying_padding, {"lanes", "causality", "rescaling", "split", "block", "memory"}),
    ],
)
def test_a_fault_leaves_other_laws_alone(plant, kept, monkeypatch):
    plant(monkeypatch)
    assert not kept & broken(outcome("gated", "silu", [law for law in LAWS if law.name in kept]))


def command(*arguments):
    return main(["check", *arguments, *(f"--set={text}" for text in SMALL), "--length", "600"])


@pytest.mark.parametrize(("plant", "law"), [(faults.dropped_tail, "split"), (faults.half_memory, "memory")])
def test_the_command_fails_and_says_which_law(plant, law, monkeypatch, capsys):
    assert command("--mixer", "gated") == 0
    assert "all" in capsys.readouterr().out.splitlines()[-1]
    plant(monkeypatch)
    assert command("--mixer", "gated") == 1
    out, err = capsys.readouterr()
    assert "BROKEN" in out and out.splitlines()[-1].startswith("broken: ") and law in out.splitlines()[-1]
    line = next(line for line in err.splitlines() if f"gated: {law} is broken: " in line)
    assert "limit" in line


def test_json_names_laws_and_limits(monkeypatch, capsys, tmp_path):
    arguments = ("--mixer", "linear", "--mixer", "gru", "--feature-map", "exp", "--json")
    assert command(*arguments, "--out", str(tmp_path / "o"), "--plots", "svg") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((tmp_path / "o" / "check.json").read_text())
    left = sorted(str(path.relative_to(tmp_path / "o")) for path in (tmp_path / "o").rglob("*.*"))
    assert left == ["check.html", "check.json", *(f"plots/{name}.svg" for name in ("drift", "laws_01", "laws_02"))]
    assert "after 600 tokens" in (tmp_path / "o" / "check.html").read_text()
    assert [(point["what"], point["tokens"]) for point in found["drift"]] == [
        *(("outputs", 600), ("memory", 600), ("outputs", 600))
    ]
    assert all(0 <= point["error"] <= point["limit"] for point in found["drift"])
    assert found["schema"] == "longseq.check/1" and found["ok"] is True
    assert found["run"]["device"] == "cpu" and found["run"]["seconds"] > 0
    for law in found["laws"]:
        assert law["worst"] <= law["limit"] and law["ok"] is True and law["cases"] >= 1 and law["what"]
    assert {law["model"] for law in found["laws"]} == {"linear exp", "gru exp"}
    skipped = {law["law"] for law in found["skipped"] if law["model"] == "gru exp"}
    assert {"memory", "epsilon"} <= skipped
    faults.half_memory(monkeypatch)
    assert command(*arguments) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False and any(law["law"] == "memory" and not law["ok"] for law in found["laws"])


def test_what_is_not_finite_breaks_a_law(monkeypatch):
    original = MIXERS["gru"].forward

    def planted(self, *arguments, **options):
        y, state = original(self, *arguments, **options)
        return y * torch.nan, state

    monkeypatch.setattr(MIXERS["gru"], "forward", planted)
    found = outcome("gru")
    assert {"split", "precision", "drift"} <= broken(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give one of them, such as check dna"),
        (["dna", "--mixer", "linear"], "give one of them"),
        (["dna", "--set", "model.heads=2"], "go with --mixer"),
        (["--mixer", "gated", "--set", 'model.visibility="segment"'], "model.visibility: expected"),
        (["--mixer", "magic"], "model.pattern: expected mixers among linear, "),
        (["--mixer", "linear", "--feature-map", "tanh"], "model.feature_map: expected one of elu+1"),
        (["--mixer", "linear", "--device", "abacus"], "--device: expected a usable device 'abacus'"),
        (["--mixer", "linear", "--length", "3"], "'--length'"),
        (["--mixer", "linear", "--length", "1048577"], "'--length'"),
    ],
)
def test_usage_errors(arguments, said, capsys):
    assert main(["check", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err


def test_the_long_sum_is_as_long_as_wanted(capsys, monkeypatch):
    subject, laws = random_model("linear", None, SMALL), [law for law in LAWS if law.name == "long sum"]
    for tokens, wanted in {None: 64 * LENGTH, 1: 1, 70_001: 70_001}.items():
        *_, last = operation.long_sum(subject, LENGTH, tokens)
        assert last.what == f"after {wanted:,} tokens"
        (found,) = check([subject], LENGTH, laws, long_sum=tokens).laws
        assert found.ok and found.cases == (1 if wanted == 1 else 2)
    with pytest.raises(ConfigError, match="long sum: expected >= 1 token"):
        check([subject], LENGTH, laws, long_sum=0)
    faults.rounded_memory(monkeypatch)
    assert command("--mixer", "linear", "--long-sum", "77") == 1
    assert "long sum is broken: " in (err := capsys.readouterr().err) and "after 77 tokens" in err


@pytest.mark.slow
def test_a_memory_holds_over_a_hundred_million_tokens():
    laws = [law for law in LAWS if law.name == "long sum"]
    (found,) = check([random_model("linear", None, SMALL)], 64, laws, long_sum=100_000_000).laws
    assert found.ok and found.cases > 3


def test_the_length_has_an_end():
    assert command_line.LONGEST == LONGEST
    with pytest.raises(ConfigError, match="length: expected 64 to 1,048,576 tokens, found 1048577"):
        check([random_model("linear", None, SMALL)], LONGEST + 1, [])


@pytest.mark.slow  # the README's line is tried each time
def test_a_checkpoint(capsys):
    assert main(["check", "dna", "--length", "64", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["run"]["model"] == "dna" and len(found["run"]["model_sha256"]) == 64
    figures = {figure["name"]: figure["value"] for figure in found["figures"]}
    assert 0 < figures["forward bits"] < 2
    assert figures["strand gap"] == pytest.approx(figures["reverse bits"] - figures["forward bits"])


def test_a_model_that_is_not_there(capsys):
    assert main(["check", "nowhere"]) == 1
    assert "nowhere: expected a checkpoint directory or a shipped name" in capsys.readouterr().err
