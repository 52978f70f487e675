"""bigWig tracks of summaries, read back by another library to the values of windows.parquet."""

import json
import math
import random

import numpy as np
import pybigtools
import pytest
from pyarrow import parquet

from longseq.cli import main
from longseq.report.tracks import NAMES, WINDOWS

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
    assert [(v["record"], v["start"]) for v in vectors] == [("a", s) for s in (0, 500, 1_500, 2_000)]
    assert all(v["strand"] == "both" and len(v["vector"]) == 16 for v in vectors)
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


def test_parts_keep_their_places_and_inputs_have_folders_of_their_own(tmp_path, capsys):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "contigs.fasta").write_text(f">c1\n{drawn(2_000)}\n>c1\n{drawn(500)}\n>\nACGT\n")
    inputs = [tmp_path / folder / "contigs.fasta" for folder in ("a", "b")]
    assert main(["summarize", *map(str, inputs), "--no-model", "--window", "500", "--out", str(tmp_path / "o")]) == 0
    assert "2 records share a name, have none or are too long" in capsys.readouterr().err
    tracks = tmp_path / "o" / "tracks"
    assert sorted(p.name for p in tracks.iterdir()) == ["contigs.fasta", "contigs.fasta.2"]
    assert pybigtools.open(str(tracks / "contigs.fasta.2" / "gc.bw")).chroms() == {"c1": 2_000}
    parts = ("--region", "c1:1,501-2,000", "--region", "c1:501-1,200", "--region", "c1:1,001-1,600")
    assert (
        main(["summarize", str(inputs[0]), *parts, "--no-model", "--window", "500", "--out", str(tmp_path / "p")]) == 0
    )
    assert "1 records share a name" in capsys.readouterr().err
    gc = pybigtools.open(str(tmp_path / "p" / "tracks" / "gc.bw"))
    assert [run[:2] for run in gc.records("c1")] == [(500, 1_000), (1_000, 1_200), (1_500, 2_000)]


def test_reads_and_runs_without_windows_have_no_tracks(tmp_path, capsys):
    (tmp_path / "r.fq").write_text("@r\nACGT\n+\nIIII\n")
    assert run(tmp_path / "r.fq", "--no-model", "--out", tmp_path / "o") == 0
    (tmp_path / "x.fa").write_text(">r\nACGT\n")
    assert run(tmp_path / "x.fa", "--no-model", "--window", 0, "--out", tmp_path / "p") == 0
    assert not (tmp_path / "o" / "tracks").exists() and not (tmp_path / "p" / "tracks").exists()
