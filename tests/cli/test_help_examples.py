"""Examples of the pages of help, run as they stand there, where that takes no minutes; `test_cli_house` parses all."""

import gzip
import json
import random
import shlex

import pysam
import pytest

from longseq.cli import EXAMPLES, main

DRAWN = random.Random(0)
GENOME = "".join(f">chr{n}\n{''.join(DRAWN.choices('ACGT', k=300))}\n" for n in range(1, 9))
TEXTS = ["The lamp was lit at dusk. Ships saw it from far away. The keeper wrote it down.", "One word. Two words."]


def genome(folder, run):
    with gzip.open(folder / "genome.fa.gz", "wt") as file:
        file.write(GENOME)


def variants(folder, run):
    genome(folder, run)
    ref = GENOME.splitlines()[1][99]
    rows = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    rows.append(f"chr1\t100\t.\t{ref}\t{'A' if ref != 'A' else 'C'}\t.\t.\t.")
    (folder / "variants.vcf").write_text("\n".join(rows) + "\n")
    pysam.tabix_compress(str(folder / "variants.vcf"), str(folder / "variants.vcf.gz"))


def genomes(folder, run):
    (folder / "genomes").mkdir()
    with gzip.open(folder / "genomes" / "a.fa.gz", "wt") as file:
        file.write(GENOME)


def batch(folder, run):
    genomes(folder, run)
    run(EXAMPLES["plan"])
    for number in range(1, 9):
        run(f"longseq summarize genomes/*.fa.gz --no-model --shard {number}/8 --out batch")


def book(folder, run):
    (folder / "book.txt").write_text(" ".join(TEXTS))


def tokenizer(folder, run):
    book(folder, run)
    run(EXAMPLES["tokenizer train"])


def summary(folder, run):
    from reportlab.pdfgen import canvas

    page = canvas.Canvas(str(folder / "book.pdf"))
    page.drawString(72, 720, TEXTS[0])
    page.save()
    run("longseq summarize book.pdf --out summary/")


def articles(folder, run):
    with open(folder / "articles.jsonl", "w") as documents, open(folder / "references.jsonl", "w") as references:
        for number, text in enumerate(TEXTS):
            row = {"id": str(number), "abstract": text.split(". ")[0] + "."}
            documents.write(json.dumps(row | {"text": text}) + "\n")
            references.write(json.dumps(row) + "\n")
    (folder / "summaries.json").write_text(run("longseq summarize articles.jsonl --json --sentences 1"))


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("summarize", genome),
        ("score", variants),
        ("embed", genome),
        ("generate", None),
        ("tokenizer train", book),
        ("tokenizer show", tokenizer),
        ("verify", summary),
        ("evaluate", articles),
        ("oracle", articles),
        ("plan", genomes),
        ("merge", batch),
        ("info", genome),
        ("completion", None),
    ],
)
def test_an_example_runs(name, before, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        program, *words = shlex.split(line)
        code = main(words)
        out, err = capsys.readouterr()
        assert (program, code) == ("longseq", 0), err
        return out

    if before is not None:
        before(tmp_path, run)
    there = {one.name for one in tmp_path.iterdir()}
    words = shlex.split(EXAMPLES[name])
    said = run(EXAMPLES[name])
    made = {one.name for one in tmp_path.iterdir()} - there
    assert ({words[words.index("--out") + 1].rstrip("/")} if "--out" in words else set()) <= made
    assert said or made
