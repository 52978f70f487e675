"""One sequence, whatever it is written in and packed into."""

import gzip
import io
import sys
import tracemalloc
from pathlib import Path

import pytest
from Bio import SeqIO

from longseq.formats import read
from longseq.tasks.summarize.files import summarize_files
from longseq.tasks.summarize.request import Request

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def chloroplast():
    with gzip.open(DATA / "chloroplast.gb.gz", "rt") as file:
        return next(SeqIO.parse(file, "genbank"))


def written(record, format, to_twobit) -> bytes:
    if format == "2bit":
        return to_twobit([(record.id, bytes(record.seq))])
    if format == "fastq":
        return b"@%s\n%s\n+\n%s\n" % (record.id.encode(), bytes(record.seq), b"I" * len(record))
    text = io.StringIO()
    SeqIO.write(record, text, format)
    return text.getvalue().encode()


@pytest.mark.parametrize("container", ["plain", "gzip", "bgzf", "bzip2", "xz", "zstd"])
@pytest.mark.parametrize("format", ["fasta", "fastq", "genbank", "embl", "2bit"])
def test_same_letters(chloroplast, make, pack, to_twobit, monkeypatch, format, container):
    packed = pack(container, written(chloroplast, format, to_twobit))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    for source in (make("no.name", packed), "-"):
        reading = read(source)
        assert (reading.container, reading.format.name, reading.kind) == (container, format, "dna")
        (found,) = [(r.id, b"".join(r.pieces), r.length, r.truncated) for r in reading]
        assert found == (chloroplast.id, bytes(chloroplast.seq), 154_478, False)


class Reports:
    """What is said of each record, but for what one format knows and others do not."""

    KNOWN = ("file", "description", "topology", "lower", "softmask", "average_quality", "expected_errors", "notes")

    def __init__(self):
        self.all = []

    def dna(self, summary):
        row = {k: v for k, v in summary.row.to_json().items() if k not in self.KNOWN and k[:2] not in ("q2", "q3")}
        windows = {k: v.tobytes() for k, v in summary.windows.columns().items() if k != "softmask"}
        self.all.append((row, windows, summary.regions))


def test_same_report(chloroplast, make, pack, to_twobit, monkeypatch):
    packed = {
        "fasta": "plain",
        "fastq": "bgzf",
        "genbank": "gzip",
        "embl": "bzip2",
        "2bit": "zstd",
    }
    files = [make(f"no.{f}", pack(c, written(chloroplast, f, to_twobit))) for f, c in packed.items()]
    text = written(chloroplast, "fasta", to_twobit)
    files.append(make("crlf", pack("xz", text.lower().replace(b"\n", b"\r\n").replace(b"nc_", b"NC_"))))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack("gzip", text))))
    said = Reports()
    sources = summarize_files([*files, "-"], Request(), sinks=[said])
    assert len(said.all) == 7 and all(report == said.all[0] for report in said.all)
    assert len({source.digest for source in sources}) == 1


@pytest.mark.parametrize("format", ["fasta", "genbank", "2bit"])
def test_no_record_is_held(make, to_twobit, format):
    letters = b"ACGTN" * 12
    if format == "2bit":
        text = bytearray(to_twobit([("a", b"")]))
        text[22:26] = (24_000_000).to_bytes(4, "little")
        text += bytes(6_000_000)
    elif format == "genbank":
        text = b"LOCUS       A   24000000 bp DNA\nORIGIN\n" + (b"        1 " + letters + b"\n") * 400_000 + b"//\n"
    else:
        text = b">a\n" + (letters + b"\n") * 400_000
    path = make("a", bytes(text))
    next(read(path))  # what is loaded once is no record's
    del text
    tracemalloc.start()
    total = sum(len(piece) for record in read(path) for piece in record.pieces)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 24_000_000
    assert peak < 6 << 20
