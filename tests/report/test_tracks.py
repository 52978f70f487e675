"""bigWig tracks of summaries, read back by another library to the values of windows.parquet."""

import json
import math
import random

import numpy as np
import pybigtools
import pytest
from pyarrow import parquet

from longseq.cli import main
from longseq.report.tracks import NAMES, WINDOWS, _Input

FIGURES = {NAMES.get(name, name): name for name in WINDOWS}


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    import torch

    from longseq.model import LanguageModel, ModelConfig, save
    from longseq.tokens import DnaTokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    save(folder, LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return folder


def run(*arguments):
    return main(["summarize", *map(str, arguments), "-q"])


def drawn(length, seed=0):
    return "".join(random.Random(seed).choices("ACGTacgt", k=length))


def values(path, name, start, end):
    return np.asarray(pybigtools.open(str(path)).values(name, start, end, fillna=np.nan))


def test_tracks_read_back_equal_windows_and_gaps_stay_gaps(tmp_path, tiny_model, capsys):
    fasta = tmp_path / "x.fa"
    records = {"chr2": drawn(2_300), "chr10": drawn(1_000, 1) + "N" * 1_200 + drawn(900, 2), "none": "N" * 900}
    fasta.write_text("".join(f">{name}\n{letters}\n" for name, letters in records.items()))
    assert run(fasta, "--window", 500, "--out", tmp_path / "o", "--model", tiny_model) == 0
    rows = parquet.read_table(tmp_path / "o" / "windows.parquet").to_pylist()
    assert sorted(p.stem for p in (tmp_path / "o" / "tracks").iterdir()) == sorted(FIGURES)
    for track, column in FIGURES.items():
        path = tmp_path / "o" / "tracks" / f"{track}.bw"
        assert pybigtools.open(str(path)).chroms() == {"chr10": 3_100, "chr2": 2_300}
        for row in rows:
            if row["record"] == "none":
                assert row[column] is None
                continue
            found = values(path, row["record"], row["start"], row["end"])
            expected = math.nan if row[column] is None else row[column]
            assert np.array_equal(found, np.full(len(found), expected), equal_nan=True), (track, row)
    (gap,) = [row for row in rows if row["record"] == "chr10" and row["start"] == 1_500]
    assert gap["n"] == 500 and all(gap[column] is None for column in FIGURES.values())


def test_an_all_n_window_is_na_in_every_file(tmp_path, tiny_model, capsys):
    fasta = tmp_path / "x.fa"
    fasta.write_text(">a\n" + drawn(1_000) + "N" * 500 + drawn(1_000, 1) + "\n>n\n" + "N" * 500 + "\n")
    out = tmp_path / "o"
    options = ("--window", 500, "--out", out, "--model", tiny_model, "--per-base", "--regions-fasta")
    assert run(fasta, *options) == 0
    first, second = json.loads((out / "summary.json").read_text())["records"]
    figures = ("gc", "gc_of_length", "bits_per_base", "order0_bits", "order2_bits", "out_of_range", "skew")
    assert [second[name] for name in figures] == [None, 0.0, None, None, None, None, None]
    assert second["markov_bits"] == {} and second["surprising"] == second["representatives"] == []
    assert second["regions"][0]["gc"] is second["regions"][0]["bits"] is None
    header, _, line = (text.split("\t") for text in (out / "sequences.tsv").read_text().splitlines())
    row = dict(zip(header, line, strict=True))
    assert row["gc"] == row["bits_per_base"] == row["markov2_bits"] == row["class"] == "NA"
    assert (out / "regions.bed").read_text().splitlines()[-1].split("\t")[6] == "NA"
    vectors = parquet.read_table(out / "embeddings.parquet").to_pylist()
    places = [*(("a", start) for start in range(0, 2_500, 500)), ("n", 0)]
    assert [(v["record"], v["start"]) for v in vectors] == places and {v["strand"] for v in vectors} == {"both"}
    assert [v["vector"] and len(v["vector"]) for v in vectors] == [16, 16, None, 16, 16, None]
    for path in (out / "tracks").iterdir():
        assert np.isnan(values(path, "a", 1_000, 1_500)).all() and "n" not in pybigtools.open(str(path)).chroms()
    assert not any(1_000 <= w["start"] < 1_500 for w in first["surprising"] + first["representatives"])


def test_bits_of_every_base_mirror_each_other_on_the_strands(tmp_path, tiny_model, capsys):
    letters = drawn(3_000, 5).upper()
    other = letters[::-1].translate(str.maketrans("ACGT", "TGCA"))
    (tmp_path / "x.fa").write_text(f">one\n{letters}\n>other\n{other}\n")
    options = ("--window", 500, "--per-base", "--model", tiny_model)
    assert run(tmp_path / "x.fa", *options, "--out", tmp_path / "o") == 0
    path = tmp_path / "o" / "tracks" / "bits_per_base.bw"
    one, two = values(path, "one", 0, 3_000), values(path, "other", 0, 3_000)
    assert np.abs(one - two[::-1]).max() < 1e-5 and len(set(one.tolist())) > 1_000
    windows = parquet.read_table(tmp_path / "o" / "windows.parquet").to_pylist()
    assert [w["bits"] for w in windows[:6]] == pytest.approx(one.reshape(6, 500).mean(axis=1).tolist(), rel=1e-5)


@pytest.fixture
def chromosome(tmp_path):
    """c1, another c1, one without a name."""
    path = tmp_path / "x.fa"
    path.write_text(f">c1\n{drawn(2_000)}\n>c1\n{drawn(500, 1)}\n>\nACGT\n")
    return path


def test_records_without_a_track_are_said_with_the_reason(tmp_path, chromosome, capsys):
    assert main(["summarize", str(chromosome), "--no-model", "--window", "500", "--out", str(tmp_path / "o")]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"longseq: {chromosome}: no track of 1 record whose name another one had before",
        f"longseq: {chromosome}: no track of 1 record without a name",
    ]
    assert pybigtools.open(str(tmp_path / "o" / "tracks" / "gc.bw")).chroms() == {"c1": 2_000}


@pytest.mark.parametrize("model", [False, True])
def test_parts_that_overlap_share_the_tracks(tmp_path, chromosome, tiny_model, capsys, model):
    """In places of windows of 500: the first part's, then what is new of the next ones, one of which is new nowhere."""
    parts = ("501-1,200", "1,501-2,000", "301-1,800", "600-700", "1-400")
    regions = [word for part in parts for word in ("--region", f"c1:{part}")]
    how = ["--model", str(tiny_model), "--per-base"] if model else ["--no-model"]
    assert main(["summarize", str(chromosome), *regions, *how, "--window", "500", "--out", str(tmp_path / "o")]) == 0
    said = f"longseq: {chromosome}: parts overlap; tracks have the figures of the part given first\n"
    assert capsys.readouterr().err == said
    rows = parquet.read_table(tmp_path / "o" / "windows.parquet").to_pylist()
    assert len(rows) == 2 + 1 + 3 + 1 + 1
    gc = pybigtools.open(str(tmp_path / "o" / "tracks" / "gc.bw"))
    assert [run[:2] for run in gc.records("c1")] == [
        *[(0, 300), (300, 500), (500, 1_000), (1_000, 1_200), (1_200, 1_300), (1_300, 1_500), (1_500, 2_000)]
    ]
    wanted = np.full(2_000, np.nan)
    for row in reversed(rows):  # the first one given is on top
        wanted[row["start"] : row["end"]] = row["gc"]
    assert np.array_equal(values(tmp_path / "o" / "tracks" / "gc.bw", "c1", 0, 2_000), wanted)
    if model:
        path = tmp_path / "o" / "tracks" / "bits_per_base.bw"
        assert run(chromosome, "--region", "c1:501-1200", *how, "--window", 500, "--out", tmp_path / "p") == 0
        alone = values(tmp_path / "p" / "tracks" / "bits_per_base.bw", "c1", 500, 1_200)
        assert np.array_equal(values(path, "c1", 500, 1_200), alone)
        assert not np.isnan(values(path, "c1", 0, 2_000)).any()


def test_a_whole_record_and_a_part_of_it_are_no_two_records(tmp_path, chromosome, capsys):
    options = ("--region", "c1", "--region", "c1:1-600", "--no-model", "--window", "500", "--out", str(tmp_path / "o"))
    assert main(["summarize", str(chromosome), *options]) == 0
    assert "parts overlap" in capsys.readouterr().err
    gc = pybigtools.open(str(tmp_path / "o" / "tracks" / "gc.bw"))
    assert [run[:2] for run in gc.records("c1")] == [(s, s + 500) for s in range(0, 2_000, 500)]


def test_reads_and_runs_without_windows_have_no_tracks(tmp_path, capsys):
    (tmp_path / "r.fq").write_text("@r\nACGT\n+\nIIII\n")
    assert run(tmp_path / "r.fq", "--no-model", "--out", tmp_path / "o") == 0
    (tmp_path / "x.fa").write_text(">r\nACGT\n")
    assert run(tmp_path / "x.fa", "--no-model", "--window", 0, "--out", tmp_path / "p") == 0
    (tmp_path / "n.fa").write_text(">n\nNNNN\n")
    assert run(tmp_path / "n.fa", "--no-model", "--out", tmp_path / "q") == 0
    assert not any((tmp_path / folder / "tracks").exists() for folder in "opq")


def test_a_base_is_of_the_part_that_came_first():
    known, made = _Input("x.fa"), random.Random(0)
    taken = {name: set() for name in "ab"}
    for _ in range(200):
        name, start = made.choice("ab"), made.randrange(300)
        end = start + made.randrange(1, 12)
        free = known.free(name, start, end)
        assert [base for span in free for base in range(*span)] == sorted({*range(start, end)} - taken[name])
        taken[name].update(range(start, end))
        known.add(name, 0, free, 1, start, 0, -1)
