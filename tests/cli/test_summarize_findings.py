"""`longseq summarize` with all that it can find: on the terminal, in the files, and what it refuses."""

import json
import random
import re

import pytest

from longseq.cli import main


def drawn(length, seed=0, weights=(1, 1, 1, 1)):
    return "".join(random.Random(seed).choices("ACGT", weights, k=length))


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main(["summarize", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of the next base, and one that classifies."""
    import torch

    from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, save
    from longseq.tokens import DnaTokenizer

    torch.manual_seed(0)
    folder, config = tmp_path_factory.mktemp("models"), ModelConfig(width=16, layers=1, heads=1)
    save(folder / "tiny", LanguageModel(config), DnaTokenizer())
    head = RecordModel(config, HeadConfig(task="classify", outputs=2), ("one", "two"))
    save(folder / "head", head, DnaTokenizer())
    return folder


def test_everything_of_one_record_fits_a_terminal_and_stands_in_the_files(run, tmp_path, models):
    inside = drawn(12_000) + drawn(12_000, 1, (1, 4, 4, 1)).lower() + drawn(12_000, 2)
    letters = "CCCTAA" * 100 + "G" + inside + "C" + "TTAGGG" * 120
    fasta, out = tmp_path / "x.fa", tmp_path / "o"
    fasta.write_text(f">chr1 one\n{letters}\n")
    options = ("--window", 1_000, "--model", models / "tiny", "--classifier", models / "head", "--regions-fasta")
    code, shown, _ = run(fasta, *options, "--out", out)
    assert code == 0 and len(shown.splitlines()) <= 25
    assert "telomere TTAGGG (-) at the start, 600 bp; telomere TTAGGG (+) at the end, 720 bp" in shown
    assert "windows by embedding: " in shown and "adaptive Markov" in shown and "class" in shown
    made = {
        "embeddings.parquet",
        "regions.bed",
        "regions.fa",
        "report.html",
        "sequences.tsv",
        "tracks",
        "windows.parquet",
    }
    assert {p.name for p in out.iterdir()} == {"files.tsv", "longseq_mqc.json", "run.json", "summary.json", *made}
    page = (out / "report.html").read_text()
    assert all(f'<section id="dna-{part}">' in page for part in ("totals", "tracks", "map", "surprises", "records"))
    (row,) = json.loads((out / "summary.json").read_text())["records"]
    most = row["surprising"][0]
    quoted = re.search(rf">&gt;chr1:{most['start'] + 1}-{most['end']}\n(.*?)</pre>", page, re.S).group(1)
    assert quoted.replace("\n", "") == letters[most["start"] : most["end"]]
    assert [one["length"] for one in row["telomeres"]] == [600, 720] and row["topology"] == "unknown"
    assert row["novelty"] == "unknown" and row["out_of_range"] is None and row["genes"] is None
    assert set(row["classes"]["probabilities"]) == {"one", "two"} and row["classes"]["calibrated"] is False
    assert sum(one["share"] for one in row["representatives"]) == pytest.approx(1)
    bed = [line.split("\t") for line in (out / "regions.bed").read_text().splitlines()]
    assert [int(line[1]) for line in bed] == sorted(int(line[1]) for line in bed)
    kinds = {region["kind"] for region in row["regions"]}
    assert {line[3].rstrip("0123456789") for line in bed} == kinds and len(bed) == len(row["regions"])
    parts = (out / "regions.fa").read_text().split(">")[1:]
    assert len(parts) == len(bed)
    for line, part in zip(bed, parts, strict=True):
        header, *body = part.splitlines()
        assert header == f"chr1:{int(line[1]) + 1}-{line[2]} {line[3]}" and max(map(len, body)) <= 80
        assert "".join(body) == letters[int(line[1]) : int(line[2])]


def test_many_records_with_ends_fit_a_terminal(run, tmp_path, models):
    half = drawn(2_000, 3, (4, 1, 1, 4))
    record = "CCCTAA" * 30 + half + half.replace("A", "G").replace("T", "C") + half[:500] + "CCCTAA" * 30
    fasta = tmp_path / "x.fa"
    fasta.write_text("".join(f">r{i}\n{record}\n" for i in range(6)))
    code, shown, _ = run(fasta, "--window", 200, "--model", models / "tiny", "--strands", "forward")
    assert code == 0 and len(shown.splitlines()) <= 25
    assert "telomeres: TTAGGG at 12 ends, in 6 records" in shown and "most surprising" in shown
    assert "regions of one composition" in shown


def test_a_terminal_repeat_is_said(run, tmp_path):
    start = drawn(4_000, 4)
    (tmp_path / "x.fa").write_text(f">phage\n{start}{drawn(4_000, 5)}{start[:160]}\n")
    code, shown, _ = run(tmp_path / "x.fa", "--no-model")
    assert code == 0 and "terminal repeat of 160 bp, 100.00 % equal" in shown and "terminal repeat found" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--regions-fasta", "--no-model"], 2, "--regions-fasta needs --out DIR"),
        (["--per-base"], 2, "--per-base needs --out DIR"),
        (["--per-base", "--out", "o", "--window", "0"], 2, "--per-base needs windows"),
        (["--per-base", "--no-model", "--out", "o"], 2, "--per-base cannot be combined with --no-model"),
        (["--classifier", "none", "--no-model"], 1, "none"),
        (["--classifier", "dna", "--no-model"], 2, "longseq train"),
    ],
)
def test_wrong_requests(arguments, code, said, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.fa").write_text(">a\nACGT\n")
    found, shown, err = run("x.fa", *arguments)
    assert (found, shown) == (code, "") and said in err and err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x.fa"]


def test_genes_want_their_package(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyrodigal", None)
    (tmp_path / "x.fa").write_text(">a\nACGT\n")
    code, shown, err = run(tmp_path / "x.fa", "--no-model", "--pyrodigal")
    assert (code, shown) == (2, "") and "pip install pyrodigal" in err
