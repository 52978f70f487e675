"""The shard law: what n shards are merged to is what one process writes, byte for byte."""

import pytest
from shard_files import leaves
from whole import merged_without_torch

OPTIONS = ("--no-model", "--regions-fasta", "--window", "1000")


@pytest.fixture(scope="module")
def whole(inputs, tmp_path_factory):
    """Files of a run of one process, its exit code, and its errors."""
    import contextlib
    import io

    from longseq.cli import main

    out, said, shown = tmp_path_factory.mktemp("whole") / "out", io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
        code = main(["summarize", *inputs.values(), *OPTIONS, "--out", str(out)])
    return leaves(out), code, said.getvalue(), shown.getvalue()


@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_merged_shards_are_the_single_run(number, inputs, whole, tmp_path, longseq):
    batch, out = tmp_path / "batch", tmp_path / "out"
    for i in range(number, 0, -1):  # in whatever order
        code, _, _ = longseq("summarize", *inputs.values(), *OPTIONS, "--out", batch, "--shard", f"{i}/{number}", "-q")
        assert code in (0, 3)
    code, shown, said = longseq("merge", batch, "--out", out)
    assert (leaves(out), code, said, shown) == whole
    assert code == 3
    assert sorted(p.name for p in batch.iterdir()) == sorted(
        ["plan.json", *(f"{i}-of-{number}" for i in range(1, number + 1))]
    )


def test_jobs_are_the_single_run(inputs, whole, tmp_path, longseq):
    out = tmp_path / "out"
    code, shown, said = longseq("summarize", *inputs.values(), *OPTIONS, "--out", out, "--jobs", "2", "-q")
    files, exit_code, warned, printed = whole
    assert (leaves(out), code, shown) == (files, exit_code, printed)
    assert said == "".join(line for line in warned.splitlines(True) if "no track" not in line)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_with_a_model_records_do_not_depend_on_those_beside_them(inputs, tiny, tmp_path, longseq):
    options = ("--model", tiny.path, "--per-base", "--regions-fasta", "--window", "500", "--sample-fraction", "0.8")
    files = [inputs[name] for name in ("packed.fa.gz", "plain.fa", "bad.fa", "cut.fa.gz", "tale.txt")]
    single = longseq("summarize", *files, *options, "--out", tmp_path / "whole")
    for i in (1, 2, 3):
        longseq("summarize", *files, *options, "--out", tmp_path / "batch", "--shard", f"{i}/3")
    shards = sorted(tmp_path.glob("batch/*-of-3"))
    merged = longseq("merge", *shards, "--out", tmp_path / "out")
    assert merged == single
    assert merged_without_torch(*shards, "--out", tmp_path / "alone") == merged
    assert leaves(tmp_path / "alone") == leaves(tmp_path / "out") == leaves(tmp_path / "whole")


def test_documents_alone_and_records_left_out(inputs, tmp_path, longseq):
    files = [inputs[name] for name in ("rows.jsonl", "tale.txt", "notes.md", "packed.fa.gz")]
    options = ("--no-model", "--min-contig", "150", "--sentences", "2", "--format", "md", "-q")
    single = longseq("summarize", *files, *options, "--out", tmp_path / "whole")
    jobs = longseq("summarize", *files, *options, "--out", tmp_path / "out", "--jobs", "3")
    assert jobs == single
    assert leaves(tmp_path / "out") == leaves(tmp_path / "whole")


def test_nothing_but_faults_is_an_error_of_the_whole(inputs, tmp_path, longseq):
    files = (inputs["missing.fa"], inputs["missing.fa"] + "2")
    single = longseq("summarize", *files, "--no-model", "--out", tmp_path / "whole")
    for i in (1, 2):
        assert longseq("summarize", *files, "--no-model", "--out", tmp_path / "batch", "--shard", f"{i}/2")[0] in (0, 3)
    assert longseq("merge", tmp_path / "batch", "--out", tmp_path / "out") == single
    assert single[0] == 1
    assert not (tmp_path / "out").exists()
