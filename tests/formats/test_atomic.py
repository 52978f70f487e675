"""Output appears whole or not at all, whatever happens while it is made."""

import errno
import os
import stat
import sys

import pytest

from longseq.errors import LongseqError, OutputExistsError, UsageError
from longseq.formats import atomic, exchange
from longseq.formats.atomic import output_directory, write_aside


@pytest.fixture
def umask():
    old = os.umask(0o027)
    yield
    os.umask(old)


def names(directory):
    return sorted(p.name for p in directory.iterdir())


def write_half(target, interruption):
    with write_aside(target, force=True) as aside:
        aside.write_text("half")
        raise interruption


def write_too_late(target):
    with write_aside(target) as aside:
        aside.write_text("ours")
        target.write_text("theirs")


def build_half(target, interruption):
    with output_directory(target) as aside:
        (aside / "a").write_text("1")
        raise interruption


def build_too_late(target):
    with output_directory(target) as aside:
        (aside / "a").write_text("ours")
        target.mkdir()
        (target / "b").write_text("theirs")


def test_file_appears_at_the_end_and_private_until_then(tmp_path, umask):
    target = tmp_path / "table.tsv"
    with write_aside(target) as aside:
        assert aside.parent == tmp_path and aside.suffix == ".tsv"
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
        aside.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert names(tmp_path) == ["table.tsv"]


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existing", [False, True])
def test_interrupted_file_leaves_nothing(tmp_path, interruption, existing):
    target = tmp_path / "out"
    if existing:
        target.write_text("old")
    with pytest.raises(interruption):
        write_half(target, interruption)
    assert names(tmp_path) == (["out"] if existing else [])
    assert not existing or target.read_text() == "old"


def test_existing_file_is_refused_before_any_work(tmp_path):
    target = tmp_path / "out"
    target.write_text("old")
    with pytest.raises(OutputExistsError, match=r"exists already; .*--force"), write_aside(target):
        pytest.fail("the block ran")
    assert target.read_text() == "old"
    with write_aside(target, force=True) as aside:
        aside.write_text("new")
    assert target.read_text() == "new"


