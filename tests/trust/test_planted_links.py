"""Links that others left where a run writes: what they point at stays as it is. What waits to be renamed is private."""

import os
import stat
import subprocess
import sys

import pytest

from longseq.cli import main
from longseq.errors import OutputExistsError, UsageError
from longseq.formats.atomic import output_directory, write_aside
from longseq.formats.jsonfile import write_json
from longseq.model.beside import write_beside
from longseq.training.journal import Journal

PRIVATE = """
import os, stat, sys, tempfile
os.umask(0)
seen, kept = [], os.open
def opened(path, flags, mode=0o777, **more):
    handle = kept(path, flags, mode, **more)
    if flags & os.O_CREAT:
        seen.append((os.fspath(path), stat.S_IMODE(os.fstat(handle).st_mode)))
    return handle
os.open = opened
folders, make = [], os.mkdir
def made(path, mode=0o777, **more):
    make(path, mode, **more)
    if os.path.dirname(os.path.abspath(path)) == os.getcwd():  # what lies in it is as private as that is
        folders.append(stat.S_IMODE(os.stat(path).st_mode))
os.mkdir = made
from longseq.cli import main
code = main(sys.argv[1:])
print(code, sorted({mode for _, mode in seen}), sorted(set(folders)), sorted({os.path.dirname(p) for p, _ in seen}))
"""


@pytest.fixture
def mine(tmp_path):
    """A file that nobody may write to by way of a link."""
    file = tmp_path / "mine"
    file.write_text("mine")
    return file


def planted(place, target):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    return place


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing there"])
def test_a_name_of_our_own_is_no_way_through(tmp_path, mine, there):
    target = mine if there else tmp_path / "none"
    link = planted(tmp_path / "run" / "a.json", target)
    with pytest.raises(OutputExistsError):
        write_json(link, {}, given=False)
    write_json(link, {"a": 1}, force=True, given=False)
    assert not link.is_symlink() and link.read_text() == '{\n  "a": 1\n}\n'
    assert mine.read_text() == "mine" and not (tmp_path / "none").exists()


def test_a_name_that_was_given_is_followed(tmp_path, mine):
    with write_aside(planted(tmp_path / "a.tsv", mine), force=True) as aside:
        aside.write_text("new")
    assert mine.read_text() == "new"


def test_a_folder_of_our_own_is_no_way_through(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").write_text("mine")
    link = planted(tmp_path / "checkpoints" / "step-00000001", tmp_path / "mine")
    with pytest.raises(UsageError, match="is a symbolic link, which is not followed here"):
        with output_directory(link, force=True, given=False):
            pass
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["kept"]


def test_facts_beside_a_model_and_the_journal_of_a_run(tmp_path, mine):
    write_beside(planted(tmp_path / "model" / "calibration.json", mine), {"a": 1}, "sha")
    journal = Journal(planted(tmp_path / "run" / "metrics.jsonl", mine))
    journal.write(1, loss=1.0)
    journal.close()
    assert (
        mine.read_text() == "mine" and (tmp_path / "run" / "metrics.jsonl").read_text() == '{"step": 1, "loss": 1.0}\n'
    )


def test_working_folders_and_locks(tmp_path, mine, capsys):
    (tmp_path / "a.fa").write_text(">a\nACGTACGTACGTACGT\n")
    asked = ["score", str(tmp_path / "a.fa"), "--out", str(tmp_path / "out"), "-q", "--snapshot-every", "4"]
    for name in ("rows.jsonl", "run.state", "bits.f32", "longseq.lock", "run.json"):
        link = planted(tmp_path / ".out.partial" / name, mine)
        assert main(asked) == main([*asked, "--resume"]) == main([*asked, "--force"]) == 2
        link.unlink()
    (tmp_path / ".out.partial").rmdir()
    link = planted(tmp_path / ".out.partial", tmp_path)
    assert main(asked) == 2 and "a symbolic link" in capsys.readouterr().err
    link.unlink()
    assert main(asked) == 0 and mine.read_text() == "mine"


def test_what_is_being_written_is_private_and_what_is_done_is_not(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.fa").write_text(">a\n" + "ACGT" * 500 + "\n")
    (tmp_path / "in" / "a.txt").write_text("The lamp was lit at dusk. The keeper slept.\n")
    (tmp_path / "tmp").mkdir()
    words = ["summarize", "in/a.fa", "in/a.txt", "--no-model", "--out", "out", "-q"]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run(
        [sys.executable, "-c", PRIVATE, *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == f"0 [384] [448] {[str(tmp_path / 'tmp')]}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "tmp"] and not any(
        (tmp_path / "tmp").iterdir()
    )
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o777
    assert stat.S_IMODE((tmp_path / "out" / "sequences.tsv").stat().st_mode) == 0o666
