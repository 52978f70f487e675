"""Nothing is ever written beside the user's files: no index, no cache, no lock."""

import gzip
import os

import pysam
import pytest

from longseq.cli import main

SEQUENCE = "ACGTTGCAAC" * 40


@pytest.fixture
def folder(tmp_path):
    """A FASTA, plain and bgzipped, aligned reads as BAM and CRAM, variants, and nothing that indexes them."""
    here = tmp_path / "data"
    here.mkdir()
    (here / "r.fa").write_text(f">r\n{SEQUENCE}\n")
    with pysam.BGZFile(str(here / "r.fa.gz"), "w") as file:
        file.write((here / "r.fa").read_bytes())
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "r", "LN": len(SEQUENCE)}]}
    for name, mode in (("x.bam", "wb"), ("x.cram", "wc")):
        with pysam.AlignmentFile(
            str(here / name), mode, header=header, reference_filename=str(here / "r.fa"), format_options=[b"no_ref=1"]
        ) as file:
            read = pysam.AlignedSegment(file.header)
            read.query_name, read.query_sequence, read.reference_id, read.reference_start = "q", SEQUENCE[:50], 0, 0
            read.cigarstring, read.mapping_quality = "50M", 60
            file.write(read)
    for index in here.glob("*.fai"):  # made by the writer of the CRAM
        index.unlink()
    rows = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nr\t3\t.\tG\tT\t.\t.\t.\n"
    (here / "v.vcf").write_text(rows)
    with gzip.open(here / "v.vcf.gz", "wt") as file:
        file.write(rows)
    return here


@pytest.mark.parametrize(
    "command",
    [
        ["summarize", "--no-model", "r.fa", "r.fa.gz", "x.bam", "x.cram"],
        ["summarize", "--no-model", "r.fa.gz", "--region", "r:5-50", "--region", "r:90-99"],
        ["score", "v.vcf", "--reference", "r.fa", "--out", "../o.vcf.gz"],
        ["score", "v.vcf.gz", "--reference", "r.fa.gz", "--out", "../p.vcf"],
        ["info", "r.fa"],
    ],
    ids=" ".join,
)
def test_no_file_appears_beside_the_inputs(folder, monkeypatch, capsys, command):
    monkeypatch.chdir(folder)
    before = {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir(folder)}
    assert main(command) == 0, capsys.readouterr().err
    assert {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir(folder)} == before
