"""A stream gives the same bytes through every container, and says when one was cut."""

import io
import os
import random
import sys
import time

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import InputError
from longseq.formats import containers, raw
from longseq.formats.containers import open_bytes
from longseq.formats.raw import Raw
from longseq.formats.zstd import FrameWalk

CONTAINERS = ["plain", "gzip", "bgzf", "bzip2", "xz", "zstd"]
PACKED = CONTAINERS[1:]
DATA = bytes(random.Random(1).choices(b"ACGT\n", k=200_000))


def drain(stream, size=1 << 16):
    parts = []
    while piece := stream.read(size):
        assert len(piece) <= size
        parts.append(piece)
    return b"".join(parts)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_same_bytes_whatever_the_name_says(pack, make, container, size):
    packed = pack(container, DATA)
    with open_bytes(make("reads.fq.bz2", packed)) as stream:
        assert stream.container == container
        assert stream.size == len(packed)
        assert drain(stream, size) == DATA
        assert stream.position == len(packed)
        assert not stream.truncated
        assert stream.read() == b""


@pytest.mark.parametrize("container", CONTAINERS)
def test_members_one_behind_the_other(pack, make, container):
    with open_bytes(make("a", pack(container, b"one\n") + pack(container, b"") + pack(container, DATA))) as stream:
        assert drain(stream) == b"one\n" + DATA
        assert not stream.truncated


@pytest.mark.parametrize(("container", "padding"), [("gzip", 1000), ("gzip", 300_000), ("xz", 4), ("xz", 300_000)])
def test_zeros_after_and_between_members_are_padding(pack, make, container, padding):
    zeros = bytes(padding)
    with open_bytes(make("a", pack(container, b"one") + zeros + pack(container, b"two") + zeros)) as stream:
        assert drain(stream) == b"onetwo"
        assert not stream.truncated


def test_bgzf_and_gzip_mixed(pack, make):
    with open_bytes(make("a", pack("bgzf", b"one") + pack("gzip", b"two"))) as stream:
        assert drain(stream) == b"onetwo"
        assert not stream.truncated


def test_zstd_skippable_frames(pack, make):
    skippable = b"\x53\x2a\x4d\x18\x05\0\0\0hello"
    with open_bytes(make("a", skippable + pack("zstd", b"one") + skippable + pack("zstd", b"two"))) as stream:
        assert stream.container == "zstd"
        assert drain(stream) == b"onetwo"
        assert not stream.truncated


@pytest.mark.parametrize("container", PACKED)
@pytest.mark.parametrize("part", [0.001, 0.3, 0.7, 0.9999])
def test_cut_container_gives_what_is_there_and_says_so(pack, make, container, part):
    packed = pack(container, DATA)
    cut = max(int(len(packed) * part), 20)
    with open_bytes(make("a", packed[:cut])) as stream:
        assert DATA.startswith(got := drain(stream))
        assert stream.truncated
    if container != "bzip2":  # its one block here needs the whole file
        assert len(got) >= len(DATA) * (part - 0.5)


@pytest.mark.parametrize("container", PACKED)
def test_every_cut_of_a_small_container_is_noticed(pack, make, container):
    packed = pack(container, b"ACGT" * 5)
    for cut in range(12, len(packed)):
        with open_bytes(make("a", packed[:cut])) as stream:
            assert (b"ACGT" * 5).startswith(drain(stream)), cut
            assert stream.truncated, cut


def test_bgzf_without_its_last_empty_block_is_cut(pack, make):
    whole = pack("bgzf", DATA)
    with open_bytes(make("a", whole[:-28])) as stream:
        assert drain(stream) == DATA
        assert stream.truncated


@pytest.mark.parametrize("container", PACKED)
def test_damage_is_an_error_that_says_where(pack, make, container):
    packed = bytearray(pack(container, DATA))
    middle = slice(len(packed) // 2, len(packed) // 2 + 40)
    packed[middle] = bytes(255 - b for b in packed[middle])
    path = make("a", bytes(packed))
    with open_bytes(path) as stream, pytest.raises(InputError, match=f"^{path}: {container} data is damaged"):
        drain(stream)


@pytest.mark.parametrize("container", PACKED)
def test_rubbish_behind_a_container_is_an_error_after_the_data(pack, make, container):
    with open_bytes(make("a", pack(container, b"ACGT") + b"rubbish, and not a little")) as stream:
        assert stream.peek(4) == b"ACGT"
        with pytest.raises(InputError, match="damaged"):
            drain(stream)


@pytest.mark.parametrize("container", CONTAINERS)
def test_peek_uses_nothing_up(pack, make, container):
    with open_bytes(make("a", pack(container, DATA))) as stream:
        assert stream.peek(10) == DATA[:10]
        assert stream.peek(150_000) == DATA[:150_000]
        assert stream.read(7) == DATA[:7]
        assert stream.peek(10**9) == DATA[7:]
        assert drain(stream) == DATA[7:]


@pytest.mark.parametrize("container", CONTAINERS)
def test_standard_input(pack, monkeypatch, container):
    packed = pack(container, DATA)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    with open_bytes("-") as stream:
        assert stream.container == container
        assert stream.size is None
        assert drain(stream) == DATA


@pytest.mark.parametrize("container", CONTAINERS)
def test_pipe_that_gives_a_byte_at_a_time(pack, monkeypatch, container):
    drips = list(pack(container, b"ACGT" * 10))

    class Buffer:
        def read1(self, size):
            return bytes([drips.pop(0)]) if drips else b""

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Buffer()}))
    with open_bytes("-") as stream:
        assert stream.container == container
        assert drain(stream) == b"ACGT" * 10
        assert not stream.truncated


