"""`longseq annotate`: tracks, intervals and tables that agree with the model and with one another."""

import json
import os
import re
import shutil
from itertools import pairwise

import numpy as np
import pytest
import torch

from longseq.cli import main
from longseq.formats.features import read_features
from longseq.model import HeadConfig, ModelConfig, TokenModel, save
from longseq.tokens import DnaTokenizer

LABELS = ("none", "exon+", "exon-", "a/loop")
PREFIX = ["annotate", "--chunk", "64", "-q"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model to classify each base: mostly by its own letter, so that there are intervals."""
    path = tmp_path_factory.mktemp("model") / "m"
    torch.manual_seed(0)
    config = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2)
    found = TokenModel(config, HeadConfig(task="annotate", outputs=4), LABELS)
    with torch.no_grad():
        found.head.weight.mul_(10)
    save(path, found, DnaTokenizer(), labels=LABELS)
    return path


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    rng = np.random.default_rng(1)
    letters = [rng.choice(np.frombuffer(b"ACGT", np.uint8), n).tobytes().decode() for n in (200, 90, 33)]
    letters[0] = letters[0][:80] + "N" * 25 + letters[0][105:]
    path = tmp_path_factory.mktemp("in") / "x.fa"
    path.write_text("".join(f">{name} d\n{text}\n" for name, text in zip(("z|1.1", "b", "c"), letters, strict=True)))
    return path


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def out(model, fasta, tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "o"
    assert main([*PREFIX, str(fasta), "--model", str(model), "--out", str(path)]) == 0
    return path


def values(out, track, name, length):
    import pybigtools

    found = np.asarray(pybigtools.open(str(out / "tracks" / track)).values(name, fillna=np.nan), np.float32)
    assert len(found) == length
    return found


def test_tracks_are_probabilities_with_gaps_over_n(out):
    assert sorted(os.listdir(out)) == ["annotation.json", "intervals.bed", "intervals.gff3", "records.tsv", "tracks"]
    assert sorted(os.listdir(out / "tracks")) == ["a_loop.bw", "exon+.bw", "exon-.bw", "none.bw"]
    for name, length in (("z|1.1", 200), ("b", 90), ("c", 33)):
        found = np.array([values(out, f"{t}.bw", name, length) for t in ("none", "exon+", "exon-", "a_loop")])
        gap = np.isnan(found)
        assert (gap == gap[0]).all() and gap[0].sum() == (25 if length == 200 else 0)
        assert np.allclose(found[:, ~gap[0]].sum(0), 1, atol=1e-5)
        assert length != 200 or gap[0, 80:105].all()


def test_intervals_are_runs_of_the_likeliest_class(out):
    wanted = []
    for name, length in (("z|1.1", 200), ("b", 90), ("c", 33)):
        found = np.array([values(out, f"{t}.bw", name, length) for t in ("none", "exon+", "exon-", "a_loop")])
        labels = np.where(np.isnan(found[0]), 0, np.nan_to_num(found).argmax(0))
        edges = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), length]
        for a, b in pairwise(edges):
            if labels[a]:
                word, strand = [("exon", "+"), ("exon", "-"), ("a/loop", ".")][labels[a] - 1]
                wanted.append((name, a, b, word, strand, float(found[labels[a], a:b].astype(float).mean())))
    bed = [(r[0], int(r[1]), int(r[2]), r[3], r[5], float(r[6])) for r in rows(out / "intervals.bed")]
    assert len(wanted) > 10 and [w[:5] for w in wanted] == [b[:5] for b in bed]
    assert {w[4] for w in wanted} >= {"+", "-"}
    for (*_, mean), row in zip(wanted, rows(out / "intervals.bed"), strict=True):
        assert abs(mean - float(row[6])) < 1e-6 and int(row[4]) == round(1000 * mean)
    gff = [(f.interval.record, f.interval.start, f.interval.end, f.name) for f in read_features(out / "intervals.gff3")]
    assert gff == [w[:4] for w in wanted]
    assert "##sequence-region z|1.1 1 200\n" in (out / "intervals.gff3").read_text()
    ids = re.findall(r"ID=([^;]+)", (out / "intervals.gff3").read_text())
    assert len(set(ids)) == len(ids) == len(wanted)
    table = rows(out / "records.tsv")
    place = ["file", "record", "start", "end", "length"]
    assert table[0][:10] == [*place, "unknown", "truncated", "intervals", "bases none", "bases exon+"]
    found = [["z|1.1", "0", "200", "200", "25"], ["b", "0", "90", "90", "0"], ["c", "0", "33", "33", "0"]]
    assert [row[1:6] for row in table[1:]] == found
    assert [int(row[7]) for row in table[1:]] == [sum(w[0] == n for w in wanted) for n in ("z|1.1", "b", "c")]
    assert all(sum(map(int, row[8:12])) == int(row[4]) - int(row[5]) for row in table[1:])


def test_facts_say_where_it_comes_from(out, model, fasta):
    facts = json.loads((out / "annotation.json").read_text())
    assert facts["schema"] == "longseq.annotation/1" and facts["background"] == "none" and facts["chunk"] == 64
    assert facts["run"]["model"] == str(model) and len(facts["run"]["model_sha256"]) == 64
    assert facts["file"]["records"] == 3 and facts["file"]["length"] == facts["run"]["tokens"] == 323
    assert facts["classes"][3] == {"name": "a/loop", "track": "tracks/a_loop.bw"}
    assert facts["intervals"] == len(rows(out / "intervals.bed"))


def test_short_and_unlikely_intervals_are_left_out(out, model, fasta, tmp_path):
    given = [*PREFIX, str(fasta), "--model", str(model), "--out", str(tmp_path / "o")]
    assert main([*given, "--min-length", "3", "--threshold", "0.6"]) == 0
    kept = [r for r in rows(out / "intervals.bed") if int(r[2]) - int(r[1]) >= 3 and float(r[6]) >= 0.6]
    assert kept and rows(tmp_path / "o" / "intervals.bed") == kept
    assert main(given) == 2 and main([*given, "--force"]) == 0  # an output stands, and is replaced
    assert rows(tmp_path / "o" / "intervals.bed") == rows(out / "intervals.bed")


def test_a_record_that_fails_does_not_stop_the_others(model, tmp_path, capsys):
    (tmp_path / "n.fa").write_text(">n\nNNNN\n>e\n")
    assert main([*PREFIX, str(tmp_path / "n.fa"), "--model", str(model), "--out", str(tmp_path / "n")]) == 0
    assert os.listdir(tmp_path / "n" / "tracks") == []
    assert json.loads((tmp_path / "n" / "annotation.json").read_text())["classes"][0] == {"name": "none", "track": None}
    (tmp_path / "x.fa").write_text(">a\nACGTACGTAC\n>a\nACGT\n>bad\nAC!T\n>\nACGT\n>e\n")
    out = tmp_path / "o"
    assert main([*PREFIX, str(tmp_path / "x.fa"), "--model", str(model), "--out", str(out)]) == 3
    said = capsys.readouterr().err
    assert "(a): expected a name of its own, found a second one" in said and "found none" in said and "'!'" in said
    assert [row[1] for row in rows(out / "records.tsv")[1:]] == ["a", "e"]
    (tmp_path / "y.fa").write_text(">bad\nAC!T\n")
    given = [*PREFIX, str(tmp_path / "y.fa"), "--model", str(model), "--out", str(tmp_path / "y")]
    assert main(given) == 1 and not (tmp_path / "y").exists()
    assert main([*given, "--on-unknown", "N"]) == 0 and (tmp_path / "y" / "tracks" / "none.bw").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["--model", "dna"], "expected a model to classify each base, found a model to score the next token"),
        (["--threshold", "2"], "threshold"),
        (["--min-length", "0"], "min-length"),
    ],
)
def test_wrong_requests_are_refused(model, fasta, tmp_path, capsys, changes, said):
    assert main([*PREFIX, str(fasta), "--model", str(model), "--out", str(tmp_path / "o"), *changes]) in (1, 2)
    assert said in capsys.readouterr().err and not (tmp_path / "o").exists()


def test_a_region_is_read_alone_and_keeps_its_coordinates(model, fasta, tmp_path, capsys):
    given = [*PREFIX, str(fasta), "--model", str(model), "--out"]
    (tmp_path / "names").write_text("z|1.1 other\n")
    asked = ["--region", "other:11-70", "--alias", str(tmp_path / "names")]
    assert main([word for word in [*given, str(tmp_path / "o"), *asked] if word != "-q"]) == 0
    assert "other is z|1.1" in capsys.readouterr().err
    text = fasta.read_text().splitlines()[1][10:70]
    (tmp_path / "part.fa").write_text(f">z|1.1\n{text}\n")
    assert main([*PREFIX, str(tmp_path / "part.fa"), "--model", str(model), "--out", str(tmp_path / "p")]) == 0
    part = [[r[0], str(int(r[1]) + 10), str(int(r[2]) + 10), *r[3:]] for r in rows(tmp_path / "p" / "intervals.bed")]
    assert part and rows(tmp_path / "o" / "intervals.bed") == part
    assert "##sequence-region z|1.1 11 70\n" in (tmp_path / "o" / "intervals.gff3").read_text()
    assert rows(tmp_path / "o" / "records.tsv")[1][1:5] == ["z|1.1", "10", "70", "60"]
    track = values(tmp_path / "o", "none.bw", "z|1.1", 70)
    assert np.isnan(track[:10]).all()
    assert np.array_equal(track[10:], values(tmp_path / "p", "none.bw", "z|1.1", 60))
    assert json.loads((tmp_path / "o" / "annotation.json").read_text())["regions"] == [["other", 10, 70, "."]]
    assert main([*given, str(tmp_path / "q"), "--region", "b:80-95", "--strict"]) == 1
    assert "expected a region that ends at 90 or before" in capsys.readouterr().err


def test_several_regions_are_what_each_of_them_is_alone(model, fasta, tmp_path, capsys):
    given = [*PREFIX, str(fasta), "--model", str(model), "--out"]
    asked = ("z|1.1:121-200", "b:5-60", "z|1.1:1-70")
    assert main([*given, str(tmp_path / "o"), *(word for region in asked for word in ("--region", region))]) == 0
    table, bed = [], []
    for i, region in enumerate(asked):
        assert main([*given, str(tmp_path / str(i)), "--region", region]) == 0
        table += rows(tmp_path / str(i) / "records.tsv")[1:]
        bed += rows(tmp_path / str(i) / "intervals.bed")
    assert bed and rows(tmp_path / "o" / "intervals.bed") == bed and rows(tmp_path / "o" / "records.tsv")[1:] == table
    track = values(tmp_path / "o", "none.bw", "z|1.1", 200)
    assert np.isnan(track[70:120]).all()
    assert np.array_equal(track[:70], values(tmp_path / "2", "none.bw", "z|1.1", 70), equal_nan=True)
    assert np.array_equal(track[120:], values(tmp_path / "0", "none.bw", "z|1.1", 200)[120:], equal_nan=True)
    text = (tmp_path / "o" / "intervals.gff3").read_text()
    ids = re.findall(r"ID=([^;]+)", text)
    assert len(set(ids)) == len(ids) == len(bed) and "##sequence-region" not in text
    assert main([*given, str(tmp_path / "p"), "--region", "b:1-9", "--region", "b:9-12"]) == 2
    assert "expected regions apart from one another, found base 9 in two" in capsys.readouterr().err


def test_reads_of_a_pair_are_kept_apart(model, tmp_path, capsys):
    pair = "".join(f"@p {i}:N:0:ACGT\n{text}\n+\n{'I' * 8}\n" for i, text in ((1, "ACGTTGCA"), (2, "CCGTTGAA")))
    (tmp_path / "x.fq").write_text(pair)
    flags = "".join(
        f"p\t{flag}\t*\t0\t0\t*\t*\t0\t0\t{text}\t*\n" for flag, text in ((77, "ACGTTGCA"), (141, "CCGTTGAA"))
    )
    (tmp_path / "x.sam").write_text("@HD\tVN:1.6\n" + flags + flags.splitlines()[0] + "\n")
    for name, code in (("x.fq", 0), ("x.sam", 3)):
        out = tmp_path / f"{name}.out"
        assert main([*PREFIX, str(tmp_path / name), "--model", str(model), "--out", str(out)]) == code
        assert [row[1] for row in rows(out / "records.tsv")[1:]] == ["p/1", "p/2"]
        assert len(values(out, "none.bw", "p/1", 8)) == len(values(out, "none.bw", "p/2", 8)) == 8
    assert capsys.readouterr().err.count("found a second one") == 1


def test_another_share_of_soft_masked_letters_is_said(model, fasta, tmp_path, capsys):
    config = json.loads((model / "config.json").read_text())
    masked = tmp_path / "m"
    shutil.copytree(model, masked)
    (masked / "config.json").write_text(json.dumps(config | {"soft_masked": 0.1}))
    (tmp_path / "low.fa").write_text(">a\n" + "acgtACGT" * 8 + "\n")
    said = f"warning: {tmp_path / 'low.fa'}: 50.0 % of the letters are soft-masked, of those that {masked} learned from"
    for file, name, warned in (
        (tmp_path / "low.fa", masked, True),
        (tmp_path / "low.fa", model, False),
        (fasta, masked, False),
    ):
        words = ["annotate", str(file), "--model", str(name), "--out", str(tmp_path / "o"), "--force"]
        assert main(words) == 0
        assert (said in capsys.readouterr().err) is warned


def test_an_interval_crosses_the_origin_of_a_circle(model, tmp_path):
    """Of records that begin and end in one letter, those to whose ends the model gives one class."""
    texts = {x: x * 9 + "ACGTTGCA" * 4 + x * 7 for x in "ACGT"}
    (tmp_path / "x.fa").write_text("".join(f">{x} circular=true\n{text}\n" for x, text in texts.items()))
    out, crossed = tmp_path / "o", 0
    assert main([*PREFIX, str(tmp_path / "x.fa"), "--model", str(model), "--out", str(out)]) == 0
    gff = [line.split("\t") for line in (out / "intervals.gff3").read_text().splitlines() if line[0] != "#"]
    features = [f for f in read_features(out / "intervals.gff3") if f.name != "region"]
    assert [(f.interval.record, f.interval.start, f.interval.end) for f in features] == [
        (row[0], int(row[1]), int(row[2])) for row in rows(out / "intervals.bed")
    ]
    for x in texts:
        tracks = np.array([values(out, f"{t}.bw", x, 48) for t in ("none", "exon+", "exon-", "a_loop")])
        labels = tracks.argmax(0)
        lines = [row for row in gff if row[0] == x]
        assert "Is_circular=true" in lines[0][8] and lines[0][3:5] == ["1", "48"]
        crosses = labels[0] == labels[-1] != 0
        assert crosses == any(int(row[4]) > 48 for row in lines)
        if crosses:
            start, end = 48 - int(np.argmin(labels[::-1] == labels[0])), 48 + int(np.argmin(labels == labels[0]))
            assert lines[-1][3:5] == [str(start + 1), str(end)] and "1" not in [row[3] for row in lines[1:]]
            mean = np.concatenate([tracks[labels[0], start:], tracks[labels[0], : end - 48]]).mean()
            assert float(lines[-1][5]) == pytest.approx(mean, abs=1e-5)
            crossed += 1
    assert crossed
