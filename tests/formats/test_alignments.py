"""Reads of BAM, CRAM and SAM come out once each, as the sequencer gave them; files are written by pysam."""

import gzip
import io
import sys
import threading
import tracemalloc
from pathlib import Path

import pysam
import pytest

from longseq.errors import InputError, UsageError
from longseq.formats import read
from longseq.records import reverse_complement

LETTERS = b"ACGTRYSWKMBDHVNA"
ALIGNED = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr1", "LN": 1000}]}
UNALIGNED = {"HD": {"VN": "1.6", "SO": "unsorted"}}
MODES = {"bam": "wb", "cram": "wc", "sam": "w"}


def write(path, mode, header, rows):
    """rows: (name, flag, letters, scores or None), letters and scores as they lie in the file."""
    options = {"format_options": [b"no_ref=1"]} if mode == "wc" else {}
    with pysam.AlignmentFile(str(path), mode, header=header, **options) as file:
        for name, flag, letters, scores in rows:
            read = pysam.AlignedSegment(file.header)
            read.query_name, read.flag, read.query_sequence = name, flag, letters.decode() or None
            read.query_qualities = scores
            if not flag & 4:
                read.reference_id, read.reference_start, read.cigartuples = 0, 9, [(0, len(letters))]
            file.write(read)
    return str(path)


@pytest.mark.parametrize("kind", MODES)
@pytest.mark.parametrize("stdin", [False, True])
def test_reads_in_their_own_direction_once_each(tmp_path, monkeypatch, kind, stdin):
    scores = list(range(len(LETTERS)))
    quality = bytes(score + 33 for score in scores)
    rows = [
        ("forward", 0, LETTERS, scores),
        ("turned", 16, reverse_complement(LETTERS), scores[::-1]),
        ("forward", 256, LETTERS, scores),
        ("forward", 2048, LETTERS, scores),
        ("pair", 1 | 64 | 4, b"ACGT", [40] * 4),
        ("pair", 1 | 128 | 16, b"AACC", [1, 2, 3, 4]),
        ("bare", 4, b"GATTACA", None),
        ("failed", 4 | 512 | 1024, b"N", [0]),
    ]
    path = write(tmp_path / "reads", MODES[kind], ALIGNED, rows)
    if stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))
    reading = read("-" if stdin else path)
    found = [(r.id, r.description, b"".join(r.pieces), r.quality) for r in reading]
    assert found == [
        ("forward", "", LETTERS, quality),
        ("turned", "", LETTERS, quality),
        ("pair", "first of a pair", b"ACGT", b"IIII"),
        ("pair", "last of a pair", b"GGTT", b'%$#"'),
        ("bare", "", b"GATTACA", None),
        ("failed", "", b"N", b"!"),
    ]
    assert (reading.format.name, reading.kind, reading.truncated) == (kind, "dna", False)


@pytest.mark.parametrize("kind", MODES)
def test_reads_that_were_never_aligned(tmp_path, kind):
    path = write(tmp_path / "reads", MODES[kind], UNALIGNED, [(f"r{i}", 4, b"ACGT", [i] * 4) for i in range(50)])
    found = [(r.id, r.index, b"".join(r.pieces), r.length, r.case_is_mask) for r in read(path)]
    assert found == [(f"r{i}", i, b"ACGT", 4, False) for i in range(50)]


def test_reads_without_letters_or_names(make):
    text = b"@HD\tVN:1.6\n*\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*\nb\t4\t*\t0\t0\t*\t*\t0\t0\tACGU\t*\n"
    for data in (text, gzip.compress(text)):
        assert [(r.id, b"".join(r.pieces), r.quality) for r in read(make("a.sam", data))] == [
            ("", b"", None),
            ("b", b"ACGT", None),
        ]


