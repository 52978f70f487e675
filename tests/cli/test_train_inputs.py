"""Training from the command line on each kind of sequences and labels, packed and plain."""

import gzip
import json

import numpy as np
import pytest

from longseq.cli import main

QUICK = (
    "--device", "cpu", "--threads", "1", "--set", "steps=1", "--set", "batch=64", "--set", "data.window=32",
    "--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2",
)  # fmt: skip
NAMES = [f"NC_00{i}.1" for i in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six records of 60 bases in each format, with labels of each kind."""
    path, rng = tmp_path_factory.mktemp("inputs"), np.random.default_rng(0)
    letters = ["".join(rng.choice(list("ACGT"), 60)) for _ in NAMES]
    records = list(zip(NAMES, letters, strict=True))
    texts = {
        "x.fa": "".join(f">{name} x\n{text}\n" for name, text in records),
        "x.fastq": "".join(f"@{name} x\n{text}\n+\n{'I' * 60}\n" for name, text in records),
        "x.gb": "".join(
            f"LOCUS       {name[:-2]} 60 bp DNA\nVERSION     {name}\nFEATURES             Location/Qualifiers\n"
            f"     CDS             complement(5..30)\nORIGIN\n        1 {text.lower()}\n//\n"
            for name, text in records
        ),
        "l.csv": "id,kind\n" + "".join(f'{name},"{"ab"[i % 2]}"\n' for i, name in enumerate(NAMES)),
        "l.tsv": "id\tkind\n" + "".join(f"{name}\t{'ab'[i % 2]}\n" for i, name in enumerate(NAMES)),
        "l.bed": "".join(f"{name}\t4\t30\tCDS\t0\t-\n" for name in NAMES),
        "l.gff3": "##gff-version 3\n" + "".join(f"{name}\tx\tCDS\t5\t30\t.\t-\t0\tID=a\n" for name in NAMES),
        "l.gtf": "".join(f'{name}\tx\tCDS\t5\t30\t.\t-\t0\tgene_id "a";\n' for name in NAMES),
        "without.tsv": "id\tkind\n" + "".join(f"{name[:-2]}\t{'ab'[i % 2]}\n" for i, name in enumerate(NAMES)),
        "without.bed": "".join(f"{name[:-2]}\t4\t30\tCDS\n" for name in NAMES),
    }
    for name, text in texts.items():
        (path / name).write_text(text)
        (path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return path


def run(*arguments):
    return main(["train", *map(str, arguments), *QUICK, "--json", "-q"])


@pytest.mark.parametrize(("inputs", "labels"), [
    ("x.fa.gz", "l.csv.gz"), ("x.fastq.gz", "l.tsv"), ("x.gb.gz", "l.csv"),
    ("x.fastq", "l.bed.gz"), ("x.gb", "l.gff3.gz"), ("x.fa", "l.gtf.gz"), ("x.gb.gz", "x.gb.gz"),
])  # fmt: skip
def test_labels_of_each_kind_meet_sequences_of_each_kind(folder, tmp_path, capsys, inputs, labels):
    assert run(folder / inputs, "--labels", folder / labels, "--out", tmp_path / "run") == 0
    said = json.loads(capsys.readouterr().out)
    plan, outcome = (said[part] for part in ("plan", "outcome"))
    assert outcome["step"] == 1 and (tmp_path / "run" / "model" / "model.safetensors").exists()
    table = labels.startswith(("l.csv", "l.tsv"))
    assert plan["data"].startswith(
        "4 records of 2 classes" if table else "300 bases of 2 classes (background 56.7%, CDS"
    )
    figures = outcome["figures"]
    assert ("accuracy" if table else "bases") in figures


@pytest.mark.parametrize("inputs", ["x.fa.gz", "x.fastq.gz", "x.gb.gz"])
def test_bases_of_each_kind(folder, tmp_path, capsys, inputs):
    assert run(folder / inputs, "--out", tmp_path / "run", "--set", "data.held_out=0.2") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"]["bases"] == 300 and found["outcome"]["figures"]["bits_per_base"] > 0


@pytest.mark.parametrize("labels", ["without.tsv.gz", "without.bed.gz"])
def test_names_without_their_versions_are_said(folder, tmp_path, capsys, labels):
    assert run(folder / "x.fa", "--labels", folder / labels, "--out", tmp_path / "run") == 1
    said = capsys.readouterr().err
    assert "expected ids of records (NC_000.1, NC_001.1, NC_002.1, NC_003.1, NC_004.1 …), found 'NC_000'" in said
    assert "that no input holds; did you mean 'NC_000.1'? labels.unknown=skip passes over" in said
    assert not (tmp_path / "run").exists()
