"""`longseq summarize` on many files: a row each, a table for MultiQC, a sample of the records."""

import csv
import gzip
import hashlib
import json
import random
import shutil
from pathlib import Path

import pytest

from longseq.cli import main

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def run(capsys):
    """`run(argument, …)` is (exit code, stdout, stderr) of `longseq summarize … --no-model`."""

    def call(*arguments):
        code = main(["summarize", "--no-model", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def table(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def letters(chance: random.Random, length: int) -> str:
    return "".join(chance.choices("ACGT", k=length))


@pytest.fixture
def twenty(tmp_path):
    """Twenty assemblies that were all called contigs.fasta, the last one a packed copy of the first."""
    chance, files = random.Random(7), []
    for i in range(20):
        folder = tmp_path / f"asm{i:02d}"
        folder.mkdir()
        files.append(folder / "contigs.fasta")
        files[-1].write_text("".join(f">c{j}\n{letters(chance, 50 * (i + j + 1))}\n" for j in range(3)))
    files[-1].write_bytes(gzip.compress(files[0].read_bytes().lower().replace(b">c0", b">other")))
    return files


def test_twenty_files_of_one_name_are_twenty_rows(run, twenty, tmp_path):
    code, shown, _ = run(*twenty, "--out", tmp_path / "out")
    assert code == 0
    rows = table(tmp_path / "out" / "files.tsv")
    names = [f"asm{i:02d} | contigs" for i in range(20)]
    assert [row["sample"] for row in rows] == names and [row["file"] for row in rows] == list(map(str, twenty))
    assert len(shown.splitlines()) <= 25 and all(f"asm{i:02d}/contigs.fasta" in shown for i in range(20))
    # Names, packing and case are no content.
    assert len({row["digest"] for row in rows}) == 19
    assert [row["same_as"] for row in rows] == ["NA"] * 19 + [names[0]]
    assert [int(row["sum_len"]) for row in rows[:3]] == [300, 450, 600]
    table_of_multiqc = json.loads((tmp_path / "out" / "longseq_mqc.json").read_text())
    assert list(table_of_multiqc["data"]) == names
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [file["sample"] for file in told["files"]] == names
    assert [file["digest"] for file in told["files"]] == [row["digest"] for row in rows]


def test_rows_hold_the_totals_to_the_last_bit(run, tmp_path):
    assert run(DATA / "awkward.fa", DATA / "T4.gbff.gz", "--out", tmp_path / "out")[0] == 0
    files = json.loads((tmp_path / "out" / "summary.json").read_text())["files"]
    for row, file in zip(table(tmp_path / "out" / "files.tsv"), files, strict=True):
        totals = file.pop("totals")
        counts = totals.pop("letters")
        totals.pop("duplicate_rows"), file.pop("errors")
        for name, value in {**totals, **file}.items():
            said = {"true": "True", "false": "False", "NA": "None"}.get(row[name], row[name])
            assert said == str(value), name
        assert {x: int(row[f"letters_{x}"]) for x in "ACGTRYSWKMBDHVN" if int(row[f"letters_{x}"])} == counts


def test_the_digest_is_that_of_the_sequences_in_order(run, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGT\n>b\nGG\n")
    assert run(path, "--out", tmp_path / "out")[0] == 0
    records = json.loads((tmp_path / "out" / "summary.json").read_text())["records"]
    plain = hashlib.sha256("".join(f"{record['digest']}\n" for record in records).encode()).hexdigest()
    assert table(tmp_path / "out" / "files.tsv")[0]["digest"] == plain


def test_names_of_samples_may_be_given(run, twenty, tmp_path):
    code, _, _ = run(*twenty[:2], "--sample", "mother", "--sample", "child", "--out", tmp_path / "out")
    assert code == 0
    assert list(json.loads((tmp_path / "out" / "longseq_mqc.json").read_text())["data"]) == ["mother", "child"]
    code, _, err = run(*twenty[:2], "--sample", "mother", "--out", tmp_path / "other")
    assert code == 2 and "one for each of 2 inputs" in err


def test_multiqc_finds_what_its_docs_ask_for(run, twenty, tmp_path):
    """MultiQC, "Custom content": id, section_name, plot_type, pconfig with its own id, headers, data by sample."""
    assert run(twenty[0], "--out", tmp_path / "out")[0] == 0
    found = json.loads((tmp_path / "out" / "longseq_mqc.json").read_text())
    assert (found["id"], found["section_name"], found["plot_type"]) == ("longseq_summarize", "longseq", "table")
    assert found["description"] and found["pconfig"]["id"] == "longseq_summarize_table" and found["pconfig"]["title"]
    (row,) = found["data"].values()
    assert set(row) == set(found["headers"]), "a column has a header and a value"
    assert all(isinstance(value, int | float) for value in row.values())
    for header in found["headers"].values():
        assert header["title"] and header["description"] and header["format"].format(1234.5)
    assert found["headers"]["gc"]["suffix"] == "%" and found["headers"]["gc"]["max"] == 100
    assert found["headers"]["n50"]["suffix"] == " bp"


def test_documents_have_no_table_for_multiqc(run, tmp_path):
    assert run(DATA / "lighthouse.md", "--out", tmp_path / "out")[0] == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "files.tsv",
        "report.html",
        "run.json",
        "summary.json",
        "summary.md",
    ]
    (row,) = table(tmp_path / "out" / "files.tsv")
    assert row["kind"] == "document" and row["num_seqs"] == "NA" and len(row["digest"]) == 64


def test_run_json_repeats_what_was_asked_for(run, tmp_path):
    asked = ("--region", "NC_000866.4:1-5000", "--region", "NC_000866.4:3,001-9000", "--window", "500")
    assert run(DATA / "T4.gbff.gz", *asked, "--out", tmp_path / "out")[0] == 0
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert told["schema"] == "longseq.run/1" and told["model"] is None and told["version"]
    assert told["command"].startswith("longseq summarize --no-model ") and told["request"]["window"] == 500
    assert [(r["start"], r["end"]) for r in told["request"]["regions"]] == [(0, 5000), (3000, 9000)]


def test_several_regions_may_overlap_and_come_in_any_order(run, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGTACGT\n>b\nGGCC\n")
    code, out, _ = run(path, "--region", "b:2-3", "--region", "a:5-8", "--region", "a:1-6", "--json")
    found = json.loads(out)
    assert code == 0
    told = [(row["id"], row["start"], row["length"]) for row in found["records"]]
    assert told == [("b", 1, 2), ("a", 4, 4), ("a", 0, 6)]
    assert found["files"][0]["totals"]["duplicate_ids"] == 0


def test_several_regions_of_a_stream_are_refused(run, monkeypatch, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGT\n")
    with open(path) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        code, _, err = run("-", "--region", "a:1-2", "--region", "a:3-4")
    assert code == 1 and "what can be read once" in err


# Short records left out


def test_short_records_are_left_out_and_counted(run, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGT\n>b\n\n>c\n" + "GGCCA" * 100 + "\n>d\n" + "A" * 499 + "\n")
    code, out, _ = run(path, "--min-contig", "500", "--json")
    found = json.loads(out)
    totals = found["files"][0]["totals"]
    assert code == 0 and [(row["id"], row["index"]) for row in found["records"]] == [("c", 2)]
    assert (totals["num_seqs"], totals["sum_len"], totals["short"], totals["short_len"]) == (1, 500, 3, 503)
    assert found["records"][0]["letters"] == {"A": 100, "C": 200, "G": 200}
    assert "left out     3 records too short, 503 bp" in run(path, "--min-contig", "500")[1]


def test_a_fault_in_a_short_record_is_told(run, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nAC!T\n>b\n" + "ACGT" * 10 + "\n")
    code, out, err = run(path, "--min-contig", "20", "--json")
    assert code == 3 and "'!'" in err and [row["id"] for row in json.loads(out)["records"]] == ["b"]


# A sample of the records


@pytest.fixture
def reads(tmp_path):
    chance = random.Random(3)
    path = tmp_path / "reads.fq"
    with open(path, "w") as file:
        for i in range(2_000):
            read = letters(chance, chance.randint(0, 80))
            file.write(f"@r{i}\n{read}\n+\n{'I' * len(read)}\n")
    return path


def test_a_sample_keeps_all_lengths_and_says_what_it_is(run, reads, tmp_path):
    _, out, _ = run(reads, "--window", "0", "--json")
    whole = json.loads(out)["files"][0]["totals"]
    arguments = (reads, "--window", "0", "--sample-fraction", "0.1")
    code, shown, _ = run(*arguments, "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    totals = found["files"][0]["totals"]
    lengths = ("num_seqs", "sum_len", "min_len", "avg_len", "max_len", "q1", "q2", "q3", "n50", "l50", "n90", "au_n")
    assert code == 0 and {x: totals[x] for x in (*lengths, "empty")} == {x: whole[x] for x in (*lengths, "empty")}
    # 200 expected, deviation 13
    assert 140 < totals["sampled"] < 260 and totals["sampled"] == len(found["records"])
    assert sum(totals["letters"].values()) == totals["sampled_len"] == sum(row["length"] for row in found["records"])
    assert abs(totals["gc"] - whole["gc"]) < 3
    assert f"sample       {totals['sampled']} of 2,000 records read" in shown
    assert "sample" in json.loads((tmp_path / "out" / "run.json").read_text())["note"]
    assert "sample" in json.loads((tmp_path / "out" / "longseq_mqc.json").read_text())["description"]
    assert table(tmp_path / "out" / "files.tsv")[0]["sampled"] == str(totals["sampled"])


def test_a_sample_follows_from_its_seed(run, reads, tmp_path):
    packed = tmp_path / "packed"
    with open(reads, "rb") as plain, gzip.open(packed, "wb") as file:
        shutil.copyfileobj(plain, file)

    def drawn(path, seed):
        _, out, _ = run(path, "--window", "0", "--sample-fraction", "0.05", "--seed", str(seed), "--json")
        return [row["index"] for row in json.loads(out)["records"]]

    assert drawn(reads, 1) == drawn(packed, 1) != drawn(reads, 2)
    assert drawn(reads, 1)[0] == drawn(reads, 2)[0] == 0, "the first record is always read"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--sample-fraction", "0"),
        ("--sample-fraction", "1.5"),
        ("--sample-fraction", "0.5", "--region", "r1"),
        ("--min-contig", "-1"),
    ],
)
def test_figures_out_of_range_are_wrong_requests(run, reads, arguments):
    assert run(reads, *arguments)[0] == 2
