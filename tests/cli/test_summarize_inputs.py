"""`longseq summarize` on several inputs: every record, region and track says which input it is of."""

import csv
import json
import random

import pybigtools
import pytest


@pytest.fixture
def three(tmp_path):
    """Three assemblies with records of the same names, the second of which is missing."""
    for i in (1, 2, 3):
        (tmp_path / f"asm{i}").mkdir()
        letters = "".join(random.Random(i).choices("ACGT", k=1_000 * i))
        (tmp_path / f"asm{i}" / "contigs.fa").write_text(f">c1\n{letters}\n>c2\n{letters[:500]}\n")
    (tmp_path / "asm2" / "contigs.fa").unlink()
    return [tmp_path / f"asm{i}" / "contigs.fa" for i in (1, 2, 3)]


def tree(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_each_sample_has_its_regions_and_tracks(run, three, tmp_path):
    out = tmp_path / "out"
    assert run(*three, "--window", 500, "--regions-fasta", "--out", out)[0] == 3
    assert sorted(path.name for path in (out / "tracks").iterdir()) == ["asm1_contigs", "asm3_contigs"]
    assert not (out / "regions.bed").exists() and not (out / "regions.fa").exists()
    with open(out / "files.tsv", newline="") as file:
        samples = [row["sample"] for row in csv.DictReader(file, delimiter="\t")]
    assert samples == ["asm1 | contigs", "asm2 | contigs", "asm3 | contigs"]
    records = json.loads((out / "summary.json").read_text())["records"]
    for i, folder in ((1, out / "tracks" / "asm1_contigs"), (3, out / "tracks" / "asm3_contigs")):
        lengths = pybigtools.open(str(folder / "gc.bw")).chroms()
        assert lengths == {"c1": 1_000 * i, "c2": 500}
        bed = [line.split("\t") for line in (folder / "regions.bed").read_text().splitlines()]
        own = [r for record in records if f"asm{i}" in record["file"] for r in record["regions"]]
        assert [(b[0], int(b[1]), int(b[2])) for b in bed] == [(r["record"], r["start"], r["end"]) for r in own]
        assert {b[0] for b in bed} == set(lengths) and len(bed[0]) == 7
        letters = (folder / "regions.fa").read_text()
        assert letters.count(">") == len(bed) and letters.startswith(f">c1:1-{1_000 * i} composition1\n")


def test_where_files_lie_does_not_depend_on_what_could_be_read(run, three, tmp_path):
    assert run(*three[:2], "--out", tmp_path / "one")[0] == 3
    three[1].write_bytes(three[0].read_bytes())
    assert run(*three[:2], "--out", tmp_path / "two")[0] == 0
    one, two = tree(tmp_path / "one"), tree(tmp_path / "two")
    assert "tracks/asm1_contigs/regions.bed" in one
    assert set(two) - set(one) == {name.replace("asm1", "asm2") for name in one if "asm1" in name}
    assert not set(one) - set(two)


def test_a_file_named_twice_is_two_inputs(run, three, tmp_path):
    code, _, err = run(three[0], three[0], "--window", 500, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    found = tree(tmp_path / "out" / "tracks")
    first = [name.split("/")[1] for name in found if name.startswith("asm1_contigs/")]
    second = [name.split("/")[1] for name in found if name.startswith("asm1_contigs_2/")]
    assert "gc.bw" in first and "regions.bed" in first and first == second and len(found) == 2 * len(first)
    code, shown, _ = run(three[0], three[0], "--format", "md")
    _, once, twice = shown.split("# ")
    assert once.count("  c1 ") == twice.count("  c1 ") == 1


def test_folders_have_the_names_that_were_given(run, three, tmp_path):
    assert run(three[0], three[2], "--sample", "mother", "--sample", "../child", "--out", tmp_path / "out")[0] == 0
    assert sorted(path.name for path in (tmp_path / "out" / "tracks").iterdir()) == ["_._child", "mother"]
    assert list(json.loads((tmp_path / "out" / "longseq_mqc.json").read_text())["data"]) == ["mother", "../child"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asm1", "asm2", "asm3", "out"]


def test_an_earlier_layout_goes_with_force(run, three, tmp_path):
    out = tmp_path / "out"
    assert run(three[0], "--out", out)[0] == 0 and (out / "regions.bed").exists()
    assert run(three[0], three[2], "--out", out, "--force")[0] == 0
    assert not (out / "regions.bed").exists() and not (out / "tracks" / "gc.bw").exists()
    assert run(three[0], "--out", out, "--force")[0] == 0
    assert sorted(path.suffix for path in (out / "tracks").iterdir()) == [".bw"] * 7


def test_parts_are_told_apart_on_the_screen(run, three):
    code, shown, _ = run(three[0], "--region", "c1:1-600", "--region", "c1:401-900", "--region", "c2")
    names = [line.split()[0] for line in shown.splitlines() if line.startswith("  c")]
    assert code == 0 and names == ["c1:1-600", "c1:401-900", "c2"]
