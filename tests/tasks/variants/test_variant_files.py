"""Scores of variants as files that others read, of runs that were stopped, and requests refused."""

import gzip
import json
import lzma
import math
from pathlib import Path

import pysam
import pytest
from variant_rows import CHROMOSOME, CONTEXT, FAULTY, HEAD, OTHER, PLASMID, at, row

from longseq.cli import main
from longseq.errors import StoppedError
from longseq.formats.vcf import VcfFile
from longseq.tasks.variants import VariantRun, score_variants
from longseq.tasks.variants.kept import Kept


def run(folder, *arguments):
    return main(["score", "--model", str(folder), "--context", str(CONTEXT), *map(str, arguments)])


def test_written_rows_are_the_rows_that_were_read(files, folder, model, tmp_path, capsys):
    """What htslib reads of our file: the same rows, our numbers, an index."""
    lines = [
        row("NC_000001", 150, at(150), OTHER[at(150)] + ",*", "DP=3;UNDECLARED=a,b"),
        row("NC_000001", 151, at(151), ".") + "\tGT:XX\t1:.\t./.:4",
        row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)]),
    ]
    table, reference = files(*lines, head=HEAD.replace("INFO\n", "INFO\tFORMAT\ts1\ts 2\n"))
    out = tmp_path / "out.vcf.gz"
    assert run(folder, table, "--reference", reference, "--out", out) == 0
    assert "NC_000001 is gi|7|ref|NC_000001.1|" in capsys.readouterr().err
    expected = list(score_variants(table, reference, model=model, context=CONTEXT))
    with pysam.VariantFile(str(out)) as file:
        assert file.header.info["LONGSEQ_LLR"].number == "A"
        assert file.header.contigs["NC_000001"].length == len(CHROMOSOME)
        (there,) = file.fetch("p", 0, 80)
        assert there.info["LONGSEQ_LLR"] == pytest.approx((expected[2].alleles[0].llr,), rel=1e-5)
        found = list(file.fetch("NC_000001"))
    assert found[0].info["LONGSEQ_LLR"][0] == pytest.approx(expected[0].alleles[0].llr, rel=1e-5)
    assert found[0].info["LONGSEQ_LLR"][1] is None
    assert found[0].info["LONGSEQ_REASON"] == (".", "star") or found[0].info["LONGSEQ_REASON"] == (None, "star")
    assert "LONGSEQ_LLR" not in found[1].info
    with VcfFile(out) as ours:
        for cells, line in zip((row.cells for row in ours.rows()), lines, strict=True):
            before = line.split("\t")
            assert cells[:7] + cells[8:] == before[:7] + before[8:]
            assert before[7] == "." or cells[7].startswith(before[7] + ";LONGSEQ")


def test_a_scored_table_scored_again_is_the_same(files, folder, tmp_path):
    table, reference = files(row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)], "DP=3"))
    once, twice = tmp_path / "1.vcf", tmp_path / "2.vcf"
    assert run(folder, table, "--reference", reference, "--out", once) == 0
    assert run(folder, once, "--reference", reference, "--out", twice) == 0
    one, two = (
        [line for line in path.read_text().splitlines() if not line.startswith("##longseq_")] for path in (once, twice)
    )
    assert one == two


def test_every_container_and_bcf_say_the_same(files, model, tmp_path):
    table, reference = files(row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)], "DP=3"))
    declared = "##contig=<ID=p>\n##INFO=<ID=DP,Number=1,Type=Integer,Description=x>\n#CHROM"
    text = Path(table).read_text().replace("#CHROM", declared)
    sources = {name: tmp_path / f"x.{name}" for name in ("vcf", "gz", "xz", "bcf")}
    sources["vcf"].write_text(text)
    sources["gz"].write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    sources["xz"].write_bytes(lzma.compress(text.encode()))
    with pysam.VariantFile(str(sources["vcf"])) as file:
        with pysam.VariantFile(str(sources["bcf"]), "wb", header=file.header) as out:
            for record in file:
                out.write(record)
    found = {
        tuple((a.row.variant, tuple(a.row.cells), a.alleles) for a in score_variants(s, reference, model=model))
        for s in map(str, sources.values())
    }
    assert len(found) == 1


