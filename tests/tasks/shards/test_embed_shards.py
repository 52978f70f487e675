"""Shard law of `embed`: the table of shards is that of one process, byte for byte."""

import pyarrow.parquet as pq
import pytest
from whole import Runs, contents, mixed, records

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(folder, LanguageModel(ModelConfig(width=16, heads=2, layers=2)), DnaTokenizer())
    return folder


@pytest.mark.parametrize("options", [(), ("--window", "100", "--layer", "1", "--pool", "max", "--strands", "forward")])
def test_shards_make_the_table_of_one_process(model, tmp_path, capsys, options):
    runs = Runs(capsys, tmp_path, "embed", *mixed(tmp_path), "--model", model, *options, out="e.parquet")
    one = runs.one()
    assert one[0] == 3 and any("found '!'" in line for line in one[2]) and any("gone.fa" in line for line in one[2])
    assert pq.read_table(tmp_path / "one" / "e.parquet").num_rows >= 12
    for of in (1, 3, 5):
        assert runs.shards(of) == one
    assert runs.without_torch(3) == one


@pytest.mark.slow
def test_jobs_make_both_files_of_one_process(model, tmp_path):
    line = ["embed", *mixed(tmp_path), "--model", str(model), "-q"]
    for name, more in (("one", []), ("jobs", ["--jobs", "2"])):
        (tmp_path / name).mkdir()
        out = [f"--{what}={tmp_path / name / what}" for what in ("out", "npy")]
        assert main([*line, *out, *more]) == 3
    assert contents(tmp_path / "one") == {
        name.replace("jobs", "one"): data for name, data in contents(tmp_path / "jobs").items()
    }
    assert len(contents(tmp_path / "jobs")) == 2


def test_merge_writes_the_vectors_alone_as_well(model, tmp_path, capsys):
    (tmp_path / "x.fa").write_text(records(20, 30))
    line = ["embed", str(tmp_path / "x.fa"), "--model", str(model), "-q"]
    assert main([*line, "--out", str(tmp_path / "e.parquet"), "--npy", str(tmp_path / "e.npy")]) == 0
    batch = ["--out", str(tmp_path / "batch")]
    assert [main([*line, *batch, "--shard", f"{i}/2"]) for i in (1, 2)] == [0, 0]
    merged = ["--out", str(tmp_path / "m.parquet"), "--npy", str(tmp_path / "m.npy")]
    assert main(["merge", str(tmp_path / "batch"), *merged]) == 0
    assert (tmp_path / "m.npy").read_bytes() == (tmp_path / "e.npy").read_bytes()
    capsys.readouterr()
    assert main([*line, *batch, "--shard", "1/2", "--npy", str(tmp_path / "no.npy")]) == 2
    assert "--npy cannot be with --shard" in capsys.readouterr().err


def test_all_shards_together_have_no_more_vectors_than_asked_for(model, tmp_path, capsys):
    (tmp_path / "x.fa").write_text(records(60, 60))
    runs = Runs(capsys, tmp_path, "embed", tmp_path / "x.fa", "--model", model, "--per", "base", "--most", "100")
    assert [runs.shard(f"{i}/2")[0] for i in (1, 2)] == [0, 0]
    assert main(["merge", str(tmp_path / "batch"), "--out", str(tmp_path / "e.parquet")]) == 2
    assert "at most 100 vectors" in capsys.readouterr().err and not (tmp_path / "e.parquet").exists()


def test_where_no_record_can_be_read_merge_says_why(model, tmp_path, capsys):
    (tmp_path / "x.fa").write_text(">a\n!\n")
    runs = Runs(capsys, tmp_path, "embed", tmp_path / "x.fa", "--model", model)
    assert runs.shard("1/1")[0] == 3
    assert main(["merge", str(tmp_path / "batch"), "--out", str(tmp_path / "e.parquet")]) == 1
    assert "found '!'" in capsys.readouterr().err and not (tmp_path / "e.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--region", "r0:1-5"), "--region cannot be"), (("--jobs", "2"), "exclude each other"), ((), "standard input")],
)
def test_what_cannot_be_cut_is_refused(model, tmp_path, capsys, arguments, said):
    (tmp_path / "x.fa").write_text(records(20))
    runs = Runs(capsys, tmp_path, "embed", tmp_path / "x.fa" if arguments else "-", "--model", model, *arguments)
    code, found = runs.shard("1/2")
    assert code == 2 and said in found.err and len(found.err.splitlines()) == 1
