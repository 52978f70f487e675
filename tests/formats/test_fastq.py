"""FASTQ: each read with its quality; a fault in one leaves the others alone."""

import io

import pytest
from Bio import SeqIO
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import AlphabetError, InputError
from longseq.formats import read
from longseq.formats.fastq import records

READS = b"@r1 first\nACGT\n+\nIIII\n@r2\nNNacgt\n+r2\n@@+!~5\n@\n\n+\n\n@r1\nG\n+\n@"


@pytest.mark.parametrize("read_block", [1, 2, 5, 1 << 18])
@pytest.mark.parametrize("crlf", [False, True])
def test_reads(make, read_block, crlf):
    text = READS.replace(b"\n", b"\r\n") if crlf else READS
    reading = read(make("a", text), read_block=read_block)
    assert reading.format.name == "fastq"
    got = [(r.id, r.description, r.line, b"".join(r.pieces), r.quality, r.length, r.truncated) for r in reading]
    assert got == [
        ("r1", "first", 1, b"ACGT", b"IIII", 4, False),
        ("r2", "", 5, b"NNacgt", b"@@+!~5", 6, False),
        ("", "", 9, b"", b"", 0, False),
        ("r1", "", 13, b"G", b"@", 1, False),
    ]


reads_of_any_kind = st.text("ACGTN", min_size=1, max_size=30).flatmap(
    lambda letters: st.tuples(st.just(letters), st.binary(min_size=len(letters), max_size=len(letters)))
)


@given(st.lists(reads_of_any_kind, max_size=5), st.integers(1, 40))
def test_same_as_biopython(held, reads, read_block):
    text = "".join(f"@r{i}\n{s}\n+\n{''.join(chr(33 + b % 94) for b in q)}\n" for i, (s, q) in enumerate(reads))
    got = [
        (r.id, b"".join(r.pieces).decode(), list(r.quality))
        for r in records(held(text.encode()), read_block=read_block)
    ]
    expected = [
        (r.id, str(r.seq), [33 + q for q in r.letter_annotations["phred_quality"]])
        for r in SeqIO.parse(io.StringIO(text), "fastq")
    ]
    assert got == expected


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            b"@a\nAC!T\n+\nIIII\n",
            AlphabetError,
            r":2 \(a\): expected a DNA letter, found '!' at base 3; --on-unknown N",
        ),
        (b"@a\nACGT\n+\nIII\n", InputError, r":4 \(a\): expected a quality for each of 4 letters, found 3"),
        (b"@a\nACGT\n+\nII I\n", InputError, r":4 \(a\): expected qualities from '!' to '~', found byte 0x20"),
    ],
)
def test_bad_read_leaves_the_next_alone(make, error, message, text):
    reading = read(make("a.fq", text + b"@b\nGG\n+\nII\n"))
    with pytest.raises(error, match=r"a\.fq" + message):
        b"".join(next(reading).pieces)
    assert [(r.id, b"".join(r.pieces)) for r in reading] == [("b", b"GG")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"@a\nACGT\nACGT\n+\nIIIIIIII\n",
            r":3 \(a\): expected a line that begins with '\+', found 'ACGT'; .*four lines",
        ),
        (b"@a\nACGT\n+\nIIII\nACGT\n", r":5: expected a FASTQ header that begins with '@', found 'ACGT'"),
    ],
)
def test_lines_out_of_place(make, message, text):
    reading = read(make("a.fq", text))
    with pytest.raises(InputError, match=r"a\.fq" + message):
        list(reading)


def test_last_line_feed_of_crlf_is_missing(make):
    (record,) = read(make("a.fq", b"@a\r\nAC\r\n+\r\nII\r"))
    assert b"".join(record.pieces) == b"AC"
    assert record.quality == b"II" and not record.truncated


def test_empty_read_at_the_end_is_whole(make):
    (record,) = read(make("a.fq", b"@a\n\n+\n"))
    assert list(record.pieces) == [] and record.quality == b"" and not record.truncated


def test_unknown_letters_as_n(make):
    (record,) = read(make("a.fq", b"@a\nAC.T\n+\nIIII\n"), on_unknown="N")
    assert b"".join(record.pieces) == b"ACNT"
    assert record.notes == {"read_as_N": 1}


@pytest.mark.parametrize("kept", range(len(b"@r2\nACGT\n+\nIIII")))
def test_file_cut_inside_a_read(make, kept):
    tail = b"@r2\nACGT\n+\nIIII"[:kept]
    found = list(read(make("a.fq", b"@r1\nAC\n+\nII\n" + tail)))
    assert [r.truncated for r in found] == [False, True][: len(found)]
    assert len(found) == (2 if tail else 1)
    if tail:
        assert b"".join(found[1].pieces) == (tail.split(b"\n")[1] if b"\n" in tail else b"")
        assert found[1].quality is None


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_container_cut_between_reads_marks_the_last(make, pack, end):
    path = make("a.fq", pack("bgzf", b"@r1\nAC\n+\nII\n@r2\nGG\n+\nII" + end)[:-28])
    assert [r.truncated for r in read(path)] == [False, True]
