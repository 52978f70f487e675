"""No text of input is a formula in a table, and none of it breaks a line or a column; what reads a table sees it as it
was."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.cli import main
from longseq.formats.bed import BedWriter
from longseq.formats.cells import cell, guarded, unguarded
from longseq.formats.gff3 import Gff3Writer
from longseq.formats.table import read_table
from longseq.formats.tsv import TsvWriter
from longseq.records import Interval

FORMULAS = ("=cmd|'/C_calc'!A0", "+1+1", "-1+1", "@SUM(A1)", '=HYPERLINK("http://a")', "＝1", "-x", '"=1+1', "'=1")
PLAIN = ("-1.5", "+1e5", "-", "+", "-inf", "chr1", "a=b", "1-2", "'quoted'", "2'-end")
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(FORMULAS + PLAIN)


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_text(formula):
    assert guarded(formula)[0] in "'\"" and guarded(formula) != formula


@pytest.mark.parametrize("plain", PLAIN)
def test_numbers_marks_and_names_stay(plain):
    assert guarded(plain) == plain


@given(text)
def test_a_reader_sees_what_was_written(value):
    written = cell(value)  # without what would end a line
    read = next(csv.reader(io.StringIO(guarded(written)), delimiter="\t", strict=True), [""])
    assert unguarded(*(read or [""])) == written


@given(st.lists(st.tuples(text, text), max_size=4))
def test_a_table_keeps_its_rows_and_columns(rows):
    file = io.StringIO(newline="")
    writer = TsvWriter(file, ("a", "b"))
    for row in rows:
        writer.line(row)
    found = file.getvalue().splitlines()
    assert len(found) == 1 + len(rows) and all(line.count("\t") == 1 for line in found)
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in file.getvalue())


@given(text, text)
def test_nor_do_names_break_lines_of_intervals(record, name):
    bed, gff = io.StringIO(newline=""), io.StringIO(newline="")
    BedWriter(bed).write(Interval(record=record, start=0, end=1), name)
    Gff3Writer(gff).write(Interval(record=record, start=0, end=1), "gene", attributes={"ID": name})
    assert len(bed.getvalue().splitlines()) == 1 and bed.getvalue().count("\t") == 5
    assert len(gff.getvalue().splitlines()) == 2 and gff.getvalue().count("\t") == 8


def test_tables_of_a_run_and_what_reads_them(tmp_path):
    names = ["=1+1", "@SUM(A1)", "-x", "plain", '"=2']
    (tmp_path / "a.fa").write_text("".join(f">{name}\nACGTACGT\n" for name in names))
    out = tmp_path / "out"
    assert main(["summarize", str(tmp_path / "a.fa"), "--no-model", "--out", str(out), "--regions-fasta", "-q"]) == 0
    table = read_table(out / "sequences.tsv", ("id", "length"))
    assert [row.cells["id"] for row in table.rows] == [row.id for row in table.rows] == names
    lines = (out / "sequences.tsv").read_text().splitlines()[1:]
    assert not any(cell[:1] in "=@" for line in lines for cell in line.split("\t") if cell)
    assert [line.split("\t")[0] for line in (out / "regions.bed").read_text().splitlines()] == names


def test_names_with_line_ends_stay_in_their_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a\\n>b\\tc\\r\\u001b[2J\\u2028d", "sequence": "ACGTACGTAA"}\n')
    words = ["--no-model", "--regions-fasta", "--out", str(tmp_path / "out"), "-q"]
    assert main(["summarize", str(tmp_path / "a.jsonl"), "--kind", "dna", *words]) == 0
    for name, lines in (("regions.fa", 2), ("regions.bed", 1), ("sequences.tsv", 2), ("files.tsv", 2)):
        text = (tmp_path / "out" / name).read_text()
        assert len(text.splitlines()) == lines and "\x1b" not in text, name
