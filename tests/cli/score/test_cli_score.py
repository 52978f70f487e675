"""`longseq score`: bits of records, as a table, as JSON and as a track."""

import io
import json
import os

import numpy as np
import pytest
from scoring import CHUNK, LENGTHS, letters, table

from longseq.model import load
from longseq.streaming import Surprisal


def test_the_table_is_the_sum_of_the_bits(run, source, models):
    code, out, err = run(source)
    assert (code, err) == (0, "")
    rows = table(out)
    assert [row["record"] for row in rows] == [f"r{i}" for i in range(len(LENGTHS))]
    surprisal = Surprisal(load(models / "m0"), chunk=CHUNK)
    for i, (row, length) in enumerate(zip(rows, LENGTHS, strict=True)):
        reader = surprisal()
        bits = np.concatenate([reader.push(letters(length, i).encode()), reader.finish()])
        known = bits[~np.isnan(bits)].astype(float)
        assert (row["file"], row["strand"], row["truncated"]) == (str(source), "+", "false")
        assert (int(row["length"]), int(row["tokens"])) == (length, len(known))
        if length:
            assert float(row["bits"]) == pytest.approx(known.sum(), rel=1e-12)
            assert float(row["bits_per_token"]) == float(row["bits"]) / len(known)
        else:
            assert (row["bits"], row["bits_per_token"]) == ("0.0", "NA")


def test_json_is_one_document(run, source):
    code, out, _ = run(source, "--json")
    found = json.loads(out)
    assert code == 0 and found["schema"] == "longseq.score/1"
    assert found["run"]["tokens"] == sum(LENGTHS) and len(found["run"]["model_sha256"]) == 64
    assert found["files"][0]["records"] == len(LENGTHS) == len(found["records"])
    rows = table(run(source)[1])
    assert [record["bits"] for record in found["records"]] == [float(row["bits"]) for row in rows]
    assert found["records"][2]["bits_per_token"] is None


@pytest.mark.parametrize("strands", ["forward", "both"])
def test_the_track_stands_at_its_bases(run, source, tmp_path, models, strands):
    code, out, _ = run(source, "--out", tmp_path / "out", "--track", "--strands", strands)
    assert code == 0 and "bits per token" in out
    assert sorted(os.listdir(tmp_path)) == ["in.fa", "out"]
    track = np.load(tmp_path / "out" / "bits.npy")
    rows = table((tmp_path / "out" / "scores.tsv").read_text())
    assert track.dtype == np.float32 and len(track) == sum(int(row["length"]) for row in rows)
    assert len(rows) == len(LENGTHS) * (2 if strands == "both" else 1)
    surprisal, at = Surprisal(load(models / "m0"), chunk=CHUNK), 0
    for row in rows:
        number = int(row["record"][1:])
        text = letters(LENGTHS[number], number).encode()
        backwards = row["strand"] == "-"
        if backwards:
            text = text[::-1].translate(bytes.maketrans(b"ACGTRacgt", b"TGCAYtgca"))
        reader = surprisal()
        bits = np.concatenate([reader.push(text), reader.finish()])
        assert track[at : at + len(bits)].tobytes() == (bits[::-1] if backwards else bits).tobytes()
        at += len(bits)


def test_bad_records_do_not_stop_the_others(run, tmp_path):
    bad, good = tmp_path / "bad.fa", tmp_path / "good.fa"
    bad.write_text(">a\nACGT\n>b\nAC!T\n>c\nGATTACA\n")
    good.write_text(">d\nACGTA\n")
    code, out, err = run(bad, tmp_path / "none.fa", good)
    assert code == 3 and "found '!'" in err and "none.fa: no such file" in err
    assert [row["record"] for row in table(out)] == ["a", "c", "d"]
    code, out, err = run(tmp_path / "none.fa")
    assert (code, out) == (1, "") and "no such file" in err
    (tmp_path / "t.txt").write_text("A sentence is here.\n")
    code, out, err = run(tmp_path / "t.txt")
    assert code == 1 and "expected sequences of DNA, found a document" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--track"], "--track needs --out DIR"),
        (["--resume"], "--resume needs --out DIR"),
        (["--resume", "--force"], "--resume and --force exclude each other"),
        (["--out", "missing/folder"], "its directory does not exist"),
        (["--snapshot-every", "0"], "--snapshot-every"),
        (["--chunk", "1048577"], "--chunk"),
        (["--save-state", "."], ".: is a directory; name a file in it"),
        (["--save-state", ".", "--force"], ".: is a directory; name a file in it"),
    ],
)
def test_wrong_requests_exit_2(run, source, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(source, *options)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
    assert os.listdir(tmp_path) == ["in.fa"]


def test_a_region_and_standard_input(run, source, monkeypatch):
    (row,) = table(run(source, "--region", "r1:101-400")[1])
    assert (row["start"], row["end"], row["length"]) == ("100", "400", "300")
    rows = table(run(source, "--region", "r4:11-20", "--region", "r1:101-400", "--region", "r4:5-12")[1])
    assert [(r["record"], r["start"], r["end"]) for r in rows] == [
        ("r4", "10", "20"),
        ("r1", "100", "400"),
        ("r4", "4", "12"),
    ]
    assert rows[1] == row
    wanted = run(source)[1].replace(str(source), "-")
    with open(source, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert run("-") == (0, wanted, "")
