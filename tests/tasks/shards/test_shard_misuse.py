"""What is no batch is refused in a line that names what is wrong."""

import json
import shutil

import pytest

from longseq.errors import InputError
from longseq.tasks.shards import sums
from longseq.tasks.shards.folder import DIGEST, read_shard, signed
from longseq.tasks.shards.gather import gathered
from longseq.tasks.shards.sums import CheckedFile, SummedFile


@pytest.fixture
def batch(inputs, tmp_path, longseq):
    """Both shards of a batch over a copy of an input; the folder."""
    shutil.copy(inputs["plain.fa"], tmp_path / "in.fa")
    for i in (1, 2):
        _shard(tmp_path, longseq, i)
    return tmp_path / "batch"


def _shard(folder, longseq, number, *options):
    return longseq(
        "summarize", folder / "in.fa", "--no-model", "--out", folder / "batch", "--shard", f"{number}/2", *options
    )


def _edit(path, **values):
    document = json.loads(path.read_text()) | values
    path.write_text(json.dumps(signed({name: value for name, value in document.items() if name != DIGEST})))


def test_a_missing_shard(batch, tmp_path, longseq):
    shutil.rmtree(batch / "2-of-2")
    code, _, said = longseq("merge", batch, "--out", tmp_path / "out")
    assert code == 1
    assert "expected 2 shards, found 1: 2-of-2 missing" in said


def test_overlapping_shards(batch, tmp_path, longseq):
    shutil.copytree(batch / "1-of-2", tmp_path / "1-of-2")
    code, _, said = longseq("merge", batch, tmp_path / "1-of-2", "--out", tmp_path / "out")
    assert code == 1
    assert f"{batch}/1-of-2, {tmp_path}/1-of-2: both are shard 1-of-2: they overlap" in said


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"version": "0.0.1"}, "version '0.0.1'"),
        ({"models": {"model": "abc"}}, "the model 'abc'"),
        ({"of": 3}, "3"),
    ],
    ids=["version", "model", "number"],
)
def test_shards_of_two_makings(values, what, batch, tmp_path, longseq):
    _edit(batch / "2-of-2" / "shard.json", **values)
    code, _, said = longseq("merge", batch, "--out", tmp_path / "out")
    assert code == 1
    assert "2-of-2" in said
    assert "1-of-2" in said
    assert what.split()[-1] in said
    assert not (tmp_path / "out").exists()


def test_an_input_that_changed_between_shards(batch, tmp_path, longseq):
    (tmp_path / "in.fa").write_text((tmp_path / "in.fa").read_text() + ">more\nACGT\n")
    assert _shard(tmp_path, longseq, 1)[0] == 1  # though it is done
    code, _, said = _shard(tmp_path, longseq, 2, "--force")
    assert code == 1
    assert f"{tmp_path}/in.fa: is not what it was when the batch was planned" in said
    (batch / "plan.json").unlink()
    assert _shard(tmp_path, longseq, 2, "--force")[0] == 0
    code, _, said = longseq("merge", batch, "--out", tmp_path / "out")
    assert code == 1
    assert f"2-of-2: {tmp_path}/in.fa was another file than for {batch}/1-of-2" in said


@pytest.mark.parametrize("name", ["frames.bin", "bulk.bin", "shard.json"])
def test_a_shard_that_is_not_whole(name, batch, tmp_path, longseq):
    path = batch / "1-of-2" / name
    path.write_bytes(path.read_bytes()[:-9] if path.stat().st_size else b"x")
    code, _, said = longseq("merge", batch, "--out", tmp_path / "out")
    assert code == 1
    assert "1-of-2" in said
    assert not (tmp_path / "out").exists()


def test_damage_inside_of_a_spool(batch, tmp_path, longseq):
    path = batch / "1-of-2" / "frames.bin"
    data = bytearray(path.read_bytes())
    data[40:60] = b"\xff" * 20
    path.write_bytes(data)
    code, _, said = longseq("merge", batch, "--out", tmp_path / "out")
    assert code == 1
    assert "frames.bin: is not what was written; run the shard again: --force" in said


def test_any_byte_of_a_shard_that_changed_is_found(batch):
    facts = batch / "1-of-2" / "shard.json"
    whole = facts.read_bytes()
    document = read_shard(facts.parent)
    for at in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        facts.write_bytes(changed)
        found = read_shard(facts.parent)
        assert found is None or found == document  # a blank for a blank


def test_a_shard_of_an_earlier_version_is_refused_by_what_to_do(batch, tmp_path, longseq):
    facts = batch / "1-of-2" / "shard.json"
    document = json.loads(facts.read_text())
    del document[DIGEST]
    facts.write_text(json.dumps(document))
    code, _, said = longseq("merge", batch, "--out", tmp_path / "out")
    assert code == 1
    assert said.endswith(
        "found none, or one that was changed or is of an earlier version; run the shard again: --force\n"
    )


