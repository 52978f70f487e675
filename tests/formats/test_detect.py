"""What a file is, decided by what it holds."""

import io
import tarfile

import pytest

from longseq.errors import InputError
from longseq.formats import read

FASTQ = b"@r\nACGT\n+\nIIII\n"
PROSE = b"The keeper climbed the stairs. It was cold, and the lamp had gone out again.\n"

CASES = [
    (b">a\nACGT\n", "fasta"),
    (b"\n\n  \n>a\nACGT\n", "fasta"),
    (b">a\n", "fasta"),
    (b">a\n>b\n", "fasta"),
    (b">", "fasta"),
    (b">a\nAC!!GT\n", "fasta"),
    (b">p\nMKVLAAGIVGLFEPQ*\n", "fasta"),
    (b">a\n" + b"ACGTACGTAC " * 6 + b"\n" + b"GTACGTACGT " * 6, "fasta"),
    (b">" + b"a" * 70_000, "fasta"),
    (b"ACGTNNACGT\nACGT\n", "fasta"),
    (b"some notes\n>chr1\nACGTACGTACGTAA\n", "fasta"),
    (FASTQ, "fastq"),
    (b"@r\nAC.T\n+\nIIII\n", "fastq"),
    (b"@r\n" + b"ACGT" * 20_000, "fastq"),
    (b"LOCUS       A   4 bp DNA\nORIGIN\n 1 acgt\n//\n", "genbank"),
    (b"ID   X; SV 1; linear; DNA; STD; PLN; 4 BP.\n", "embl"),
    (b"BAM\1" + bytes(30), "bam"),
    (b"CRAM\3\0" + bytes(30), "cram"),
    (b"CRAM the night before is no way to learn.\n", "text"),
    (b"@HD\tVN:1.6\n", "sam"),
    (b"@HD one\nACGT\n+\nIIII\n", "fastq"),
    (b"r1\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n", "sam"),
    (b"r1\t0\tchr1\t5\t60\t2S2M\t=\t9\t-8\tACGT\t*\tNM:i:0\n", "sam"),
    (b"##gff-version 3\n##FASTA\n>chr1\nACGTACGTACGT\n", "gff3"),
    (b'{"text": "one"}\n', "jsonl"),
    (b'{"text": "' + b"x" * 70_000 + b'"}\n', "jsonl"),
    (b"text,n\none,1\n", "text"),
    (b"{\n", "text"),
    (PROSE, "text"),
    (b"> A quotation first.\n> Two lines of it.\n\n" + PROSE, "text"),
    (b"> Nothing but a quotation.\n> To the end.\n", "text"),
    (b"Dear friend,\n> why now?\nThanks\n", "text"),
    (b"@keeper wrote:\nIt was cold\nand dark.\n", "text"),
    ("水を節約してください。".encode(), "text"),
    (b"caf\xe9 cr\xe8me\n", "text"),
    (b"# Title\n\n" + PROSE + b"\n## Section\n\n" + PROSE, "markdown"),
    (b"# Title\n\n- one\n- two\n", "markdown"),
    (b"# a comment\n" + PROSE, "text"),
    (PROSE.decode().encode("utf-16"), "text"),
    (b"<!DOCTYPE html>\n<p>One.", "html"),
    (b"<?xml version='1.0'?>\n<html><body><p>One.</p></body></html>", "html"),
    (b"<?xml version='1.0'?>\n<article><body/></article>", "jats"),
]


@pytest.mark.parametrize(("data", "name"), CASES)
def test_content_decides(make, data, name):
    assert read(make("file", data)).format.name == name


@pytest.mark.parametrize(
    ("file", "data", "name"),
    [
        ("a.md", PROSE, "markdown"),
        ("a.md", b"> quoted\n", "markdown"),
        ("a.md", b"# How to write FASTA\n\n>chr1\nACGTACGTACGTAA\n", "markdown"),
        ("a.md", b"Write\n\nLOCUS       A   4 bp DNA\n", "markdown"),
        ("a.txt", b"# One\n\n# Two\n", "text"),
        ("a.rst", b"# One\n\n# Two\n", "rst"),
        ("a.html", b"<p>One.</p>", "html"),
        ("a.txt", b"attack", "text"),
        ("a.txt", b">a\nACGT\n", "fasta"),
        ("a.md", FASTQ, "fastq"),
        ("a.fq.gz", b">a\nACGT\n", "fasta"),
        ("a.jsonl", b"not json\n", "jsonl"),
        ("a.csv", b"text\nACGTACGTAC\n", "csv"),
        ("a.tsv.gz", b"text\n" + PROSE, "tsv"),
        ("a.csv", b">a\nACGT\n", "fasta"),
        ("a.csv", b'{"text": "one"}\n', "jsonl"),
        ("a.fa", PROSE, "fasta"),
        ("a.gbk", PROSE, "genbank"),
    ],
)
def test_name_settles_what_content_cannot(make, file, data, name):
    assert read(make(file, data)).format.name == name


