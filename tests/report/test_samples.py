"""Names of samples: short, stable, and never two alike."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import UsageError
from longseq.report.samples import sample_names


def test_folder_and_name_tell_files_apart():
    files = [f"/data/asm{i:02d}/contigs.fasta.gz" for i in range(20)]
    assert sample_names(files) == [f"asm{i:02d} | contigs" for i in range(20)]


def test_a_name_does_not_depend_on_other_files():
    assert sample_names(["/d/a/x.fa"]) == sample_names(["/d/a/x.fa", "/d/b/x.fa"])[:1] == ["a | x"]


def test_folders_are_taken_in_until_names_differ():
    files = ["/run1/out/x.fa", "/run2/out/x.fa", "/run2/out/y.fa"]
    assert sample_names(files) == ["run1 | out | x", "run2 | out | x", "out | y"]


def test_endings_are_kept_where_they_tell_files_apart():
    files = ["/d/x.fa", "/d/x.fq.gz", "/e/x.fa", "/d/x.v1.fa"]
    assert sample_names(files) == ["d | x_fa", "d | x_fq_gz", "e | x", "d | x_v1"]


def test_what_multiqc_would_cut_away_is_not_in_a_name():
    (name,) = sample_names(["/d/GCF_000005845.2_ASM584v2_genomic.fna.gz"])
    assert name == "d | GCF_000005845_2_ASM584v2_genomic"


def test_a_file_without_a_folder_is_named_by_where_it_lies(tmp_path, monkeypatch):
    (tmp_path / "s7").mkdir()
    monkeypatch.chdir(tmp_path / "s7")
    assert sample_names(["contigs.fasta"]) == sample_names([os.path.abspath("contigs.fasta")]) == ["s7 | contigs"]
    assert sample_names(["-", "/x.fa"]) == ["stdin", "x"]


def test_a_file_named_twice_has_two_names():
    assert sample_names(["/a/x.fa", "/a/x.fa", "/a/../a/x.fa"]) == ["a | x", "a | x (2)", "a | x (3)"]


@given(st.lists(st.lists(st.sampled_from(["a", "a.fa", "a_fa", "b (2)", "b"]), min_size=1, max_size=4), max_size=8))
def test_no_two_names_are_alike(paths):
    names = sample_names(["/" + "/".join(path) for path in paths])
    assert len(set(names)) == len(names) == len(paths)


def test_given_names():
    assert sample_names(["x", "y"], ["one", "two"]) == ["one", "two"]


@pytest.mark.parametrize("given", [["one"], ["one", "one"], ["one", ""], ["a", "b", "c"]])
def test_given_names_that_cannot_be(given):
    with pytest.raises(UsageError, match="--sample"):
        sample_names(["x", "y"], given)