@pytest.mark.parametrize(("line", "reason"), FAULTY, ids=[reason for _, reason in FAULTY])
def test_data_that_do_not_belong_together_exit_3_and_are_named(files, folder, tmp_path, capsys, line, reason):
    good = row("p", 7, at(7, 1, PLASMID), OTHER[at(7, 1, PLASMID)])
    table, reference = files(good, line)
    assert run(folder, table, "--reference", reference, "--json") == 3
    out, err = capsys.readouterr()
    assert f"{table}:4" in err
    document = json.loads(out)
    assert [variant["reason"] for variant in document["variants"]] == [None, reason]
    assert math.isfinite(document["variants"][0]["llr"])


def test_a_stopped_run_goes_on_to_the_same_bytes(files, folder, tmp_path, monkeypatch, capsys):
    table, reference = files(*(row("NC_000001", n, at(n), OTHER[at(n)]) for n in range(50, 250, 20)))
    whole, part = tmp_path / "whole.tsv", tmp_path / "part.tsv"
    assert run(folder, table, "--reference", reference, "--out", whole) == 0

    def stops(self, key, bits, keep=Kept.__setitem__):
        keep(self, key, bits)
        if len(self) == 7:
            raise StoppedError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(Kept, "__setitem__", stops)
        assert run(folder, table, "--reference", reference, "--out", part) == 85
    assert not part.exists() and (tmp_path / ".part.tsv.partial").exists()
    assert run(folder, table, "--reference", reference, "--out", part) == 2
    assert run(folder, table, "--reference", reference, "--out", part, "--context", 31, "--resume") == 1
    capsys.readouterr()
    reads = []
    step = VariantRun._unread

    def counted(self, rows):
        for item in step(self, rows):
            reads.append(item)
            yield item

    monkeypatch.setattr(VariantRun, "_unread", counted)
    assert run(folder, table, "--reference", reference, "--out", part, "--resume") == 0
    assert len(reads) == 40 - 7
    assert part.read_bytes() == whole.read_bytes()
    assert not (tmp_path / ".part.tsv.partial").exists()


def test_a_finished_table_is_known_by_what_it_was_made_of(files, folder, tmp_path, capsys):
    table, reference = files(*(row("NC_000001", n, at(n), OTHER[at(n)]) for n in (50, 70)))
    arguments = (folder, table, "--reference", reference, "--out", tmp_path / "out.vcf")
    assert run(*arguments) == 0
    written = (tmp_path / "out.vcf").read_bytes()
    assert run(*arguments, "--resume") == 0 and (tmp_path / "out.vcf").read_bytes() == written
    Path(table).write_text(Path(table).read_text().replace("\t70\t", "\t71\t"))  # as long as before
    assert run(*arguments, "--resume") == 2
    assert "not known to be the result of this request" in capsys.readouterr().err


def test_a_finished_table_gets_what_a_kill_kept_from_it(files, folder, tmp_path, monkeypatch, capsys):
    """The index that is named after it; and the working file, which is removed last."""
    table, reference = files(*(row("NC_000001", n, at(n), OTHER[at(n)]) for n in (50, 70)))
    out = tmp_path / "out.vcf.gz"
    with monkeypatch.context() as patch:
        patch.setattr(Kept, "close", lambda self, keep: self.save())
        assert run(folder, table, "--reference", reference, "--out", out) == 0
    beside = {path.name: path.read_bytes() for path in tmp_path.glob("out.vcf.gz*")}
    assert sorted(beside) == ["out.vcf.gz", "out.vcf.gz.tbi"] and (tmp_path / ".out.vcf.gz.partial").exists()
    (tmp_path / "out.vcf.gz.tbi").unlink()
    capsys.readouterr()
    assert run(folder, table, "--reference", reference, "--out", out, "--resume") == 0
    assert capsys.readouterr().out == f"{out}: is done already\n"
    assert {path.name: path.read_bytes() for path in tmp_path.glob("out.vcf.gz*")} == beside
    assert not (tmp_path / ".out.vcf.gz.partial").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--reference", "ref.fa", "--track"], "--track cannot be combined with --reference"),
        (["--reference", "ref.fa", "--strands", "both"], "both strands are always read"),
        (["--context", "5"], "--context needs --reference"),
        (["--reference", "ref.fa", "--out", "x.txt"], ".vcf"),
        (["--reference", "ref.fa", "--resume"], "--resume needs --out"),
    ],
)
def test_wrong_requests_exit_2(files, folder, tmp_path, monkeypatch, capsys, options, said):
    files(row("p", 7, at(7, 1, PLASMID), "A"))
    monkeypatch.chdir(tmp_path)
    assert main(["score", "in.vcf", "--model", str(folder), *options]) == 2
    assert said in capsys.readouterr().err
