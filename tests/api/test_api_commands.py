"""Each function says what the command of its name writes."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import longseq
from longseq.cli import main
from longseq.formats.cells import cell


@pytest.fixture
def run(tmp_path, capsys):
    """Of a command with --out, what it wrote."""

    def call(command, *arguments, out="out"):
        assert main([command, "-q", *map(str, arguments), "--out", str(tmp_path / out)]) == 0
        return tmp_path / out

    return call


def lines(path):
    """Rows of a table of text."""
    return [line.split("\t") for line in path.read_text().splitlines()]


def cells(results):
    """The same of results."""
    table = results.to_arrow()
    return [table.column_names, *([*map(cell, row.values())] for row in table.to_pylist())]


def test_summarize(run, genome, made):
    out = run("summarize", genome, "--model", made["next"], "--window", 100)
    found = longseq.summarize(genome, model=made["next"], window=100)
    rows = json.loads((out / "summary.json").read_text())["records"]
    for one, row in zip(found, rows, strict=True):
        assert json.loads(json.dumps(one.row.to_json())) == {name: row[name] for name in row if name != "regions"}
    windows = found.windows.to_arrow()
    assert windows.equals(pq.read_table(out / "windows.parquet").replace_schema_metadata())
    names, *rest = lines(out / "sequences.tsv")
    kept = found.to_arrow().select(names).to_pylist()
    assert [[*map(cell, row.values())] for row in kept] == rest
    bed = lines(out / "regions.bed")
    places = found.regions.to_pandas()[["record", "start", "end", "name"]].astype(str)
    assert places.to_numpy().tolist() == [row[:4] for row in bed]


def test_summarize_documents(tmp_path, run):
    text = "The keeper lit the lamp at dusk. The sea was calm and grey. Nobody came. He wrote down the hour of light."
    (tmp_path / "a.txt").write_text(text)
    asked = {"sentences": 2, "query": "Who lit the lamp?", "exclude": ["Nobody"]}
    (one,) = longseq.summarize(tmp_path / "a.txt", **asked)
    out = run("summarize", tmp_path / "a.txt", "--sentences", 2, "--query", asked["query"], "--exclude", "Nobody")
    (row,) = json.loads((out / "summary.json").read_text())["records"]
    assert json.loads(json.dumps(one.to_json())) == row


def test_embed(run, genome, model, made):
    out = run("embed", genome, "--model", made["next"], "--window", 100, out="v.parquet")
    found = longseq.embed(genome, model=model, window=100)
    there = pq.read_table(out)
    assert found.to_arrow().equals(there.select(found.to_arrow().column_names).replace_schema_metadata())
    assert found.vectors.shape == (15, 16) and np.isnan(found.vectors).all(1).sum() == 1


def test_score(run, genome, model, made):
    out = run("score", genome, "--model", made["next"], "--strands", "both")
    found = longseq.score(genome, model=model, strands="both")
    assert cells(found) == lines(out / "scores.tsv")
    assert found[0].bits == found.to_pandas().bits[0]


def test_score_variants(run, genome, model, made, tmp_path):
    ref = genome.read_text().splitlines()[1][199]
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    (tmp_path / "in.vcf").write_text(f"{head}one\t200\t.\t{ref}\t{'AG'[ref == 'A']},<DEL>\t.\t.\t.\n")
    out = run(
        "score", tmp_path / "in.vcf", "--reference", genome, "--model", made["next"], "--context", 30, out="out.tsv"
    )
    found = longseq.score_variants(tmp_path / "in.vcf", genome, model=model, context=30)
    assert cells(found) == lines(out) and len(found) == 1 and found[0].alleles[0].llr is not None


def test_classify(run, genome, made):
    out = run("classify", genome, "--model", made["classify"], "--window", 200)
    found = longseq.classify(genome, model=made["classify"], window=200)
    assert cells(found) == lines(out / "records.tsv")
    assert found.labels == ("poor", "rich")
    for one, row in zip(found, found.to_arrow().to_pylist(), strict=True):
        assert one.values == {name: row[f"p_{name}"] for name in found.labels}
        assert one.label == max(one.values, key=one.values.get) and one.probability == max(one.values.values())
        assert one.regions[0].start == 0 and one.regions[-1].end == one.end


def test_annotate(run, genome, made):
    out = run("annotate", genome, "--model", made["annotate"])
    found = longseq.annotate(genome, model=made["annotate"])
    places = [[one.record, str(at.start), str(at.end), at.label, at.strand] for one in found for at in one.features]
    bed = lines(out / "intervals.bed")
    assert places == [[*row[:4], row[5]] for row in bed] and len(bed) > 10
    assert found.to_pandas().probability.tolist() == pytest.approx([float(row[6]) for row in bed], abs=1e-4)


def test_annotate_genes(run, tmp_path):
    """By the shipped model, which knows what a gene looks like."""
    body = "".join(np.random.default_rng(1).choice(["GAC", "GCC", "GAA", "GGT", "GTC", "CTG", "AAA"], 150))
    (tmp_path / "g.fa").write_text(f">g\n{'TTAATTAATTAA' * 6}AGGAGGTAACATATG{body}TAA{'TTAATTAATTAA' * 6}\n")
    out = run("annotate", tmp_path / "g.fa", "--genes")
    found = longseq.annotate(tmp_path / "g.fa", genes=True)
    bed = lines(out / "genes.bed")
    assert [[row[0], row[1], row[2], row[5]] for row in bed] == [
        [one.record, str(at.start), str(at.end), at.strand] for one in found for at in one.features
    ]
    assert len(bed) == 1 and found[0].features[0].label == "CDS" and not found[0].features[0].partial