@pytest.mark.parametrize("links", [True, False])
def test_file_that_appears_meanwhile_is_kept(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no links here")))
    target = tmp_path / "out"
    with pytest.raises(OutputExistsError):
        write_too_late(target)
    assert target.read_text() == "theirs"
    assert names(tmp_path) == ["out"]


def test_file_without_hard_links(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no links here")))
    with write_aside(tmp_path / "out") as aside:
        aside.write_text("whole")
    assert names(tmp_path) == ["out"]


def test_symbolic_link_keeps_pointing(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with write_aside(tmp_path / "link", force=True) as aside:
        aside.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_device_is_written_in_place():
    with write_aside("/dev/null") as aside:
        aside.write_text("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_bad_targets(tmp_path):
    with pytest.raises(UsageError, match="is a directory"), write_aside(tmp_path):
        pass
    with (
        pytest.raises(UsageError, match=r"directory does not exist; .*mkdir -p \S+/no$"),
        write_aside(tmp_path / "no" / "out"),
    ):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is not a directory"), output_directory(tmp_path / "file", force=True):
        pass
    with pytest.raises(UsageError, match="does not exist"), output_directory(tmp_path / "no" / "out"):
        pass


@pytest.mark.parametrize("holder", [False, True])
def test_working_directory_is_never_swapped(tmp_path, monkeypatch, holder):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    where = tmp_path if holder else "."
    with pytest.raises(UsageError, match="working directory"), output_directory(where, force=True):
        pass
    assert names(tmp_path) == ["in"]


@pytest.mark.parametrize("empty_before", [False, True])
def test_directory_appears_at_the_end(tmp_path, umask, empty_before):
    target = tmp_path / "out"
    if empty_before:
        target.mkdir()
    with output_directory(target) as aside:
        assert stat.S_IMODE(aside.stat().st_mode) == 0o700
        (aside / "a").write_text("1")
        (aside / "tracks").mkdir()
        (aside / "tracks" / "b").write_text("2")
        assert not target.exists() or not names(target)
    assert names(tmp_path) == ["out"]
    assert names(target) == ["a", "tracks"] and (target / "tracks" / "b").read_text() == "2"
    assert stat.S_IMODE(target.stat().st_mode) == 0o750


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt])
def test_interrupted_directory_leaves_nothing(tmp_path, interruption):
    target = tmp_path / "out"
    with pytest.raises(interruption):
        build_half(target, interruption)
    assert names(tmp_path) == []


def test_existing_directory(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "notes.txt").write_text("the user's")
    (target / "a").write_text("old")
    (target / "stale").write_text("old")
    with pytest.raises(OutputExistsError), output_directory(target):
        pytest.fail("the block ran")
    with output_directory(target, force=True, replaces=["a", "stale"]) as aside:
        (aside / "a").write_text("new")
    assert names(tmp_path) == ["out"]
    assert names(target) == ["a", "notes.txt"]
    assert (target / "a").read_text() == "new"


def test_directory_that_appears_meanwhile_is_kept(tmp_path):
    target = tmp_path / "out"
    with pytest.raises(OutputExistsError):
        build_too_late(target)
    assert names(tmp_path) == ["out"] and names(target) == ["b"]


@pytest.fixture(params=[True, False], ids=["at once", "in two renames"])
def at_once(request, monkeypatch):
    """Whether two names can change places in one step."""
    if not request.param:
        monkeypatch.setattr(exchange, "_at_once", lambda *_: False)
    elif not sys.platform.startswith("linux"):
        pytest.skip("renameat2 is Linux's")


def test_old_directory_comes_back_if_the_new_one_cannot_take_its_name(tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.mkdir()
    (target / "a").write_text("old")
    rename, calls = os.rename, []

    def second_fails(source, goal):
        calls.append(source)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        rename(source, goal)

    monkeypatch.setattr(exchange, "_at_once", lambda *_: False)
    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(UsageError, match="Input/output error"), output_directory(target, force=True) as aside:
        (aside / "a").write_text("new")
    assert names(tmp_path) == ["out"] and (target / "a").read_text() == "old"


@pytest.mark.parametrize("links", [True, False])
def test_what_the_user_added_is_kept_and_stands_all_the_time(tmp_path, monkeypatch, at_once, links):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(PermissionError(1, "no links here")))
    target = tmp_path / "out"
    (target / "mine" / "deep").mkdir(parents=True)
    (target / "mine" / "deep" / "notes.txt").write_text("mine")
    (target / "points").symlink_to("nowhere")
    (target / "a").write_text("old")
    swap, seen = exchange.exchange, []

    def watched(one, two):
        seen.append((names(one), names(two)))
        swap(one, two)
        (one / "late.txt").write_text("came as the names changed places")

    monkeypatch.setattr(atomic, "exchange", watched)
    with output_directory(target, force=True, replaces=["a"]) as aside:
        (aside / "b").write_text("new")
    assert seen == [(["b", "mine", "points"], ["a", "mine", "points"])]
    assert names(tmp_path) == ["out"] and names(target) == ["b", "late.txt", "mine", "points"]
    assert (target / "mine" / "deep" / "notes.txt").read_text() == "mine" and (target / "points").is_symlink()


@pytest.mark.parametrize("write", [write_aside, output_directory])
def test_a_full_disk_is_said_as_one(tmp_path, monkeypatch, write):
    """Also by a disk that takes what is written and says only when it is flushed that it cannot keep it."""
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(LongseqError, match=r"out: cannot be written: No space left on device; make room") as found:
        with write(tmp_path / "out"):
            pass
    assert not isinstance(found.value, UsageError) and names(tmp_path) == []


@pytest.mark.parametrize(("write", "within"), [(write_aside, ""), (output_directory, "tracks/a.bw")])
def test_an_error_speaks_of_the_file_that_was_to_be(tmp_path, write, within):
    with pytest.raises(PermissionError) as found, write(tmp_path / "out") as aside:
        raise PermissionError(errno.EACCES, "Permission denied", str(aside / within))
    assert found.value.filename == str(tmp_path / "out" / within)


@pytest.mark.parametrize("write", [write_aside, output_directory])
def test_a_signal_that_comes_while_all_is_removed_leaves_nothing(tmp_path, monkeypatch, write):
    unlink, calls = atomic._unlink, []

    def interrupted(aside):
        calls.append(aside)
        if len(calls) == 1:
            raise KeyboardInterrupt
        unlink(aside)

    monkeypatch.setattr(atomic, "_unlink", interrupted)
    with pytest.raises(KeyboardInterrupt), write(tmp_path / "out"):
        raise ValueError
    assert names(tmp_path) == []