@pytest.mark.parametrize(
    ("kind", "data", "name"),
    [
        ("document", b">a\nACGT\n", "text"),
        ("document", FASTQ, "text"),
        ("document", b"##fileformat=VCFv4.2\n", "text"),
        ("document", b'{"text": "x"}\n', "jsonl"),
        ("document", b"# A\n\n# B\n", "markdown"),
        ("dna", b">a b\n" + PROSE, "fasta"),
        ("dna", PROSE, "fasta"),
        ("dna", FASTQ, "fastq"),
    ],
)
def test_kind_overrides(make, kind, data, name):
    reading = read(make("file", data), kind=kind)
    assert (reading.format.name, reading.kind) == (name, kind)


def tar(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.fa"), io.BytesIO(data))
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (bytes(range(256)) * 10, "binary data"),
        (b"\x01\x02\x03\x04\x05\x06", "binary data"),
        (b"text\0text", "binary data"),
        (b"\xd0\xcf\x11\xe0" + bytes(30), "a document of Word 97-2003"),
        (b"PK\x03\x04" + bytes(30), "a zip archive"),
        (tar(b">a\nA\n"), "a tar archive; unpack it first"),
        (b"##fileformat=VCFv4.2\n", "VCF; longseq score takes tables of variants, with --reference FASTA"),
        (b"#CHROM\tPOS\tID\n", "VCF; longseq score takes"),
        (b"BCF\2\2", "BCF; longseq score takes"),
        (b"<?xml version='1.0'?><feed/>", "XML of a kind that is not read; longseq summarize --kind document reads"),
        (">a\nACGTACGTAC\n".encode("utf-16"), "UTF-16; convert it: iconv -f UTF-16 -t UTF-8"),
    ],
)
@pytest.mark.parametrize("container", ["plain", "gzip"])
def test_other_things_are_named(make, pack, container, data, found):
    path = make("file", pack(container, data))
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: expected ") and f"found {found}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("container", "head"), [("gzip", 10), ("bzip2", 14), ("xz", 12), ("zstd", 6)])
def test_nothing_inside_a_container(make, pack, container, head):
    path = make("a.fa", pack(container, b""))
    with pytest.raises(InputError, match="holds no data; copy or download the file again"):
        read(path)
    path = make("b.fa", pack(container, b">a\nACGT\n")[:head])
    with pytest.raises(InputError, match="was cut before its first letter"):
        read(path)


@pytest.mark.parametrize(
    ("file", "data", "format"),
    [("a.fa", b"\n\n", "fasta"), ("a.gbk", PROSE, "genbank"), ("a.jsonl", b"\n", "jsonl"), ("a.fq", b"\n", "fastq")],
)
def test_a_source_without_records_is_an_error(make, file, data, format):
    with pytest.raises(InputError, match=rf"{file}: holds no {format} record; check what the file is"):
        list(read(make(file, data)))


def test_kinds_that_cannot_be(make, to_twobit):
    with pytest.raises(InputError, match="expected a document, found 2bit"):
        read(make("a", to_twobit([("a", b"ACGT")])), kind="document")
    with pytest.raises(InputError, match="expected a document, found bam"):
        read(make("b", b"BAM\1" + bytes(30)), kind="document")
    with pytest.raises(InputError, match="found VCF"):
        read(make("c", b"##fileformat=VCFv4.2\n"), kind="dna")


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("x.bed", b"1\t10\t60\texon\t0\t+\n2\t5\t6\n", r"intervals \(BED\)"),
        ("x", b"track name=a\n#c\nchr1\t0\t5\n", r"intervals \(BED\)"),
        ("x.gtf", b'chr1\tx\texon\t11\t60\t.\t+\t.\tgene_id "a";\n', r"features \(GFF or GTF\)"),
        ("x.gff", b"#\nchr1\tx\texon\t11\t60\t0.5\t-\t2\tID=a;b\n", r"features \(GFF or GTF\)"),
    ],
)
def test_places_without_sequences_are_no_document(make, name, data, found):
    with pytest.raises(InputError, match=f"expected sequences or documents, found {found}; .*--labels FILE"):
        read(make(name, data))
    assert read(make(name, data), kind="document").kind == "document"
    assert read(make("x.txt", data)).kind == "document"  # as it is called
    assert read(make(name, data + b"And a line of prose.\n")).kind == "document"
