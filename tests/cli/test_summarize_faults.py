"""What `longseq summarize` says of bad inputs and of wrong requests."""

import gzip
import json
import os
import random
from pathlib import Path

import pytest
from pyarrow import parquet

CHLOROPLAST = Path(__file__).parents[2] / "data" / "chloroplast.gb.gz"

BAD = {
    "empty": (b"", "is empty"),
    "headerless.fa": (b"ACGTACGTAC\nACGTACGTAC\n", "header"),
    "letter.fa": (b">chrM x\nACGT\nAC!T\n", "(chrM): expected a DNA letter, found '!' at base 7"),
    "rubbish": (bytes(range(256)) * 64, "binary data"),
    "cut.gz": (gzip.compress(b">a\nACGT\n")[:10], "cut before its first letter"),
    "damaged.gz": (gzip.compress(b">a\nACGT\n")[:-8] + bytes(8), "damaged"),
    "protein.fa": (b">p\nMKVLLIEFPQMKVLLIEFPQ\n", "protein"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_one_line_and_exit_1(name, run, make, tmp_path):
    data, said = BAD[name]
    out = tmp_path / "out"
    code, shown, err = run(make(name, data), "--out", out)
    assert (code, shown) == (1, "")
    assert err.startswith("longseq: ") and name in err and said in err and err.count("\n") == 1
    assert not out.exists() and [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("path", "said"), [("missing.fa", "no such file"), ("", "expected a folder of files, found none in it")]
)
def test_no_file_there(path, said, run, tmp_path):
    code, out, err = run(tmp_path / path)
    assert (code, out) == (1, "") and said in err and err.count("\n") == 1


def test_a_file_cut_short_is_reported_whole_and_marked(run, make, tmp_path):
    letters = "".join(random.Random(1).choices("ACGT", k=400_000))
    packed = gzip.compress(f">first\nACGT\n>second\n{letters}".encode())
    cut = make("cut.fa.gz", packed[: len(packed) // 2])
    code, out, err = run(cut, "--json", "--out", tmp_path / "out")
    found = json.loads(out)
    assert code == 3 and "ended too early" in err and err.count("\n") == 1
    assert [r["truncated"] for r in found["records"]] == [False, True]
    assert 100_000 < found["records"][1]["length"] < 300_000
    assert found["files"][0]["truncated"] is True
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == found


def test_a_bad_record_does_not_stop_the_others(run, make):
    code, out, err = run(make("x.fa", ">a\nACGT\n>b\nAC?T\n>c\nGGCC\n"), "--json")
    found = json.loads(out)
    assert code == 3 and [r["id"] for r in found["records"]] == ["a", "c"]
    assert "x.fa:4 (b): expected a DNA letter, found '?' at base 3" in err
    assert found["files"][0]["failed"] == 1 and len(found["files"][0]["errors"]) == 1


def test_a_bad_file_does_not_stop_the_others(run, make, tmp_path):
    code, out, err = run(tmp_path / "missing.fa", make("x.fa", ">a\nACGT\n"), "--json")
    found = json.loads(out)
    assert code == 3 and "missing.fa: no such file" in err
    assert [f["records"] for f in found["files"]] == [0, 1] and found["files"][0]["kind"] is None


def test_when_every_file_is_bad_each_is_named(run, tmp_path):
    code, out, err = run(tmp_path / "one.fa", tmp_path / "two.fa")
    assert (code, out) == (1, "") and len(err.splitlines()) == 2
    assert "one.fa: no such file" in err and "two.fa: no such file" in err


def test_an_existing_output_is_refused_and_replaced_only_by_force(run, make, tmp_path):
    out = tmp_path / "out"
    source = make("x.fa", ">a\nACGT\n")
    assert run(source, "--out", out)[0] == 0
    before = (out / "summary.json").read_bytes()
    code, shown, err = run(source, "--out", out)
    assert (code, shown) == (2, "") and "exists already" in err and "--force" in err
    assert (out / "summary.json").read_bytes() == before
    (out / "mine.txt").write_text("kept")
    text = make("t.txt", "A sentence is here. Another one is there.\n")
    assert run(text, "--out", out, "--force")[0] == 0
    made = ["files.tsv", "report.html", "run.json", "summary.json", "summary.md"]
    assert sorted(p.name for p in out.iterdir()) == sorted([*made, "mine.txt"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--window", "50"], "window: expected 0, or 100 to 1,000,000 bases, found 50"),
        (["--region", "NC_000932.1:9-2"], "1 <= START <= END"),
        (["--sentences", "3", "--words", "9"], "--sentences and --words exclude each other"),
        (["--ratio", "1.5"], "a ratio above 0, at most 1"),
        (["--json", "--format", "md"], "--json and --format"),
        (["--model", "dna"], "--model cannot be combined with --no-model"),
        (["--out", "missing/folder"], "its directory does not exist"),
    ],
)
def test_wrong_requests_exit_2(arguments, said, run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(CHLOROPLAST, *arguments)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_region_of_no_record(run):
    code, _, err = run(CHLOROPLAST, "--region", "chrM")
    assert code == 1 and "expected a record named 'chrM'" in err
    code, _, err = run(CHLOROPLAST, "--region", "NC_000932.1:154,479-")
    assert code == 1 and "154,478" in err


def test_a_name_that_is_no_unicode(run, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.fa")
    try:
        Path(path).write_text(">a\nACGT\n")
    except OSError:
        pytest.skip("names are Unicode here")
    code, _, _ = run(path, "--json", "--out", tmp_path / "out")
    assert code == 0 and json.loads((tmp_path / "out" / "summary.json").read_text())["files"][0]["file"] == path
    (table,) = parquet.read_table(tmp_path / "out" / "windows.parquet").to_pylist()
    assert table["file"].endswith("a\\udcff.fa")
    assert "a\\udcff.fa\t" in (tmp_path / "out" / "sequences.tsv").read_text()
    assert run(path)[0] == 0


def test_an_empty_name_is_not_no_name(run, make):
    path = make("a.fa", ">a\nACGT\n")
    assert run(path, "--out", "")[:2] == (2, "")
    code, out, err = run(path, "--model", "", model=())
    assert (code, out) == (1, "") and "no config.json" in err
