"""`longseq summarize` from argv to files and the screen."""

import bz2
import gzip
import io
import json
import lzma
import random
from pathlib import Path

import pytest
import zstandard
from Bio import SeqIO, bgzf
from pyarrow import parquet

DATA = Path(__file__).parents[2] / "data"
CHLOROPLAST = DATA / "chloroplast.gb.gz"


def fasta(letters: str, width: int = 60) -> str:
    return "\n".join(letters[i : i + width] for i in range(0, len(letters), width)) + "\n"


def test_json_of_the_chloroplast(run):
    code, out, err = run(CHLOROPLAST, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["schema"] == "longseq.summary/1"
    assert found["run"]["tokens"] == 154_478 and found["run"]["model"] is None
    assert {"seconds", "tokens_per_s", "peak_rss_mb", "version", "command"} <= found["run"].keys()
    (file,) = found["files"]
    assert (file["kind"], file["format"], file["container"]) == ("dna", "genbank", "gzip")
    assert file["totals"]["n50"] == 154_478 and file["totals"]["sum_n"] == 0
    (record,) = found["records"]
    assert (record["id"], record["length"], record["unit"]) == ("NC_000932.1", 154_478, "bp")
    assert record["gc"] == pytest.approx(36.2938, abs=1e-4)
    assert record["topology"] == "declared circular" and record["softmask"] is None


@pytest.fixture(scope="module")
def same_sequence(tmp_path_factory):
    """The chloroplast as FASTA in every container."""
    with gzip.open(CHLOROPLAST, "rt") as file:
        whole = next(SeqIO.parse(file, "genbank"))
    plain = f">{whole.id}\n{fasta(str(whole.seq))}".encode()
    folder = tmp_path_factory.mktemp("same")
    packed = {
        "c.fa": plain,
        "c.fa.gz": gzip.compress(plain),
        "c.fa.bz2": bz2.compress(plain),
        "c.fa.xz": lzma.compress(plain),
        "c.fa.zst": zstandard.compress(plain),
    }
    for name, data in packed.items():
        (folder / name).write_bytes(data)
    with bgzf.BgzfWriter(str(folder / "c.fa.bgz")) as file:
        file.write(plain)
    return folder


def test_the_same_sequence_gives_the_same_row_however_it_is_packed(run, same_sequence, monkeypatch):
    written = sorted(same_sequence.iterdir())
    assert len(written) == 6
    code, out, _ = run(CHLOROPLAST, *written, "--json")
    assert code == 0
    rows = json.loads(out)["records"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((same_sequence / "c.fa").read_bytes())))
    code, out, _ = run("-", "--json")
    rows += json.loads(out)["records"]
    # GenBank's case is no mask, and its header says more than that of FASTA
    told = {"file", "description", "topology", "lower", "softmask"}
    assert len({json.dumps({k: v for k, v in row.items() if k not in told}) for row in rows}) == 1
    fasta_rows = [{k: v for k, v in row.items() if k != "file"} for row in rows[1:]]
    assert all(row == fasta_rows[0] for row in fasta_rows)


def test_files_of_a_run_read_back_to_the_same_figures(run, tmp_path):
    out = tmp_path / "out"
    assert run(CHLOROPLAST, "--out", out)[0] == 0
    made = {"regions.bed", "report.html", "sequences.tsv", "windows.parquet", "tracks"}
    assert {p.name for p in out.iterdir()} == {"files.tsv", "longseq_mqc.json", "run.json", "summary.json", *made}
    (record,) = json.loads((out / "summary.json").read_text())["records"]
    header, line = (text.split("\t") for text in (out / "sequences.tsv").read_text().splitlines())
    row = dict(zip(header, line, strict=True))
    assert (row["id"], row["length"], float(row["gc"])) == ("NC_000932.1", "154478", record["gc"])
    assert row["softmask"] == row["bits_per_base"] == "NA" and row["digest"] == record["digest"]
    windows = parquet.read_table(out / "windows.parquet")
    assert windows.num_rows == 16 and windows["end"].to_pylist()[-1] == 154_478
    assert windows["record"].to_pylist() == ["NC_000932.1"] * 16
    letters = sum(sum(windows[base].to_pylist()) for base in "acgtn")
    assert letters == 154_478 and windows["bits"].null_count == 16
    bed = [text.split("\t") for text in (out / "regions.bed").read_text().splitlines()]
    assert [(b[0], int(b[1]), int(b[2]), float(b[6])) for b in bed] == [
        (r["record"], r["start"], r["end"], r["gc"]) for r in record["regions"]
    ]
    # Seven columns: an eighth would make genome browsers read the seventh as a coordinate.
    assert all(0 <= int(b[4]) <= 1000 and len(b) == 7 for b in bed)


