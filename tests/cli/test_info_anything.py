"""`longseq info` of what is no sequence: each is called by what it is, and something can be done with it."""

import io
import json
import shlex
import subprocess
import sys

import numpy as np
import pysam
import pytest

from longseq.cli import group, main
from longseq.formats.bigwig import write_bigwig
from longseq.formats.parquet import ParquetWriter

VCF = """##fileformat=VCFv4.2
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone
chr1\t5\t.\tA\tC,G\t.\t.\t.\tGT\t0/1
chr2\t5\t.\tA\tC\t.\t.\t.\tGT\t0/1
"""


@pytest.fixture
def told(capsys, tmp_path, monkeypatch):
    """Facts as JSON, those for people and the exit code."""
    monkeypatch.chdir(tmp_path)

    def call(name: str):
        code = main(["info", name, "--json"])
        facts = json.loads(capsys.readouterr().out)
        assert main(["info", name]) == code
        return facts, capsys.readouterr().out, code

    return call


def array(path):
    np.save(path, np.zeros((3, 4), np.float32))


def track(path):
    write_bigwig(path, {"a": 4, "b": 2}, [("a", 1, np.array([1, 2, 6], np.float32))])


def vectors(path):
    with ParquetWriter(path, {"record": "string", "start": "int64", "vector": "float32[2]"}) as writer:
        writer.write({"record": ["a", "b"], "start": [0, 1], "vector": np.ones((2, 2), np.float32)})


def bam(path):
    with pysam.AlignmentFile(str(path), "wb", header={"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": 9}]}) as file:
        read = pysam.AlignedSegment()
        read.query_name, read.query_sequence, read.flag = "r", "ACGT", 4
        file.write(read)


def packed(path):
    path.write_text(VCF)
    pysam.tabix_compress(str(path), f"{path}.gz", force=True)
    path.unlink()
    (path.parent / f"{path.name}.gz").rename(path)


def pdf(path):
    from reportlab.pdfgen import canvas

    page = canvas.Canvas(str(path))
    page.drawString(100, 700, "A sentence stands here.")
    page.showPage()
    page.save()


