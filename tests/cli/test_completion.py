"""What Tab is offered, without a shell; `tests/shells` asks real ones."""

import dataclasses
import json
import subprocess
import sys
import typing

import pytest

from longseq.cli import ASKED, COMMANDS, group, main
from longseq.cli.completion import settings
from longseq.cli.completion.line import candidates
from longseq.cli.completion.scripts import SCRIPTS


def offered(*words: str) -> list[str]:
    return [one.text or one.kind for one in candidates(group, words)]


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["su"], ["summarize"]),
        (["summarize", "--no-m"], ["--no-model"]),
        (["summarize", "--strands", "b"], ["both"]),
        (["summarize", "--format=j"], ["--format=json", "--format=jsonl"]),
        (["embed", "--model", ""], ["dna", "genes", "text", "dir"]),
        (["classify", "--model", ""], ["dir"]),
        (["check", "d"], ["dna", "dir"]),
        (["summarize", ""], ["file"]),
        (["score", "v.vcf", "--reference", ""], ["file"]),
        (["merge", "batch/", "--out", ""], ["file"]),
        (["tokenizer", ""], ["show", "train"]),
        (["tokenizer", "train", "--unit", ""], ["pieces", "characters", "words"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["train", "--task", "ann"], ["annotate"]),
        (["train", "--set", "optimiser.ra"], ["optimiser.rate="]),
        (["train", "--set", "model.visibility=c"], ["model.visibility=causal"]),
        (["train", "--set=data.both_strands="], ["--set=data.both_strands=true", "--set=data.both_strands=false"]),
        (["train", "--task", "extract", "--set", "epo"], ["epochs="]),
        (["convert", "bert/", "--open-memory", "--set", "op"], ["opening."]),
        (["bench", "--mixer", "softmax-"], ["softmax-bare", "softmax-both"]),
        (["bench", "--threads", ""], ["best"]),
        (["compare", "--models", "rnn,ls"], ["rnn,lstm"]),
        (["compare", "--tasks", ""], ["addition", "bases"]),
        (["attention", "d"], ["dna", "dir"]),
        (["bench", "--repeats", ""], []),
        (["generate", "--prompt", ""], []),
        (["summarize", "--", "--"], ["file"]),
        (["no-such-command", ""], list(COMMANDS)),
    ],
)
def test_what_is_known(words, known):
    assert offered(*words) == known


def test_an_option_that_stands_there_is_not_offered_again_unless_it_may_be():
    names = offered("summarize", "--force", "--query", "a", "--")
    assert "--force" not in names and {"--query", "--json", "--debug"} <= set(names)


def test_records_by_name(tmp_path):
    (tmp_path / "a.fa").write_text(">chr1 long\nACGT\n>chr2\nA\n")
    (tmp_path / "b.fa.gz.fai").write_text("chrX\t4\t6\t4\t5\n")
    assert offered("summarize", str(tmp_path / "a.fa"), "--region", "") == ["chr1", "chr2"]
    assert offered("summarize", str(tmp_path / "b.fa.gz"), "--region", "") == ["chrX"]
    assert offered("summarize", str(tmp_path / "missing"), "--region", "") == []
    (tmp_path / "esc.fa").write_text(">a\x1b[2J\nACGT\n>b\nA\n")
    assert offered("summarize", str(tmp_path / "esc.fa"), "--region", "") == ["b"]


def test_shards_that_are_left(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps({"shards": [{}, {}, {}]}))
    (tmp_path / "2-of-3").mkdir()
    assert offered("summarize", "x", "--out", str(tmp_path), "--shard", "") == ["1/3", "3/3"]


def leaves(kind: type, before: str = "") -> typing.Iterator[tuple[str, tuple]]:
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if dataclasses.is_dataclass(hints[field.name]):
            yield from leaves(hints[field.name], f"{before}{field.name}.")
        else:
            yield before + field.name, typing.get_args(hints[field.name])


def test_settings_that_are_read_are_those_there_are():
    """Importing the configuration is the oracle of reading its sources."""
    import importlib

    for command, (module, name) in settings.OF.items():
        if command == "train --task extract":  # its model is a table only where it is read
            continue
        read = settings.fields(command)
        there = dict(leaves(getattr(importlib.import_module(module), name)))
        assert set(read) == set(there), command
        for key, setting in read.items():
            if "Literal" in str(there[key]) or (there[key] and isinstance(there[key][0], str)):
                assert setting.choices
    from longseq.model.mixers import MIXERS
    from longseq.ops.feature_maps import FEATURE_MAPS

    assert (settings.mixers(), settings.feature_maps()) == (list(MIXERS), list(FEATURE_MAPS))


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_asks_as_it_is_answered(shell, capsys):
    assert main(["completion", shell]) == 0
    assert f"{ASKED}={shell} command longseq" in capsys.readouterr().out


def test_tab_wakes_nothing_heavy(monkeypatch):
    monkeypatch.setenv(ASKED, "bash")
    code = (
        "import sys; from longseq.cli import main; code = main(['train', '--set', 'model.wi']); "
        "sys.exit(code or ', '.join({'torch', 'numpy', 'rich', 'pyarrow'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "part\tmodel.width=\tD, channels of a hidden vector\n")
