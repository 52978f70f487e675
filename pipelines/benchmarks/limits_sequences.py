"""Hostile sequences and tables of places: bombs, absurd lengths, endless lines, a million records."""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Iterator

from limits_cases import GIB, MIB, Case, cases, of_bytes, packed, packers, repeated

COUNT = "summarize {} --no-model --out out"
VARIANTS = "score {} --reference reference.fa --out out.vcf"


def all_cases() -> Iterator[Case]:
    yield from _packed()
    yield from _lengths()
    yield from _lines()
    yield from _records()
    yield from _places()


def _packed() -> Iterator[Case]:
    for how in ("gz", "bz2", "xz", "zst"):
        zeros = packed(how, b"", b"\0", GIB)
        yield from cases("packed", f"1 GiB of zeros in {how}", f"zeros.{how}", zeros, COUNT)
        letters = packed(how, b">bomb\n", b"A", 100 * GIB)
        yield from cases(
            "packed", f"100 GiB of one letter in {how}", f"bomb.fa.{how}", letters, COUNT if how != "gz" else "info {}"
        )
    nested = of_bytes(lambda: gzip.compress(gzip.compress(gzip.compress(bytes(64 * MIB)))))
    yield from cases("packed", "gzip in gzip in gzip", "nested.fa.gz", nested, COUNT)
    empty = of_bytes(lambda: gzip.compress(b"") * 2_000_000)
    yield from cases("packed", "two million empty gzip members", "empty.fa.gz", empty, COUNT)
    window = of_bytes(_wide_window)
    yield from cases("packed", "zstd that asks for a window of 2^41 bytes", "window.fa.zst", window, COUNT)
    dictionary = of_bytes(lambda: packers()["xz"](b">a\nACGT\n")[:12] + b"\xff" * 200)
    yield from cases("packed", "xz with a damaged header", "damaged.fa.xz", dictionary, COUNT)


def _wide_window() -> bytes:
    """A frame header that asks for the widest window (RFC 8878, section 3.1.1.1.2), and a run of 128 KiB in it."""
    block = (1 | 1 << 1 | (1 << 17) << 3).to_bytes(3, "little") + b"A"
    return b"\x28\xb5\x2f\xfd" + b"\x00" + b"\xff" + block


def _lengths() -> Iterator[Case]:
    sizes = {"2^31": 1 << 31, "2^32-1": (1 << 32) - 1}
    for said, size in sizes.items():
        many = of_bytes(lambda size=size: struct.pack("<4I", 0x1A412743, 0, size, 0) + b"\1a" + bytes(4))
        yield from cases("lengths", f"2bit of {said} records", "many.2bit", many, COUNT)
        long = of_bytes(lambda size=size: _twobit(size, 0))
        yield from cases("lengths", f"2bit record of {said} bases", "long.2bit", long, "info {}")
        runs = of_bytes(lambda size=size: _twobit(size, size))
        yield from cases("lengths", f"2bit record of {said} runs of N", "runs.2bit", runs, COUNT)
    far = of_bytes(lambda: struct.pack("<4IB1sQ", 0x1A412743, 1, 1, 0, 1, b"a", 1 << 63))
    yield from cases("lengths", "2bit record at byte 2^63", "far.2bit", far, COUNT)
    names = repeated(struct.pack("<4I", 0x1A412743, 0, (1 << 32) - 1, 0), b"\1a\0\0\0\0", 300 * MIB)
    yield from cases("lengths", "2bit index of 52 million records", "index.2bit", names, COUNT)
    table = repeated(_twobit((1 << 32) - 1, 150_000_000), bytes(4), 600 * MIB)
    yield from cases("lengths", "2bit record of 150 million runs, 600 MiB of them real", "table.2bit", table, COUNT)
    for said, size in {"2^31-1": (1 << 31) - 1, "2^32-1": (1 << 32) - 1}.items():
        head = of_bytes(lambda size=size: gzip.compress(b"BAM\1" + struct.pack("<I", size) + b"@HD\tVN:1.6\n"))
        yield from cases("lengths", f"BAM whose header has {said} bytes", "head.bam", head, COUNT)
        read = of_bytes(lambda size=size: gzip.compress(b"BAM\1" + struct.pack("<3I", 0, 0, size) + bytes(64)))
        yield from cases("lengths", f"BAM with an alignment of {said} bytes", "read.bam", read, COUNT)


def _twobit(bases: int, runs: int) -> bytes:
    return struct.pack("<4IB1sI", 0x1A412743, 0, 1, 0, 1, b"a", 22) + struct.pack("<2I", bases, runs)