@pytest.mark.parametrize(
    ("name", "made", "facts", "first", "following"),
    [
        ("v.vcf", VCF, {"what": "variants", "rows": 2, "alleles": 3, "samples": 1, "records": {"chr1": 1, "chr2": 1}},
         "v.vcf: variants (VCFv4.2)", "longseq score v.vcf --reference GENOME --out SCORED.vcf.gz"),
        ("v.gz", packed, {"what": "variants", "container": "bgzf", "rows": 2},
         "v.gz: variants (VCFv4.2), packed by bgzf", "longseq score v.gz --reference GENOME --out SCORED.vcf.gz"),
        ("i.bed", "chr1\t0\t5\tg\nchr1\t7\t9\tg\n", {"what": "intervals", "rows": 2, "bases": 7, "names": {"g": 2}},
         "i.bed: intervals (BED)", "longseq train GENOME --labels i.bed --out RUN"),
        ("features", "##gff-version 3\nchr1\tx\tCDS\t1\t9\t.\t+\t0\tID=a\n", {"what": "intervals", "bases": 9},
         "features: intervals", "longseq train GENOME --labels features --out RUN"),
        ("t.bw", track, {"what": "track", "records": 1, "bases": 3, "mean": 3.0, "min": 1.0, "max": 6.0},
         "t.bw: a track of numbers (bigWig)", None),
        ("v.npy", array, {"what": "array", "shape": [3, 4], "type": "float32"}, "v.npy: an array of NumPy", None),
        ("v.parquet", vectors, {"what": "table", "rows": 2}, "v.parquet: vectors (Parquet or Arrow)", None),
        ("t.tsv", "id\tgc\na\t1\nb\t2\n", {"what": "table", "rows": 2, "columns": ["id", "gc"]},
         "t.tsv: a table (TSV)", None),
        ("a.fa.fai", "a\t4\t3\t4\t5\n", {"what": "index", "of": "a.fa"},
         "a.fa.fai: an index of sequences, by samtools faidx", None),
        ("r.bam", bam, {"what": "dna", "letters": 4}, "r.bam: sequences of DNA (BAM), packed by bgzf",
         "longseq summarize r.bam"),
        ("p.pdf", pdf, {"what": "document", "pages": 1, "pages_with_text": 1}, "p.pdf: a document (PDF)",
         "longseq summarize p.pdf"),
        ("x.json", '{"schema": "longseq.bench/1", "rows": [1, 2], "run": {"command": "longseq bench"}}',
         {"what": "bench", "rows": 2, "command": "longseq bench"},
         "x.json: speed and memory, measured by longseq bench", None),
        ("run.toml", 'steps = 3\ninputs = ["a.fa"]\n', {"what": "settings", "for": "train", "task": "next"},
         "run.toml: settings (TOML)", "longseq train --config run.toml --out RUN --dry-run"),
        ("other.toml", "[tool]\nx = 1\n", {"what": "settings", "tables": ["tool"]},
         "other.toml: settings of another program (TOML)", None),
    ],
)  # fmt: skip
def test_a_file(name, made, facts, first, following, told, tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    if callable(made):
        made(tmp_path / name)
    else:
        (tmp_path / name).write_text(made)
    found, shown, code = told(name)
    assert code == 0 and {key: found[key] for key in facts} == facts
    assert shown.splitlines()[0] == first
    if following is not None:
        assert found["next"] == following and shown.endswith(f"\nnext: {following}\n")
        program, command, *words = shlex.split(following)
        assert program == "longseq" and group.get_command(None, command).make_context(command, words).params


def test_folders_of_results_and_of_files(told, tmp_path, capsys):
    (tmp_path / "a.fa").write_text(">a\n" + "ACGT" * 20 + "\n>b\nACGT\n")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.fa").write_text(">a\nACGT\n")
    assert main(["summarize", "a.fa", "--no-model", "--out", "sum"]) == 0
    assert main(["plan", "a.fa", "--shards", "2", "--out", "batch"]) == 0
    assert main(["summarize", "a.fa", "--no-model", "--shard", "1/2", "--out", "batch"]) == 0
    assert main(["tokenizer", "train", "--kmer", "2", "--out", "tokenizer.json"]) == 0
    capsys.readouterr()
    for name, what, some in (
        ("files", "folder", {"files": 1, "formats": {"fasta": 1}, "next": "longseq summarize files --out DIR"}),
        ("sum", "summary", {"kinds": ["dna"], "files": 1, "next": "python -m webbrowser sum/report.html"}),
        ("sum/summary.json", "summary", {"records": 2, "schema": "summary/1"}),
        ("batch", "batch", {"done": 1, "next": "longseq summarize INPUT... --shard 2/2 --out batch"}),
        ("batch/1-of-2", "shard", {"shard": 1, "of": 2, "next": "longseq merge batch --out WHOLE"}),
        ("batch/plan.json", "plan", {"shards": 2, "next": "longseq summarize INPUT... --shard 1/2 --out batch"}),
        ("tokenizer.json", "tokenizer", {"for": "dna", "next": "longseq tokenizer show tokenizer.json TEXT"}),
    ):
        found, shown, code = told(name)
        assert code == 0 and found["what"] == what and {key: found[key] for key in some} == some
        assert shown.startswith(f"{name}: {found['is']}\n")


def test_what_is_broken_is_described_and_the_exit_code_says_so(told, tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n>b\nAC!T\n")
    facts, shown, code = told("a.fa")
    assert code == 3 and facts["records"] == 2 and "expected a DNA letter, found '!'" in shown
    (tmp_path / "bad.toml").write_text("task = 'nxt'\n")
    facts, _, code = told("bad.toml")
    assert code == 3 and facts["problem"].endswith("did you mean next?")
    (tmp_path / "part").mkdir()
    for name in ("summary", "shard"):
        (tmp_path / "part" / f"{name}.json").write_text(f'{{"schema": "longseq.{name}/1", "comm')
        assert told(f"part/{name}.json")[2] == told("part")[2] == 3
    (tmp_path / "deep.json").write_text('{"a":' + "[" * 100_000)
    assert told("deep.json")[2] == 3


def test_where_a_result_comes_from(told, tmp_path, capsys):
    (tmp_path / "a.fa").write_text(">a\n" + "ACGT" * 20 + "\n")
    assert main(["summarize", "a.fa", "--no-model", "--out", "sum"]) == 0
    assert main(["score", "a.fa", "--out", "scores"]) == 0
    capsys.readouterr()
    assert told("sum/run.json")[0]["next"] == "python -m webbrowser sum/report.html"
    for name in ("scores", "scores/run.json"):
        facts, _, code = told(name)
        assert (facts["what"], facts["command"], code) == ("score", "longseq score a.fa --out scores", 0)


def test_names_run_nothing_and_move_no_cursor(told, tmp_path):
    (tmp_path / 'x");exit(7);("y.tsv').write_text("id\tgc\na\t1\n")
    program, *words = shlex.split(told('x");exit(7);("y.tsv')[0]["next"])
    assert program == "python" and subprocess.run([sys.executable, *words], cwd=tmp_path).returncode == 0
    (tmp_path / "e.fa").write_text(">a\x1b[2Jb\nAC!T\n")
    assert "\x1b" not in told("e.fa")[1] and "a\\x1b[2Jb" in told("e.fa")[1]


def test_a_folder_with_a_link_that_leads_nowhere(told, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.fa").write_text(">a\nACGT\n")
    (tmp_path / "files" / "gone").symlink_to("nowhere")
    facts, _, code = told("files")
    assert (facts["formats"], facts["bytes"], code) == ({"fasta": 1, "not read": 1}, 8, 0)


def test_standard_input(monkeypatch, told):
    monkeypatch.setattr("sys.stdin", type("Pipe", (), {"buffer": io.BytesIO(b">a\nACGT\n")}))
    assert main(["info", "-"]) == 0
