"""`longseq annotate --genes`: files that other libraries read, that agree with one another, and requests refused."""

import json
import os

import numpy as np
import pytest
import torch

from longseq.cli import main
from longseq.formats.features import read_features
from longseq.model import HeadConfig, ModelConfig, TokenModel, save
from longseq.model.headed import build
from longseq.records import Interval, reverse_complement
from longseq.tasks.annotate.frames import CLASSES
from longseq.tokens import DnaTokenizer

LABELS = ("background", *CLASSES)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model that takes every base for a coding one of any frame."""
    path = tmp_path_factory.mktemp("model") / "m"
    torch.manual_seed(0)
    config = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2, visibility="both", period=3)
    found = TokenModel(config, HeadConfig(task="annotate", outputs=7), LABELS)
    with torch.no_grad():
        found.head.weight.zero_()
        found.head.bias.copy_(torch.tensor([-9.0, 0, 0, 0, 0, 0, 0]))
    save(path, found, DnaTokenizer(), labels=LABELS)
    return path


BODY = ("GAC", "GCC", "GAA", "GGT", "GTC")
SPACER = "TTAATTAATTAA" * 5


def record(seed):
    """A gene of 303 bases, 60 bases from either end."""
    rng = np.random.default_rng(seed)
    return SPACER + "ATG" + "".join(rng.choice(BODY, 99)) + "TAA" + SPACER


@pytest.fixture(scope="module")
def likely(tmp_path_factory):
    """A model that has learned such a record, on either strand."""
    path = tmp_path_factory.mktemp("likely") / "m"
    tokenizer, letters = DnaTokenizer(), record(2).encode()
    config = ModelConfig(vocabulary=tokenizer.vocabulary, width=16, layers=1, heads=2, visibility="both", period=3)
    found = build(config, HeadConfig(task="annotate", outputs=7), LABELS, tokenizer)
    texts = [tokenizer.encode(text)[0].astype(np.int64) for text in (letters, reverse_complement(letters))]
    truth = np.zeros((2, len(letters)), np.int64)
    truth[0, 60:363] = 1 + np.arange(303) % 3
    truth[1, 60:363] = 4 + np.arange(303)[::-1] % 3
    ids, wanted = torch.from_numpy(np.stack(texts)), torch.from_numpy(truth)
    optimiser = torch.optim.Adam(found.parameters(), 0.02)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(found(ids)[0].mT, wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.2
    save(path, found, tokenizer, labels=LABELS)
    return path


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    """One record with a gene of 303 bases on `+`, one with the same on `-`, an empty one and a short one."""
    letters = record(1)
    turned = reverse_complement(letters.encode()).decode()
    path = tmp_path_factory.mktemp("in") / "x.fa"
    path.write_text(f">one d\n{letters}\n>two\n{turned.lower()}\n>none\n\n>short\nACGTACG\n")
    return path


def run(fasta, model, out, *more):
    return main(["annotate", "--genes", "-q", str(fasta), "--model", str(model), "--out", str(out), *more])


@pytest.fixture(scope="module")
def out(fasta, likely, tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "o"
    assert run(fasta, likely, path) == 0
    return path


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def test_files_say_the_same(out, fasta):
    assert sorted(os.listdir(out)) == ["genes.bed", "genes.gff3", "genes.json", "proteins.faa", "records.tsv"]
    genes = [feature.interval for feature in read_features(out / "genes.gff3")]
    assert Interval(record="one", start=60, end=363, strand="+") in genes
    assert Interval(record="two", start=60, end=363, strand="-") in genes
    bed = rows(out / "genes.bed")
    assert [(r[0], int(r[1]), int(r[2]), r[5]) for r in bed] == [(g.record, g.start, g.end, g.strand) for g in genes]
    for row in bed:
        assert row[3].startswith("CDS_") and int(row[4]) == round(1000 * float(row[6])) and 0 <= float(row[6]) <= 1
    for row in rows(out / "genes.gff3"):
        attributes = dict(pair.split("=") for pair in row[8].split(";"))
        assert row[2] == "CDS" and row[7] == "0" and float(row[5]) > 0
        assert attributes["transl_table"] == "11" and attributes["ID"].startswith(row[0])
    table = rows(out / "records.tsv")
    assert [r[1] for r in table[1:]] == ["one", "two", "none", "short"]
    assert sum(int(r[7]) for r in table[1:]) == len(genes)
    facts = json.loads((out / "genes.json").read_text())
    assert facts["schema"] == "longseq.genes/1" and facts["genes"] == len(genes) and facts["genetic_code"] == 11
    assert len(facts["run"]["model_sha256"]) == 64 and facts["learned_from_own_genes"] == 0


def test_proteins_are_those_of_biopython(out, fasta):
    from Bio import SeqIO

    letters = {record.id: record.seq for record in SeqIO.parse(fasta, "fasta")}
    proteins = {record.id: str(record.seq) for record in SeqIO.parse(out / "proteins.faa", "fasta")}
    found = rows(out / "genes.gff3")
    assert len(proteins) == len(found)
    for row in found:
        piece = letters[row[0]][int(row[3]) - 1 : int(row[4])]
        piece = piece.reverse_complement() if row[6] == "-" else piece
        wanted = str(piece.translate(11)).removesuffix("*")
        name = row[8].split(";")[0].removeprefix("ID=")
        assert proteins[name][1:] == wanted[1:] and proteins[name][0] in (wanted[0], "M")


def test_shorter_genes_and_other_codes_on_request(fasta, likely, out, tmp_path):
    assert run(fasta, likely, tmp_path / "a", "--min-gene", "310", "--mixed") == 0
    shortest = min((int(r[2]) - int(r[1]) for r in rows(tmp_path / "a" / "genes.bed")), default=310)
    assert shortest >= 310
    assert run(fasta, likely, tmp_path / "b", "--genetic-code", "4") == 0
    assert "transl_table=4" in (tmp_path / "b" / "genes.gff3").read_text()


def test_a_region_has_the_places_of_its_record(fasta, likely, out, tmp_path):
    assert run(fasta, likely, tmp_path / "r", "--region", "one:31-423") == 0
    (row,) = rows(tmp_path / "r" / "genes.gff3")
    assert row[0] == "one" and row[3:5] == ["61", "363"] and row[6] == "+"
    assert rows(tmp_path / "r" / "records.tsv")[1][1:5] == ["one", "30", "423", "393"]
    assert "##sequence-region one 31 423" in (tmp_path / "r" / "genes.gff3").read_text()
    (whole,) = [line for line in (out / "proteins.faa").read_text().split(">") if "one:61-363(+)" in line]
    assert whole == (tmp_path / "r" / "proteins.faa").read_text().removeprefix(">")


def test_genes_of_two_stretches_are_numbered_on(likely, tmp_path):
    (tmp_path / "x.fa").write_text(f">x\n{record(1)}{record(1)}\n")
    assert run(tmp_path / "x.fa", likely, tmp_path / "o", "--region", "x:424-846", "--region", "x:1-423") == 0
    found = rows(tmp_path / "o" / "genes.gff3")
    assert [(row[3], row[4], row[8].split(";")[0]) for row in found] == [
        ("484", "786", "ID=x_1"),
        ("61", "363", "ID=x_2"),
    ]
    assert [row[1:5] for row in rows(tmp_path / "o" / "records.tsv")[1:]] == [
        ["x", "423", "846", "423"],
        ["x", "0", "423", "423"],
    ]
    names = [line.split()[0] for line in (tmp_path / "o" / "proteins.faa").read_text().splitlines() if line[0] == ">"]
    assert names == [">x_1", ">x_2"]


def test_a_circle_has_genes_across_its_origin(likely, tmp_path):
    letters = record(1)
    turned = letters[159:] + letters[:159]
    (tmp_path / "c.fa").write_text(f">c [topology=circular]\n{turned}\n>l\n{turned}\n")
    assert run(tmp_path / "c.fa", likely, tmp_path / "o") == 0
    found = [row for row in rows(tmp_path / "o" / "genes.gff3") if row[0] == "c"]
    assert found[0][2] == "region" and "Is_circular=true" in found[0][8]
    assert [(row[3], row[4], row[6]) for row in found[1:]] == [("325", "627", "+")]
    parts = [
        (f.interval.start, f.interval.end) for f in read_features(tmp_path / "o" / "genes.gff3") if f.name == "CDS"
    ]
    assert parts[:2] == [(324, 423), (0, 204)]
    bed = [row[1:3] for row in rows(tmp_path / "o" / "genes.bed") if row[0] == "c"]
    assert bed == [["324", "423"], ["0", "204"]]
    assert len((tmp_path / "o" / "proteins.faa").read_text().split(">")[1].split("\n", 1)[1].replace("\n", "")) == 100


def test_a_record_that_fails_does_not_stop_the_others(likely, tmp_path, capsys):
    (tmp_path / "x.fa").write_text(f">one\n{record(1)}\n>one\nACGT\n>bad\nAC!T\n>last\n{record(3)}\n")
    assert run(tmp_path / "x.fa", likely, tmp_path / "o") == 3
    said = capsys.readouterr().err
    assert "(one): expected a name of its own, found a second one; genes go by name" in said and "'!'" in said
    assert [row[0] for row in rows(tmp_path / "o" / "genes.bed")] == ["one", "last"]
    assert [row[1] for row in rows(tmp_path / "o" / "records.tsv")[1:]] == ["one", "last"]


def test_a_model_that_knows_nothing_finds_nothing(fasta, model, tmp_path):
    assert run(fasta, model, tmp_path / "o") == 0
    assert rows(tmp_path / "o" / "genes.bed") == []


@pytest.mark.parametrize(("more", "code", "said"), [
    (["--genetic-code", "99"], 2, "--genetic-code: expected one of 1, 2"),
    (["--min-gene", "29"], 2, "min-gene: expected >= 30 bases, found 29"),
    (["--threshold", "0.5"], 2, "--threshold speaks of intervals, not of genes"),
    (["--model", "dna"], 1, "expected a model to classify each base"),
])  # fmt: skip
def test_wrong_requests_are_refused(fasta, likely, tmp_path, capsys, more, code, said):
    assert run(fasta, likely, tmp_path / "o", *more) in (1, 2)
    assert said in capsys.readouterr().err and not (tmp_path / "o").exists()


@pytest.mark.parametrize(("more", "said"), [
    ([], "--model is missing"),
    (["--model", "x", "--mixed"], "--mixed speaks of genes: add --genes"),
    (["--model", "x", "--genetic-code", "4"], "--genetic-code speaks of genes: add --genes"),
])  # fmt: skip
def test_options_of_genes_want_the_word(fasta, tmp_path, capsys, more, said):
    assert main(["annotate", str(fasta), "--out", str(tmp_path / "o"), *more]) == 2
    assert said in capsys.readouterr().err


def test_other_models_are_refused(fasta, tmp_path, capsys):
    path = tmp_path / "m"
    config = ModelConfig(vocabulary=DnaTokenizer().vocabulary, width=16, layers=1, heads=2)
    save(path, TokenModel(config, HeadConfig(task="annotate", outputs=2), ("none", "CDS")), DnaTokenizer())
    assert run(fasta, path, tmp_path / "o") == 1
    assert "expected a model of the position in the codon" in capsys.readouterr().err
