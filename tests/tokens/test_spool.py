"""The reverse strand from disk."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import LongseqError
from longseq.records import reverse_complement
from longseq.tokens.spool import LetterSpool

letters = st.text("ACGTRYNacgtn", max_size=60).map(str.encode)


@given(st.lists(letters, max_size=8), st.integers(1, 70))
def test_pieces_are_the_reverse_complement_of_what_was_appended(pieces, size):
    with LetterSpool() as spool:
        for piece in pieces:
            spool.append(piece)
        text = b"".join(pieces)
        back = list(spool.reversed_complement_pieces(size))
        assert b"".join(back) == reverse_complement(text)
        assert len(spool) == len(text)
        assert [len(piece) for piece in back] == [min(size, end) for end in range(len(text), 0, -size)]


def test_more_can_be_appended_after_reading():
    with LetterSpool() as spool:
        spool.append(b"AAC")
        assert b"".join(spool.reversed_complement_pieces(2)) == b"GTT"
        spool.append(b"G")
        assert b"".join(spool.reversed_complement_pieces(2)) == b"CGTT"


def test_nobody_else_may_read_it_and_nothing_is_left(tmp_path):
    spool = LetterSpool(tmp_path)
    spool.append(b"ACGT" * 10000)
    descriptor = spool._file.fileno()
    assert stat.S_IMODE(os.fstat(descriptor).st_mode) == 0o600
    spool.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError):
        os.fstat(descriptor)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks the kernel where an open file lies")
def test_it_lies_where_tmpdir_points(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with LetterSpool() as spool:
        assert os.readlink(f"/proc/self/fd/{spool._file.fileno()}").startswith(str(tmp_path))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    spool = LetterSpool(tmp_path / "nowhere")
    spool.append(b"ACGT")  # so few need no file
    with spool, pytest.raises(LongseqError, match=r"nowhere: the spool cannot be written .*TMPDIR"):
        spool.append(b"ACGT" * 20_000)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_named_with_the_way_out():
    spool = LetterSpool()
    spool._file.close()
    spool._file = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115
    with spool, pytest.raises(LongseqError, match=r"No space left.*TMPDIR"):
        spool.append(b"ACGT")
