"""Records longer than 2^31 bases exist: positions behind there are said right, wherever one is handed on.

No test here walks so many letters: pieces are one object many times over, or a region starts far out.
"""

import numpy as np
import pytest
from pyarrow import parquet

from longseq.errors import AlphabetError
from longseq.formats.bed import BedWriter
from longseq.formats.features import read_features
from longseq.formats.gff3 import Gff3Writer
from longseq.formats.region import cut
from longseq.records import Interval, Record
from longseq.report.input_folders import InputFolders
from longseq.report.tables import DnaTables
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.lengths import length_statistics
from longseq.tokens import DnaTokenizer

FAR = 2_300_000_000
PIECE = b"A" * (1 << 26)


def long_record(tail: bytes) -> Record:
    """FAR bases of A, then a tail."""

    def pieces():
        for _ in range(FAR // len(PIECE)):
            yield PIECE
        yield PIECE[: FAR % len(PIECE)]
        yield tail

    return Record(id="huge", kind="dna", source="x.fa", index=0, pieces=pieces())


def test_a_region_behind_2_to_the_31(tmp_path):
    tail = b"CCGGT" * 100
    part = cut(long_record(tail), Interval(record="huge", start=FAR - 1, end=FAR + 400))
    with DnaTables(InputFolders(tmp_path)) as tables:
        (summary,) = summarize_records([part], window=100)
        tables.dna(summary)
    assert (summary.row.start, summary.row.length) == (FAR - 1, 401)
    assert summary.row.letters == {"A": 1, "C": 160, "G": 160, "T": 80}
    windows = parquet.read_table(tmp_path / "windows.parquet")
    assert windows["start"].to_pylist() == [FAR - 1 + 100 * i for i in range(5)]
    assert windows["end"].to_pylist()[-1] == FAR + 400
    regions = [line.split("\t") for line in (tmp_path / "regions.bed").read_text().splitlines()]
    assert (int(regions[0][1]), int(regions[-1][2])) == (FAR - 1, FAR + 400)


def test_a_region_that_ends_behind_the_end_says_where_that_is():
    part = cut(long_record(b"C"), Interval(record="huge", start=FAR, end=FAR + 9))
    assert b"".join(part.pieces) == b"C" and part.notes["clipped_end"] == FAR + 1


def test_statistics_of_lengths():
    found = length_statistics(np.array([FAR, FAR + 2, 1]))
    assert (found.sum_len, found.max_len, found.n50, found.sum_len_1000) == (2 * FAR + 3, FAR + 2, FAR + 2, 2 * FAR + 2)


def test_tokens_know_where_they_stand():
    with pytest.raises(AlphabetError, match=f"base {FAR + 3}"):
        DnaTokenizer().encode(b"AC!T", FAR)


def test_intervals_are_written_and_read(tmp_path):
    far = Interval(record="huge", start=FAR, end=FAR + 1, strand="-")
    with open(tmp_path / "a.bed", "w") as file:
        BedWriter(file).write(far, "x")
    with open(tmp_path / "a.gff3", "w") as file:
        Gff3Writer(file).write(far, "gene")
    (tmp_path / "a.gb").write_text(f"LOCUS       huge\nFEATURES\n     gene            complement({FAR + 1})\n//\n")
    for name in ("a.bed", "a.gff3", "a.gb"):
        assert [feature.interval for feature in read_features(tmp_path / name)] == [far]


@pytest.mark.parametrize("start", [0, 1, 98, 99])
@pytest.mark.parametrize("strand", ["+", "-"])
def test_a_feature_of_one_base_survives(tmp_path, start, strand):
    one = Interval(record="r", start=start, end=start + 1, strand=strand)
    with open(tmp_path / "a.bed", "w") as file:
        BedWriter(file).write(one, "x", 1000, (0.25,))
    with open(tmp_path / "a.gff3", "w") as file:
        writer = Gff3Writer(file)
        writer.record("r", 100)
        writer.write(one, "SNV", score=0.25)
    place = f"complement({start + 1})" if strand == "-" else f"{start + 1}"
    (tmp_path / "a.gb").write_text(f"LOCUS       r\nFEATURES\n     variation       {place}\n//\n")
    for name in ("a.bed", "a.gff3", "a.gb"):
        assert [feature.interval for feature in read_features(tmp_path / name)] == [one]
    assert (tmp_path / "a.bed").read_text().split("\t")[4:7] == ["1000", strand, "0.25\n"]
    assert Interval.parse(f"r:{start + 1}-{start + 1}") == Interval(record="r", start=start, end=start + 1)