def test_many_records_fit_a_terminal(run, make):
    chance = random.Random(0)
    text = "".join(
        f"@read{i}\n{(s := ''.join(chance.choices('ACGTN', k=chance.randint(0, 300))))}\n+\n{'I' * len(s)}\n"
        for i in range(500)
    )
    code, out, _ = run(make("reads.fq", text))
    assert code == 0 and len(out.splitlines()) <= 25
    assert "500 records" in out and "… and 496 more" in out and "Q30 100.00 %" in out


def test_fullest_view_of_one_input_has_25_lines(run, make, tiny_model):
    half = "".join(random.Random(0).choices("ACGT", weights=[4, 1, 1, 4], k=2_000))
    read = half + half.replace("A", "G").replace("T", "C")
    many = make("long.fq", "".join(f"@r{i}\n{read}\n+\n{'I' * 4_000}\n" for i in range(6)))
    code, out, _ = run(many, "--window", 200, model=("--model", tiny_model, "--strands", "forward"))
    assert code == 0
    assert "most surprising" in out and "regions of one composition, the first 3:" in out and "bits a base" in out
    assert len(out.splitlines()) == 25


def test_several_inputs_of_both_kinds_are_a_line_each(run, make):
    text = make("t.md", "# Title\n\nThe first sentence of this text is here. Then there is another one. And a third.\n")
    code, out, _ = run(CHLOROPLAST, DATA / "awkward.fa", text)
    lines = out.splitlines()
    assert code == 0 and lines[0] == "3 inputs" and len(lines) == 5
    assert "154,478" in lines[2] and "document" in lines[4]


def test_documents_print_their_sentences(run, make, tmp_path):
    text = "The lamp was lit in 1854. It burned oil for forty years. The keepers kept a record of the weather.\n"
    path = make("t.txt", text)
    code, out, _ = run(path, "--sentences", 1)
    assert code == 0 and len(out.splitlines()) == 2
    code, out, _ = run(path, "--sentences", 1, "--json")
    (record,) = json.loads(out)["records"]
    (sentence,) = record["sentences"]
    assert record["kind"] == "document"
    assert text[sentence["start"] : sentence["end"]] == sentence["text"]
    code, out, _ = run(path, "--words", 8, "--format", "md", "--out", tmp_path / "o")
    assert code == 0 and out.startswith("# ")
    assert (tmp_path / "o" / "summary.md").read_text() == out
    made = ["files.tsv", "report.html", "run.json", "summary.json", "summary.md"]
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == made


def test_dna_as_markdown(run):
    code, out, _ = run(CHLOROPLAST, "--format", "md")
    assert code == 0 and out.startswith("# ") and "```text" in out


def test_a_region_keeps_the_coordinates_of_its_record(run):
    code, out, _ = run(CHLOROPLAST, "--region", "NC_000932.1:10,001-40,000", "--json", "--window", 10_000)
    (record,) = json.loads(out)["records"]
    assert code == 0 and (record["start"], record["length"]) == (10_000, 30_000)
    with gzip.open(CHLOROPLAST, "rt") as file:
        part = next(SeqIO.parse(file, "genbank")).seq[10_000:40_000]
    assert record["letters"] == {base: part.count(base) for base in "ACGT"}
    assert record["regions"][0]["start"] == 10_000 and record["regions"][-1]["end"] == 40_000


