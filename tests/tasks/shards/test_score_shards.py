"""Shard law of `score`: rows and tracks of shards are those of one process, byte for byte."""

import pytest
from whole import Runs, mixed, records

from longseq.model import LanguageModel, ModelConfig, save
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(folder, LanguageModel(ModelConfig(width=16, heads=2, layers=1)), DnaTokenizer())
    return folder


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ((), (1, 5)),
        (("--strands", "both", "--track"), (3, 5)),
        (("--strands", "both", "--track", "--track-format", "bw"), (3,)),
    ],
)
def test_shards_make_the_folder_of_one_process(model, tmp_path, capsys, options, parts):
    runs = Runs(capsys, tmp_path, "score", *mixed(tmp_path), "--model", model, *options)
    one = runs.one()
    assert one[0] == 3 and any("found '!'" in line for line in one[2])
    assert len(one[3]) == (1 if not options else 2 if len(options) == 3 else 3)
    for of in parts:
        assert runs.shards(of) == one
    assert runs.without_torch(parts[-1]) == one


@pytest.mark.slow
def test_jobs_make_the_folder_of_one_process(model, tmp_path, capsys):
    runs = Runs(capsys, tmp_path, "score", *mixed(tmp_path), "--model", model, "--track", "--chunk", "512")
    assert runs.jobs(2) == runs.one()


def test_a_shard_that_is_done_is_not_done_again(model, tmp_path, capsys):
    (tmp_path / "x.fa").write_text(records(60, 60))
    runs = Runs(capsys, tmp_path, "score", tmp_path / "x.fa", "--model", model)
    assert "1 record" in runs.shard("1/2")[1].out and "is done already" in runs.shard("1/2")[1].out
    code, said = runs.shard("1/2", "--strands", "both")
    assert code == 2 and "strands" in said.err


@pytest.mark.parametrize("option", ["--resume", "--json", ("--save-state", "s"), ("--region", "r0")])
def test_what_cannot_be_cut_is_refused(model, tmp_path, capsys, option):
    (tmp_path / "x.fa").write_text(records(20))
    options = [option] if isinstance(option, str) else option
    code, said = Runs(capsys, tmp_path, "score", tmp_path / "x.fa", "--model", model).shard("1/2", *options)
    assert code == 2 and f"{options[0]} cannot be with --shard" in said.err
