"""Shard law of `score --reference`: rows are cut between them, and come out as in one process, byte for byte."""

import gzip

import pytest
from whole import Runs, letters

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.tokens import DnaTokenizer

CHROMOSOME = letters(3000, 1, "ACGT")
HEAD = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(folder, LanguageModel(ModelConfig(width=16, heads=2, layers=1)), DnaTokenizer())
    return folder


@pytest.fixture
def files(tmp_path):
    """Single changes, an insertion, several alleles, a window that comes twice, and rows that do not belong here."""
    rows = [f"c\t{at}\t.\t{CHROMOSOME[at - 1]}\t{'ACGT'[at % 4]}\t.\t.\tX=1" for at in range(700, 1300, 60)]
    rows.insert(5, rows[4])
    rows.append(f"c\t1400\ti\t{CHROMOSOME[1399]}\t{CHROMOSOME[1399]}GA,<DEL>\t.\t.\t.")
    rows.append(f"c\t1500\t.\t{'A' if CHROMOSOME[1499] != 'A' else 'C'}\tG\t.\t.\t.")
    rows.append("gone\t3\t.\tA\tC\t.\t.\t.")
    (tmp_path / "in.vcf").write_text(HEAD + "".join(row + "\n" for row in rows))
    (tmp_path / "ref.fa").write_text(f">c\n{CHROMOSOME}\n>p\nACGT\n")
    return [tmp_path / "in.vcf", "--reference", tmp_path / "ref.fa"]


@pytest.mark.parametrize("out", ["o.vcf", "o.tsv", "o.vcf.gz"])
def test_shards_make_the_table_of_one_process(model, files, tmp_path, capsys, out):
    runs = Runs(capsys, tmp_path, "score", *files, "--model", model, "--context", "60", out=out)
    one = runs.one()
    assert one[0] == 3 and "14 rows" in one[1] and any("expected REF" in line for line in one[2])
    assert len(one[3]) == (2 if out == "o.vcf.gz" else 1)
    for of in (1, 3, 5) if out == "o.vcf" else (3,):
        assert runs.shards(of) == one
    assert runs.without_torch(3) == one


@pytest.mark.slow
def test_jobs_make_the_table_of_one_process(model, files, tmp_path, capsys):
    runs = Runs(capsys, tmp_path, "score", *files, "--model", model, "--context", "60", out="o.vcf")
    assert runs.jobs(2) == runs.one()


def test_rows_can_be_planned_before(model, files, tmp_path, capsys):
    runs = Runs(capsys, tmp_path, "score", *files, "--model", model, "--context", "60", out="o.vcf")
    one = runs.one()
    plan = ["plan", str(files[0]), "--kind", "variants", "--shards", "3", "--out", str(tmp_path / "batch-3")]
    assert main(plan) == 0 and "15 letters" in capsys.readouterr().out.splitlines()[-1]
    assert runs.shards(3) == one


def test_a_reference_that_changed_is_refused(model, files, tmp_path, capsys):
    runs = Runs(capsys, tmp_path, "score", *files, "--model", model, "--context", "60")
    assert [runs.shard(f"{i}/2")[0] for i in (1, 2)] == [0, 0]
    (tmp_path / "ref.fa").write_text(f">c\n{CHROMOSOME[::-1]}\n>p\nACGT\n")
    assert main(["merge", str(tmp_path / "batch"), "--out", str(tmp_path / "o.vcf")]) == 1
    assert "ref.fa: is not what it was" in capsys.readouterr().err
    code, said = runs.shard("1/2")
    assert code == 2 and "digest of the reference" in said.err


def test_a_reference_that_can_be_read_once_is_refused(model, files, tmp_path, capsys):
    code, said = Runs(capsys, tmp_path, "score", files[0], "--reference", "-", "--model", model).shard("1/2")
    assert code == 2 and "each shard reads the reference" in said.err


def test_a_packed_table_that_ends_too_early(model, files, tmp_path, capsys):
    packed = gzip.compress(files[0].read_bytes())
    files[0].write_bytes(packed[:-30])
    runs = Runs(capsys, tmp_path, "score", *files, "--model", model, "--context", "60", out="o.vcf")
    one = runs.one()
    assert one[0] == 3 and any("ended too early" in line for line in one[2])
    assert runs.shards(2) == one
