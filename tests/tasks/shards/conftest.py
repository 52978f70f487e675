"""Inputs of every kind of trouble, and runs of `longseq` over them, whole and in shards."""

import gzip
import json

import pytest
from shard_files import fasta, letters

from longseq.cli import main


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Paths by name: plain and packed, cut short, broken in a record and between two, empty, missing, documents."""
    folder = tmp_path_factory.mktemp("inputs")
    reads = "".join(f"@q{i}\n{letters(60 + i, i)}\n+\n{'I' * (60 + i)}\n" for i in range(9))
    good = fasta((300, 0, 1500, 80, 80, 20_000, 40, 700), 3)
    files = {
        "plain.fa": good.encode(),
        "packed.fa.gz": gzip.compress(fasta([200] * 20, 70).encode(), mtime=0),
        "reads.fastq": reads.encode(),
        "broken.fastq": (reads[: reads.index("@q5")] + "no header\n" + reads).encode(),
        "bad.fa": f">a\nACGT\n>b\nAC!GT\n>c\n{letters(500, 1)}\n>b\nA!\n>d\nACGGT\n".encode(),
        "cut.fa.gz": gzip.compress(f">u\n{letters(900, 2)}\n>v\n{letters(9000, 4)}\n".encode(), mtime=0)[:-900],
        "tale.txt": b"A cat sat on a mat. It rained all day. Dogs barked at night. Nobody minded the noise. " * 4,
        "notes.md": b"# One\n\nA first sentence stands here. Another one follows.\n\n## Two\n\nMore is told here.\n",
        "rows.jsonl": b"".join(
            json.dumps({"id": f"d{i}", "text": f"Row {i} says this. It says more of {i}."}).encode() + b"\n"
            for i in range(6)
        )
        + b'{"id": "d6", "text": 7}\n',
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    paths = {name: str(folder / name) for name in files}
    return paths | {"missing.fa": str(folder / "missing.fa"), "again.fa": paths["plain.fa"]}


@pytest.fixture
def longseq(capsys):
    """`longseq(argument, …)` is (exit code, stdout, stderr)."""

    def call(*arguments):
        code = main([*map(str, arguments)])
        return code, *capsys.readouterr()

    return call