def test_a_region_past_the_end_is_clipped_and_said(run):
    code, out, err = run(CHLOROPLAST, "--region", "NC_000932.1:150,001-200,000", "--json")
    (record,) = json.loads(out)["records"]
    assert code == 0 and record["length"] == 4_478
    assert err == f"longseq: {CHLOROPLAST} (NC_000932.1): ends at 154,478, and the region with it\n"


def test_no_windows(run, tmp_path):
    assert run(CHLOROPLAST, "--window", 0, "--out", tmp_path / "o")[0] == 0
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == [
        "files.tsv",
        "longseq_mqc.json",
        "report.html",
        "run.json",
        "sequences.tsv",
        "summary.json",
    ]


def test_unknown_letters_read_as_n(run, make):
    code, out, _ = run(make("x.fa", ">a\nAC!GT\n"), "--on-unknown", "N", "--json")
    (record,) = json.loads(out)["records"]
    assert code == 0 and record["n"] == 1 and record["notes"]["read_as_N"] == 1


def test_a_record_that_was_cut_is_marked_on_the_terminal(run, make):
    code, out, err = run(make("cut.fq", "@r1\nACGT\n+\nIIII\n@r2\nACGN\n"))
    assert code == 3 and "the record it ended in is marked" in err
    lines = out.splitlines()
    (whole,), (cut,) = ([line for line in lines if line.startswith(f"  {name} ")] for name in ("r1", "r2"))
    assert cut.endswith("yes") and not whole.endswith("yes") and any(line.endswith("cut short") for line in lines)


def test_one_is_not_many(run, make):
    assert "1 word, 1 sentence; the summary has 1 word," in run(make("a.txt", "hello"))[1]
    assert "1 id, 1 sequence;" in run(make("a.fa", ">a\nACGT\n>a\nACGT\n"))[1]


def test_where_all_records_are_too_short_there_is_no_table(run, make):
    code, out, err = run(make("x.fa", ">a\nACGT\n>b\nGG\n"), "--min-contig", 500)
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    assert first.endswith("x.fa (fasta): 0 records, 0 bp") and rest == ["  left out     2 records too short, 6 bp"]


def test_extremes_are_of_windows_that_are_full_enough(run, make):
    """A base that is left over, and a window of nearly N alone, are no extremes; where no window is fuller they are."""
    letters = "ACGT" * 100 + "N" * 99 + "A" + "AACG" * 25 + "G"
    (line,) = (x for x in run(make("x.fa", f">a\n{letters}\n"), "--window", 100)[1].splitlines() if "windows " in x)
    assert line.startswith("  windows      7, of the 5 at least half full: GC 50.00 %, CpG")
    (line,) = (x for x in run(make("y.fa", ">a\nG\n>b\nACGT\n"), "--window", 100)[1].splitlines() if "windows " in x)
    assert line.startswith("  windows      2: GC 50.00 to 100.00 %")


def test_no_figure_is_minus_zero(run, make, tmp_path):
    out = tmp_path / "out"
    assert run(make("x.fa", ">a\n" + "A" * 300 + "\n"), "--window", 100, "--out", out)[0] == 0
    (record,) = json.loads((out / "summary.json").read_text())["records"]
    assert str(record["order0_bits"]) == str(record["order2_bits"]) == "0.0"
    assert "-0.0" not in (out / "sequences.tsv").read_text() + (out / "summary.json").read_text()
    assert "-0.0" not in run(make("x.fq", "@r\nACGT\n+\n!!!!\n"), "--json")[1]
    (rows,) = {tuple(map(str, row.values())) for row in parquet.read_table(out / "windows.parquet").to_pylist()[:1]}
    assert "-0.0" not in rows and rows.count("0.0") >= 4
