"""Figures of L0 beside those of `seqkit stats -a`, column by column.

The rows below are what seqkit 2.3.0 (Debian) printed of the files made here; where it is installed, `-m seqkit` has it
print them again, and compares files drawn at random.
"""

import csv
import io
import random
import subprocess

import pytest

from longseq.tasks.summarize.files import summarize_files
from longseq.tasks.summarize.request import Request

GOLDEN = """\
file	format	type	num_seqs	sum_len	min_len	avg_len	max_len	Q1	Q2	Q3	sum_gap	N50	Q20(%)	Q30(%)	GC(%)
1.fa	FASTA	DNA	9	2819	9	313.2	531	138.0	302.0	509.0	0	509	0.00	0.00	35.37
2.fa	FASTA	DNA	100	140189	18	1401.9	2974	643.5	1178.5	2243.0	0	2205	0.00	0.00	35.80
3.fa	FASTA	DNA	2	592	122	296.0	470	122.0	296.0	470.0	0	470	0.00	0.00	38.34
4.fq	FASTQ	DNA	60	4069	3	67.8	149	29.5	66.5	109.5	0	105	54.51	29.10	34.36
5.fq	FASTQ	DNA	2	145	65	72.5	80	65.0	72.5	80.0	0	80	62.76	30.34	41.38
"""

COLUMNS = {
    "num_seqs": lambda t: f"{t.num_seqs}",
    "sum_len": lambda t: f"{t.sum_len}",
    "min_len": lambda t: f"{t.min_len}",
    "avg_len": lambda t: f"{t.avg_len:.1f}",
    "max_len": lambda t: f"{t.max_len}",
    "Q1": lambda t: f"{t.q1:.1f}",
    "Q2": lambda t: f"{t.q2:.1f}",
    "Q3": lambda t: f"{t.q3:.1f}",
    "N50": lambda t: f"{t.n50}",
    "Q20(%)": lambda t: f"{t.q20 or 0:.2f}",
    "Q30(%)": lambda t: f"{t.q30 or 0:.2f}",
    "GC(%)": lambda t: f"{t.gc_of_length:.2f}",  # of the whole length, N and all
}
"""What both have. `sum_gap` is not among them: seqkit counts `-` and `.` there, which are no letters to us. Where all
records are of one length, its Q1 and Q3 are half of it or less."""


def written(folder, seed: int, records: int, longest: int, fastq: bool):
    """A file of records of 1 to `longest` letters, some of them N, ambiguous or in lower case."""
    chance = random.Random(seed)
    path = folder / f"{seed}.{'fq' if fastq else 'fa'}"
    with open(path, "w") as file:
        for i in range(records):
            length = chance.randint(1, longest)
            letters = "".join(chance.choices("ACGTacgtNR", weights=[9, 5, 6, 9, 3, 2, 2, 3, 2, 1], k=length))
            if fastq:
                quality = "".join(chr(33 + chance.randint(2, 41)) for _ in letters)
                file.write(f"@r{i} x\n{letters}\n+\n{quality}\n")
            else:
                file.write(f">r{i} x\n" + "".join(f"{letters[at : at + 60]}\n" for at in range(0, length, 60)))
    return path


FILES = [(1, 9, 700, False), (2, 100, 3_000, False), (3, 2, 500, False), (4, 60, 150, True), (5, 2, 90, True)]


def ours(paths):
    rows = summarize_files([str(path) for path in paths], Request(window=0))
    return [{name: figure(row.totals) for name, figure in COLUMNS.items()} for row in rows]


def theirs(text: str):
    return [{name: row[name] for name in COLUMNS} for row in csv.DictReader(io.StringIO(text), delimiter="\t")]


def seqkit(paths) -> str:
    command = ["seqkit", "stats", "-a", "-T", "-b", *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_columns_that_seqkit_shares_are_equal(tmp_path):
    assert ours(written(tmp_path, *file) for file in FILES) == theirs(GOLDEN)


@pytest.mark.seqkit
def test_seqkit_prints_what_stands_here(tmp_path):
    assert theirs(seqkit(written(tmp_path, *file) for file in FILES)) == theirs(GOLDEN)


@pytest.mark.seqkit
def test_files_at_random(tmp_path):
    chance = random.Random(0)
    drawn = [(100 + i, chance.randint(1, 60), chance.randint(2, 2_000), i % 2 == 0) for i in range(40)]
    paths = [written(tmp_path, *file) for file in drawn]
    assert ours(paths) == theirs(seqkit(paths))
