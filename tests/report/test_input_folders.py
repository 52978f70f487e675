"""Folders of inputs: named by sample, safe, no two alike, whatever could be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.report.input_folders import InputFile, InputFolders


def names(tmp_path, *samples):
    folders = InputFolders(tmp_path, samples)
    return [folders.tracks(i).relative_to(tmp_path / "tracks").as_posix() for i in range(len(samples))]


def test_one_input_has_the_folder_itself(tmp_path):
    folders = InputFolders(tmp_path, ["asm01 | contigs"])
    assert (folders.files(0), folders.tracks(0)) == (tmp_path, tmp_path / "tracks")


def test_several_have_one_each_by_sample(tmp_path):
    assert names(tmp_path, "asm01 | contigs", "asm02 | contigs") == ["asm01_contigs", "asm02_contigs"]
    folders = InputFolders(tmp_path, ["a", "b"])
    assert folders.files(1) == folders.tracks(1) == tmp_path / "tracks" / "b"


@pytest.mark.parametrize(
    ("sample", "name"),
    [("..", "_."), ("a/../b", "a_.._b"), ("-rf", "_rf"), (".x", "_x"), ("é 1", "é_1"), ("|", "_"), ("a\udcff", "a")],
)
def test_a_name_is_safe(tmp_path, sample, name):
    assert names(tmp_path, sample, "other") == [name, "other"]


def test_names_that_are_made_alike_stay_apart(tmp_path):
    assert names(tmp_path, "a b", "a/b", "A_B", "a_b_2") == ["a_b", "a_b_3", "A_B_4", "a_b_2"]


@given(samples=st.lists(st.text(max_size=300), min_size=2, max_size=8))
def test_any_names_give_folders_of_their_own(tmp_path_factory, samples):
    found = names(tmp_path_factory.getbasetemp(), *samples)
    assert len({name.casefold() for name in found}) == len(samples)
    assert all("/" not in name and len(name.encode()) < 255 and name[0] not in ".-" for name in found)


def test_the_file_of_an_input_goes_on_until_the_next_input(tmp_path):
    with InputFile(InputFolders(tmp_path, ["a", "b", "c"]), "x.txt") as file:
        for source, text in ((0, "1"), (0, "2"), (2, "3")):
            file.of(source).write(text)
    found = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.txt")}
    assert found == {"tracks/a/x.txt": "12", "tracks/c/x.txt": "3"}