def test_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = os.fork()
    if writer == 0:
        (tmp_path / "pipe").write_bytes(DATA)
        os._exit(0)
    with open_bytes(tmp_path / "pipe") as stream:
        assert drain(stream) == DATA
        assert stream.size is None
    os.waitpid(writer, 0)


@pytest.mark.parametrize("wait", [0.0, 0.3], ids=["at once", "later"])
def test_a_named_pipe_whose_writer_takes_its_time(tmp_path, wait):
    """It opens late, says nothing for a while, or is gone before its words are read."""
    os.mkfifo(tmp_path / "pipe")
    writer = os.fork()
    if writer == 0:
        time.sleep(wait)
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            time.sleep(wait)
            pipe.write(b">a\nAC")
            time.sleep(wait)
            pipe.write(b"GT\n")
        os._exit(0)
    with open_bytes(tmp_path / "pipe") as stream:
        assert drain(stream) == b">a\nACGT\n"
    os.waitpid(writer, 0)


def test_a_named_pipe_that_nobody_writes_to(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "PATIENCE", 0.3)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe.*expected something that writes to this pipe.*begin it first"):
        open_bytes(tmp_path / "pipe")


def test_a_pipe_whose_writer_has_gone(monkeypatch):
    """That of `<(command)` in a shell: it has no name to open it by, and nobody will write to it again."""
    monkeypatch.setattr(raw, "PATIENCE", 0.0)
    for data in (DATA[:100], b""):
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        try:
            assert drain(Raw(f"/dev/fd/{reading}"), 100) == data
        finally:
            os.close(reading)


@pytest.mark.parametrize("container", ["gzip", "bzip2", "xz", "zstd"])
def test_pieces_stay_small_when_data_swells(make, pack, container):
    with open_bytes(make("a", pack(container, bytes(20 << 20)))) as stream:
        sizes = []
        while piece := stream.read(1 << 30):
            sizes.append(len(piece))
    assert sum(sizes) == 20 << 20
    assert max(sizes) <= containers.PIECE


def test_zstd_with_the_widest_window(make):
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with open_bytes(make("a", writer.compress(DATA) + writer.flush())) as stream:
        assert drain(stream) == DATA


@given(st.lists(st.binary(max_size=300), max_size=4), st.integers(1, 50), st.booleans(), st.data())
def test_frame_walk_knows_the_ends_of_frames(contents, step, checksum, data):
    packer = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=data.draw(st.booleans()))
    frames = [packer.compress(content) for content in contents]
    whole = b"".join(frames)
    ends = {sum(map(len, frames[:i])) for i in range(len(frames) + 1)}
    cut = data.draw(st.integers(0, len(whole)))
    walk = FrameWalk()
    for at in range(0, cut, step):
        walk.feed(whole[at : min(at + step, cut)])
    assert walk.between_frames == (cut in ends)


def test_what_cannot_be_opened(tmp_path, make, monkeypatch):
    with pytest.raises(InputError, match=r"nothing\.fa: no such file; check the path"):
        open_bytes(tmp_path / "nothing.fa")
    with pytest.raises(InputError, match=r"is a directory; name files in it: .*/\*$"):
        open_bytes(tmp_path)
    with pytest.raises(InputError, match="is empty; give a file that holds data"):
        open_bytes(make("empty.fa", b""))
    with pytest.raises(InputError, match="cannot be read"):
        open_bytes("a\0b")
    path = make("secret.fa", b">a\nA\n")
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    with pytest.raises(InputError, match="cannot be read: Permission denied; check its permissions"):
        open_bytes(path)


def test_closed_when_the_last_name_goes(make):
    before = len(os.listdir("/proc/self/fd"))
    stream = open_bytes(make("a", b"ACGT"))
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del stream
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("change", ["cut", "grown", "other letters"])
def test_a_file_that_changes_while_it_is_read_is_no_whole_one(pack, make, monkeypatch, container, change):
    for name in ("PIECE", "PACKED"):
        monkeypatch.setattr(containers, name, 1000)
    path, packed = make("a", pack(container, DATA)), pack(container, DATA)
    os.utime(path, (0, 1_700_000_000))
    with open_bytes(path) as stream:
        stream.read(10)
        with open(path, "r+b") as file:
            if change == "cut":
                file.truncate(len(packed) // 2)
            else:
                file.seek(len(packed) - (change == "other letters"))
                file.write(b"\n" if change == "grown" else packed[-1:])
        with pytest.raises(InputError, match="a: changed while it was read; run again once nothing writes to it"):
            drain(stream)


def test_a_file_that_is_removed_or_replaced_while_it_is_read_is_read_to_its_end(make):
    path = make("a", DATA)
    with open_bytes(path) as stream:
        stream.read(10)
        os.unlink(path)
        make("a", b"other")
        assert drain(stream) == DATA[10:]
