"""`longseq score`: tracks that other libraries read to the same values, and what a record costs without a model."""

import random

import numpy as np
import pybigtools
import pytest

from longseq.cli import main
from longseq.metrics import nulls
from longseq.metrics.markov import AdaptiveMarkov
from longseq.model import LanguageModel, ModelConfig, save
from longseq.tokens import DnaTokenizer

CHUNK = 512
RECORDS = {"b": 9_000, "a": 100, "gi|7|ref|X.1|": 8_300, "none": 0, "N": 40}


def letters(name, length):
    text = "".join(random.Random(name).choices("ACGTacgtR", k=length))
    return "N" * length if name == "N" else "NN" + text[2:-70] + "N" * 65 + text[-5:] if length > 80 else text


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(folder, LanguageModel(ModelConfig(width=16, heads=2, layers=1)), DnaTokenizer())
    return folder


@pytest.fixture
def run(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text("".join(f">{name}\n{letters(name, n)}\n" for name, n in RECORDS.items()))

    def call(*arguments):
        code = main(["score", "--chunk", str(CHUNK), "--model", str(model), *arguments])
        return code, *capsys.readouterr()

    return call


def read_back(path):
    reader = pybigtools.open(str(path))
    return {name: np.asarray(reader.values(name, fillna=np.nan), np.float32) for name in reader.chroms()}


def table(path):
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def test_a_bigwig_holds_the_values_of_the_array(run, tmp_path):
    assert run("in.fa", "--out", "npy", "--track", "--strands", "both")[0] == 0
    assert run("in.fa", "--out", "bw", "--track", "--track-format", "bw", "--strands", "both")[0] == 0
    assert {path.name for path in (tmp_path / "bw").iterdir()} == {
        "scores.tsv", "run.json", "bits_forward.bw", "bits_reverse.bw",
    }  # fmt: skip
    rows = table(tmp_path / "npy" / "scores.tsv")
    assert table(tmp_path / "bw" / "scores.tsv") == rows
    array, at = np.load(tmp_path / "npy" / "bits.npy"), 0
    found = {"+": read_back(tmp_path / "bw" / "bits_forward.bw"), "-": read_back(tmp_path / "bw" / "bits_reverse.bw")}
    for row in rows:
        wanted, at = array[at : at + int(row["length"])], at + int(row["length"])
        if np.isnan(wanted).all():  # the format has no records without values
            assert row["record"] not in found[row["strand"]]
            continue
        assert np.array_equal(found[row["strand"]][row["record"]], wanted, equal_nan=True)
        known = [letter in "ACGTacgt" for letter in letters(row["record"], len(wanted))]
        assert np.array_equal(np.isfinite(wanted), known)
    assert [len(records) for records in found.values()] == [3, 3]


def test_a_region_stands_at_its_place(run, tmp_path):
    assert run("in.fa", "--region", "b:101-600", "--out", "bw", "--track", "--track-format", "bw")[0] == 0
    assert run("in.fa", "--region", "b:101-600", "--out", "npy", "--track")[0] == 0
    (bits,) = read_back(tmp_path / "bw" / "bits_forward.bw").values()
    assert len(bits) == 600 and np.isnan(bits[:100]).all()
    assert np.array_equal(bits[100:], np.load(tmp_path / "npy" / "bits.npy"), equal_nan=True)


@pytest.mark.parametrize("strands", ["forward", "both"])
def test_where_regions_overlap_a_base_has_the_bits_of_the_first(run, tmp_path, strands):
    track = ("--track", "--track-format", "bw", "--strands", strands)
    places = {"first": (301, 600), "second": (101, 800), "within": (350, 400)}
    for name, (start, end) in places.items():
        assert run("in.fa", "--region", f"b:{start}-{end}", "--out", name, *track)[0] == 0
    regions = [word for start, end in places.values() for word in ("--region", f"b:{start}-{end}")]
    code, _, err = run("in.fa", *regions, "--out", "all", *track)
    assert code == 0 and err.count("parts overlap") == 1 and "not in the track" not in err
    for file in ("bits_forward.bw", "bits_reverse.bw")[: 1 + (strands == "both")]:
        first, second, found = (read_back(tmp_path / name / file)["b"] for name in ("first", "second", "all"))
        second[300:600] = first[300:]
        assert np.array_equal(found, second, equal_nan=True)


def test_regions_of_two_files_share_no_track(run, tmp_path):
    for name, end in (("x.fa", 300), ("y.fa", 500)):
        (tmp_path / name).write_text(">a\n" + "ACGTC" * (end // 5) + "\n")
    code, _, err = run("x.fa", "y.fa", "--region", "a:101-600", "--out", "bw", "--track", "--track-format", "bw")
    assert code == 0 and "without one, or too long: 1 row" in err
    assert len(read_back(tmp_path / "bw" / "bits_forward.bw")["a"]) == 300


def test_a_name_that_stood_before_is_left_out_and_said(run, tmp_path):
    (tmp_path / "two.fa").write_text(">a\nACGT\n>a\nTTTTT\n>\nACGT\n")
    code, _, err = run("two.fa", "--out", "bw", "--track", "--track-format", "bw")
    assert code == 0 and "not in the track, of a name that stood before, without one, or too long: 2 rows" in err
    assert {name: len(bits) for name, bits in read_back(tmp_path / "bw" / "bits_forward.bw").items()} == {"a": 4}


def test_a_format_goes_with_a_track(run):
    code, _, err = run("in.fa", "--out", "bw", "--track-format", "bw")
    assert code == 2 and "--track-format needs --track" in err


def test_nulls_are_those_of_the_whole_record_on_either_strand(run, tmp_path, monkeypatch):
    """However a strand is cut: slices are of 1,000 here, chunks of 512."""
    monkeypatch.setattr(nulls, "SLICE", 1000)
    assert run("in.fa", "--out", "out", "--strands", "both")[0] == 0
    for row in table(tmp_path / "out" / "scores.tsv"):
        codes = np.array(["ACGT".find(x) % 5 for x in letters(row["record"], int(row["length"])).upper()], np.uint8)
        if row["strand"] == "-":
            codes = np.where(codes < 4, 3 - codes, 4)[::-1].astype(np.uint8)
        for order in (2, 6):
            if not (codes < 4).any():
                assert row[f"order{order}"] == "NA"
                continue
            (bits,) = AdaptiveMarkov(order).bits([codes])
            assert float(row[f"order{order}"]) == pytest.approx(np.nanmean(bits, dtype=np.float64), rel=1e-9)


def test_a_state_that_goes_on_has_no_null(run, tmp_path):
    (tmp_path / "one.fa").write_text(f">a\n{letters('a', 100)}\n")
    assert run("one.fa", "--out", "first", "--save-state", "s.state")[0] == 0
    assert run("one.fa", "--out", "next", "--state", "s.state")[0] == 0
    assert table(tmp_path / "first" / "scores.tsv")[0]["order2"] != "NA"
    assert table(tmp_path / "next" / "scores.tsv")[0]["order2"] == "NA"