def test_absurd_numbers_of_shards_are_refused_at_once(batch):
    _edit(batch / "1-of-2" / "shard.json", of=1 << 40)
    with pytest.raises(InputError, match="a shard of 100,000 at most"):
        gathered([batch / "1-of-2"])


def test_each_block_of_a_file_is_checked_as_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "BLOCK", 8)
    path = tmp_path / "a.bin"
    writer = SummedFile(path)
    for data in (b"", b"abc", b"defghijklmnopqrstu", b"v"):
        writer.write(data)
    writer.close()
    whole = path.read_bytes()
    assert whole == b"abcdefghijklmnopqrstuv" and writer.size == 22 and len(writer.sums) == 3

    def read(at, size):
        file = CheckedFile(path, writer.size, writer.sums, "again")
        file.seek(at)
        try:
            return file.read(size)
        finally:
            file.close()

    assert read(0, 99) == whole and read(5, 12) == whole[5:17] and read(22, 4) == b""
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1
        path.write_bytes(changed)
        with pytest.raises(InputError, match="is not what was written; again"):
            read(at, 1)
        assert read((at + 8) % 16, 1) == whole[(at + 8) % 16 :][:1] or at >= 16  # another block is as it was


def test_what_is_no_shard(tmp_path, longseq):
    code, _, said = longseq("merge", tmp_path, "--out", tmp_path / "out")
    assert code == 1
    assert f"{tmp_path}: expected finished shards, found none in it" in said
    code, _, said = longseq("merge", tmp_path / "none", "--out", tmp_path / "out")
    assert code == 1
    assert f"{tmp_path}/none: expected a finished shard, found none" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shard", "0/2"], "--shard: expected I/N with 1 <= I <= N, found '0/2'"),
        (["--shard", "3/2"], "--shard: expected I/N with 1 <= I <= N, found '3/2'"),
        (["--shard", "two"], "--shard: expected I/N, as 3/8, found 'two'"),
        (["--shard", "1/2", "--jobs", "2"], "--shard and --jobs exclude each other"),
        (["--shard", "1/2", "--region", "r1"], "--region cannot be with --shard"),
        (["--jobs", "2", "--together"], "--together cannot be with --jobs"),
        (["--jobs", "2", "--one-pass"], "--one-pass cannot be with --jobs"),
        (["--shard", "1/2", "--save-text", "texts"], "--save-text cannot be with --shard"),
        (["--shard", "1/2", "--format", "md"], "--format md cannot be with --shard"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_cut(options, said, inputs, tmp_path, longseq):
    code, _, told = longseq("summarize", inputs["plain.fa"], "--no-model", "--out", tmp_path / "batch", *options)
    assert code == 2
    assert said in told
    assert not any(tmp_path.iterdir())


def test_shards_want_a_folder_and_files(inputs, tmp_path, longseq):
    assert "--shard needs --out" in longseq("summarize", inputs["plain.fa"], "--shard", "1/2")[2]
    told = longseq("summarize", "-", "--no-model", "--shard", "1/2", "--out", tmp_path / "batch")
    assert told[0] == 2
    assert "standard input cannot be cut into shards" in told[2]


def test_a_plan_of_another_batch(batch, tmp_path, inputs, longseq):
    options = ("--no-model", "--out", batch, "--shard")
    code, _, said = longseq("summarize", tmp_path / "in.fa", *options, "1/3")
    assert (code, "plan.json: expected a plan of 3 shards, found of 2" in said) == (2, True)
    code, _, said = longseq("summarize", inputs["bad.fa"], *options, "1/2")
    assert (code, f"expected a plan with {inputs['bad.fa']}, found {tmp_path}/in.fa" in said) == (2, True)
    code, _, said = longseq("summarize", tmp_path / "in.fa", "--on-unknown", "N", *options, "1/2")
    assert (code, "expected a plan by on_unknown N, found on_unknown error" in said) == (2, True)
    _edit(batch / "plan.json", digest="0")
    code, _, said = longseq("summarize", tmp_path / "in.fa", *options, "1/2")
    assert (code, "plan.json: expected a plan of shards" in said) == (1, True)


def test_a_job_that_fails_fails_the_command(inputs, tmp_path, longseq):
    code, _, said = longseq(
        "summarize", inputs["plain.fa"], "--model", tmp_path / "none", "--out", tmp_path / "out", "--jobs", "2"
    )
    assert code == 1
    assert f"{tmp_path}/none" in said
    assert not any(tmp_path.iterdir())