def _lines() -> Iterator[Case]:
    dna = _dna(1 << 20)
    one = repeated(b">one\n", dna, GIB)
    yield from cases("lines", "1 GiB of letters in one line", "one.fa", one, COUNT, honest=True)
    yield from cases("lines", "1 GiB of letters in one line", "one.fa", one, "info {}")
    headless = repeated(b"", dna, GIB)
    yield from cases("lines", "1 GiB of letters without a header", "headless.fa", headless, COUNT)
    headers = repeated(b"", b">", GIB)
    yield from cases("lines", "1 GiB of '>' in one line", "marks.fa", headers, COUNT)
    read = repeated(b"@read\n", dna, GIB + 2 * MIB, b"\n+\n!\n")
    yield from cases("lines", "a read of 1 GiB in FASTQ", "read.fq", read, COUNT)
    for file, head, tail in (
        ("header.fa", b">", b"\nACGT\n"),
        ("header.fq", b"@", b"\nACGT\n+\nIIII\n"),
        ("header.gb", b"LOCUS       ", b"\nORIGIN\n        1 acgt\n//\n"),
        ("header.embl", b"ID   ", b";\nSQ\n     acgt\n//\n"),
        ("header.sam", b"@HD\tVN:1.6\n@CO\t", b"\nr\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n"),
    ):
        made = repeated(head, b"header ", 10 * MIB, tail)
        yield from cases("lines", f"a header of 10 MiB ({file.partition('.')[2]})", file, made, COUNT)
    definition = repeated(b"LOCUS       A 4 bp DNA\n", b"DEFINITION  of no end\n", 256 * MIB, b"ORIGIN\n 1 acgt\n//\n")
    yield from cases("lines", "GenBank with a head of 256 MiB", "head.gb", definition, COUNT)


def _dna(size: int) -> bytes:
    return bytes(random.Random(0).choices(b"ACGT", k=size))


def _records() -> Iterator[Case]:
    empty = repeated(b"", b">\n", 2_000_000)
    yield from cases("records", "a million empty FASTA records", "empty.fa", empty, "info {}")
    yield from cases("records", "a million empty FASTA records", "empty.fa", empty, COUNT, honest=True)
    short = lambda path: path.write_text("".join(f">{i}\nA\n" for i in range(1_000_000)))  # noqa: E731
    yield from cases("records", "a million records of a base", "short.fa", short, "info {}")
    yield from cases("records", "a million records of a base", "short.fa", short, COUNT, honest=True)
    wrong = repeated(b">good\nACGT\n", b">a\n!\n", 5_000_000)
    yield from cases("records", "a million records with a wrong letter", "wrong.fa", wrong, COUNT, honest=True)


def _places() -> Iterator[Case]:
    head = b"##fileformat=VCF\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    line = repeated(b"##fileformat=VCF\n##", b"header ", 10 * MIB, b"\n" + head)
    yield from cases("places", "VCF with a header line of 10 MiB", "line.vcf", line, VARIANTS)
    lines = repeated(b"##fileformat=VCF\n", b"##header\n", GIB, head)
    yield from cases("places", "VCF with a header of 1 GiB", "lines.vcf", lines, VARIANTS)
    allele = repeated(head + b"chr1\t5\t.\tA\t", b"ACGT", 10 * MIB, b"\t.\t.\t.\n")
    yield from cases("places", "VCF with an allele of 10 MiB", "allele.vcf", allele, VARIANTS)
    alleles = repeated(head + b"chr1\t5\t.\tA\tC", b",G", 200_000, b"\t.\t.\t.\n")
    yield from cases("places", "VCF with 100,000 alleles in a row", "alleles.vcf", alleles, VARIANTS)
    row = repeated(head + b"chr1\t5\t.\tA\tC\t.\t.\t", b"A=1;", GIB)
    yield from cases("places", "VCF with a row of 1 GiB", "row.vcf", row, VARIANTS)
    for position in ("0", str(1 << 63), "9" * 10_000_000):
        data = head + f"chr1\t{position}\t.\tA\tC\t.\t.\t.\n".encode()
        shown = position if len(position) < 30 else f"of {len(position):,} digits"
        made = of_bytes(lambda data=data: data)
        yield from cases("places", f"VCF with a position {shown}", "far.vcf", made, VARIANTS)
    for name, text in {
        "far.bed": "chr1\t0\t{}\n",
        "far.gff3": "##gff-version 3\nchr1\t.\tCDS\t1\t{}\t.\t+\t0\tID=a\n",
        "far.gtf": 'chr1\t.\tCDS\t1\t{}\t.\t+\t0\tgene_id "a";\n',
    }.items():
        for end in (str(1 << 63), "9" * 5000):
            shown = end if len(end) < 30 else f"of {len(end):,} digits"
            made = of_bytes(lambda text=text, end=end: text.format(end).encode())
            what = f"{name.partition('.')[2].upper()} with an end {shown}"
            labels = "train reference.fa --labels {} --out run --dry-run"
            yield from cases("places", what, name, made, labels)
