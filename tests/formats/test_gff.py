"""A GFF3 file that carries its sequences gives the records of that FASTA."""

import gzip

import pytest

from longseq.errors import InputError
from longseq.formats import read

HEAD = b"##gff-version 3\np\tus\tregion\t1\t4\t.\t+\t.\tID=p;Is_circular=true\np\tus\tgene\t4\t6\t.\t+\t.\tID=g\n"


@pytest.mark.parametrize("read_block", [1, 7, 1 << 18])
@pytest.mark.parametrize("packer", [bytes, gzip.compress])
def test_sequences_below_features(make, packer, read_block):
    text = HEAD + b"##FASTA\n>p first\nAC\nGT\n>q\nAC!\n"
    reading = read(make("a.gff", packer(text)), read_block=read_block)
    assert reading.format.name == "gff3" and reading.kind == "dna"
    record = next(reading)
    assert b"".join(record.pieces) == b"ACGT"
    assert (record.id, record.description, record.line, record.topology) == ("p", "first", 5, "circular")
    record = next(reading)
    assert record.topology is None
    with pytest.raises(InputError, match=r"a\.gff:9 \(q\): expected a DNA letter, found '!' at base 3"):
        b"".join(record.pieces)


def test_the_name_of_a_landmark_may_be_escaped(make):
    text = HEAD.replace(b"p\t", b"p%2F1\t") + b"##FASTA\n>p/1\nACGT\n"
    (record,) = read(make("a.gff", text))
    assert record.topology == "circular"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, r"a\.gff: expected sequences \(a ##FASTA part\), found features alone; give the FASTA file"),
        (HEAD + b"##FASTA\nACGT\n", r"a\.gff:5: expected a FASTA header that begins with '>', found 'ACGT'; give"),
    ],
)
def test_features_alone(make, text, said):
    with pytest.raises(InputError, match=said):
        list(read(make("a.gff", text)))