@pytest.mark.parametrize("kind", ["bam", "cram"])
def test_a_cut_file_gives_the_whole_reads_and_says_so(tmp_path, make, kind):
    rows = [(f"r{i}", 4, b"ACGTACGTAA", [i % 40] * 10) for i in range(30_000)]
    data = Path(write(tmp_path / "reads", MODES[kind], UNALIGNED, rows)).read_bytes()
    for cut, least in ((len(data) // 2, 5_000), (len(data) - 20, 30_000)):  # CRAM holds 10,000 reads together
        reading = read(make(f"cut.{kind}", data[:cut]))
        found = [(r.id, b"".join(r.pieces)) for r in reading]
        assert found == [(name, letters) for name, _, letters, _ in rows[: len(found)]] and reading.truncated
        assert len(found) >= least


def test_what_htslib_cannot_read(tmp_path, make):
    rows = [("r", 4, b"ACGT" * 9, None)] * 9000
    data = bytearray(Path(write(tmp_path / "a", "wb", UNALIGNED, rows)).read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    with pytest.raises(InputError, match=r"damaged\.bam: bgzf data is damaged"):
        list(read(make("damaged.bam", bytes(data))))
    with pytest.raises(InputError, match=r"a\.bam: expected reads that htslib can decode, found .*; copy or download"):
        list(read(make("a.bam", b"BAM\1" + b"\xff" * 400)))
    with pytest.raises(InputError, match=r"a\.sam: expected reads that htslib can decode"):
        list(read(make("a.sam", b"@HD\tVN:1.6\nr\t4\t*\t0\t0\t*\n")))
    with pytest.raises(InputError, match="holds no bam record"):
        list(read(write(tmp_path / "none", "wb", UNALIGNED, [])))


def test_a_reader_that_is_left_leaves_no_thread(tmp_path):
    path = write(tmp_path / "a", "wb", UNALIGNED, [("r", 4, b"ACGT" * 25, [9] * 100)] * 50_000)
    before = threading.active_count()
    with read(path) as reading:
        assert b"".join(next(reading).pieces) == b"ACGT" * 25
    assert threading.active_count() == before


def test_no_more_reads_are_held_than_one(tmp_path):
    path = write(tmp_path / "a", "wb", UNALIGNED, [("r", 4, b"ACGT" * 2500, None)] * 3000)
    tracemalloc.start()
    total = sum(len(piece) for record in read(path) for piece in record.pieces)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 30_000_000 and peak < 6 << 20


def test_without_pysam_the_way_out_is_said(tmp_path, monkeypatch):
    path = write(tmp_path / "a", "wb", UNALIGNED, [("r", 4, b"A", None)])
    monkeypatch.setitem(sys.modules, "pysam", None)
    with pytest.raises(UsageError, match=r"not installed; pip install pysam"):
        next(read(path))


def referenced(tmp_path):
    """A CRAM against a reference beside it, and what its read says."""
    letters = "ACGTTGCAAC" * 20
    fasta = tmp_path / "ref.fa"
    fasta.write_text(f">chr1\n{letters}\n")
    path = tmp_path / "reads.cram"
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr1", "LN": 200}]}
    with pysam.AlignmentFile(str(path), "wc", header=header, reference_filename=str(fasta)) as file:
        read = pysam.AlignedSegment(file.header)
        read.query_name, read.query_sequence, read.cigarstring = "r", letters[20:80], "60M"
        read.reference_id, read.reference_start = 0, 20
        file.write(read)
    Path(f"{fasta}.fai").unlink()
    return str(path), fasta, letters[20:80].encode()


def test_no_index_is_written_beside_the_reference_of_a_cram(tmp_path):
    path, fasta, letters = referenced(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert [b"".join(r.pieces) for r in read(path)] == [letters]
    assert sorted(tmp_path.iterdir()) == before
    pysam.faidx(str(fasta))  # one that is there is used
    assert [b"".join(r.pieces) for r in read(path)] == [letters]


def test_a_cram_without_its_reference_says_how_to_read_it(tmp_path, monkeypatch):
    path, fasta, _ = referenced(tmp_path)
    fasta.unlink()
    monkeypatch.setenv("REF_PATH", str(tmp_path))  # asks no network
    with pytest.raises(InputError, match="samtools fastq --reference FASTA"):
        list(read(path))
