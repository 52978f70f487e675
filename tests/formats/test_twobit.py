"""2bit: letters, runs of N and soft mask, from front to back."""

import pytest
from Bio import SeqIO
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import InputError, UsageError
from longseq.formats import read
from longseq.formats.twobit import records

RECORDS = [("chr1", b"ACGTNNNNacgtnnnnACGTA"), ("chr1", b""), ("c", b"T"), ("d", b"nACGTACGTACGTACGTN"), ("", b"GG")]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("read_block", [1, 4, 9, 1 << 18])
def test_letters_come_back(to_twobit, make, walk, order, version, read_block):
    reading = read(make("a", to_twobit(RECORDS, order, version)), read_block=read_block)
    assert reading.format.name == "2bit"
    assert walk(reading) == RECORDS


def test_lengths_and_what_the_format_cannot_carry(to_twobit, make):
    found = list(read(make("a", to_twobit(RECORDS))))
    assert [r.length for r in found] == [21, 0, 1, 18, 2]
    assert found[0].notes == {"cannot_carry": "IUPAC codes other than N, and U"}
    assert found[0].case_is_mask and found[0].line is None


sequences = st.lists(st.text("ACGTNacgtn", max_size=80).map(str.encode), max_size=4)


@given(sequences, st.integers(1, 50), st.data())
def test_runs_meet_seams(to_twobit, held, letters, read_block, data):
    wanted = [(f"r{i}", s) for i, s in enumerate(letters)]
    walked = data.draw(st.sets(st.integers(0, 3)))
    got = []
    for record in records(held(to_twobit(wanted)), read_block=read_block):
        if record.index in walked:
            got.append((record.id, b"".join(record.pieces)))
    assert got == [pair for i, pair in enumerate(wanted) if i in walked]


def test_same_as_biopython(to_twobit, make):
    wanted = [(f"r{i}", s) for i, (_, s) in enumerate(RECORDS) if s]
    packed = to_twobit(wanted)
    path = make("a", packed)
    expected = [(r.id, bytes(r.seq)) for r in SeqIO.parse(path, "twobit")]
    assert [(r.id, b"".join(r.pieces)) for r in read(path)] == expected == wanted


@pytest.mark.parametrize("kept", [1.0, 0.99, 0.9, 0.8, 0.7])
def test_cut_file_still_names_every_record(to_twobit, make, kept):
    packed = to_twobit(RECORDS)
    size = round(len(packed) * kept)
    found = [(r.id, b"".join(r.pieces), r.truncated, r.length) for r in read(make("a", packed[:size]))]
    assert [name for name, *_ in found] == [name for name, _ in RECORDS]
    assert all(whole.startswith(got) for (_, got, *_), (_, whole) in zip(found, RECORDS, strict=True))
    assert all(cut == (got != whole) or not whole for (_, got, cut, _), (_, whole) in zip(found, RECORDS, strict=True))
    assert all(length == len(got) for _, got, _, length in found)
    assert any(cut for *_, cut, _ in found) == (kept < 1)


def test_bad_files(to_twobit, make):
    packed = to_twobit(RECORDS)
    with pytest.raises(InputError, match=r"a: is cut inside its index"):
        list(read(make("a", packed[:20])))
    with pytest.raises(InputError, match=r"b: expected 2bit version 0 or 1, found 7"):
        list(read(make("b", packed[:4] + b"\7" + packed[5:])))
    one = bytearray(to_twobit([("x", b"NNAC")]))
    one[22 + 4 : 22 + 8] = (9).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"c \(x\): expected at most 4 runs, found 9"):
        list(read(make("c", bytes(one))))
    one[22 + 4 : 22 + 8] = (1).to_bytes(4, "little")
    one[22 + 12 : 22 + 16] = (9).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"d \(x\): expected runs in order, within 4 bases"):
        list(read(make("d", bytes(one))))


def test_index_out_of_order(to_twobit, make):
    packed = bytearray(to_twobit([("x", b"AC"), ("y", b"GT")]))
    first, second = packed[18:22], packed[24:28]
    packed[18:22], packed[24:28] = second, first
    with pytest.raises(InputError, match="expected records in the order of the index"):
        list(read(make("a", bytes(packed))))


def test_earlier_record_is_refused(to_twobit, make):
    first, _ = read(make("a", to_twobit([("x", b"AC"), ("y", b"GT")])))
    with pytest.raises(UsageError, match="moved on"):
        next(first.pieces)
