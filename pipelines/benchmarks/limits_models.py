"""Hostile models, states, arrays, tables of columns and results: headers that promise what is not there."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from limits_cases import MIB, Case, cases, of_bytes, repeated

SHIPPED = Path(__file__).parents[2] / "longseq" / "model" / "pretrained" / "dna"
"""The model that ships with the package."""
SCORE = "score reference.fa --model {} --out out"
STATE = "score reference.fa --state {} --out out"
CHECK = "check {} --length 64"


def all_cases() -> Iterator[Case]:
    yield from _tensors()
    yield from _checkpoints()
    yield from _arrays()
    yield from _results()


def _headers() -> Iterator[tuple[str, Callable[[Path], object]]]:
    for said, size in {"2^31": 1 << 31, "2^63": 1 << 63, "2^64-1": (1 << 64) - 1}.items():
        yield f"a header of {said} bytes", of_bytes(lambda size=size: struct.pack("<Q", size) + b'{"a":')
    yield (
        "a header of 100 MB, all of it there",
        lambda path: repeated(struct.pack("<Q", 100_000_008) + b'{"__metadata__":{"a":"', b"a", 99_999_982, b'"}}')(
            path
        ),
    )
    yield "a header a million arrays deep", of_bytes(lambda: struct.pack("<Q", 2_000_000) + b"[" * 10**6 + b"]" * 10**6)
    yield "a header of 500,000 tensors", of_bytes(_many)
    yield "a tensor of 2^60 numbers", of_bytes(lambda: _tensor([1 << 30, 1 << 30], 4 << 60))
    yield "a tensor whose size overflows", of_bytes(lambda: _tensor([1 << 32, 1 << 32, 1 << 32], 0))


def _tensor(shape: list[int], size: int) -> bytes:
    head = json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(head)) + head


def _many() -> bytes:
    head = json.dumps({str(i): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(500_000)}).encode()
    return struct.pack("<Q", len(head)) + head


def _tensors() -> Iterator[Case]:
    for what, make in _headers():

        def model(path: Path, make: Callable[[Path], object] = make) -> None:
            _copy(path)
            make(path / "model.safetensors")

        yield from cases("models", f"safetensors: {what}", "a.safetensors", make, "info {}")
        if "500,000" in what or "2^63" in what:
            yield from cases("models", f"model, its weights {what}", "model", model, SCORE)
            yield from cases(
                "models", f"saved state: {what}", "a.state", make, "score reference.fa --state {} --out out"
            )


def _copy(path: Path) -> None:
    shutil.copytree(SHIPPED, path)


def _checkpoints() -> Iterator[Case]:
    def changed(file: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
        def write(path: Path) -> None:
            _copy(path)
            make(path / file)

        return write

    def configured(**facts: object) -> Callable[[Path], None]:
        def write(path: Path) -> None:
            _copy(path)
            config = json.loads((path / "config.json").read_text())
            config["model"] |= facts
            (path / "config.json").write_text(json.dumps(config))

        return write

    words = lambda path: path.write_text(json.dumps({"model": {"vocab": {f"word{i}": i for i in range(5_000_000)}}}))  # noqa: E731
    deep = repeated(b"", b'{"a":', 5_000_000, b"1" + b"}" * 1_000_000)
    yield from cases("models", "a tokenizer.json of 100 MB", "tokenizer.json", words, "info {}")
    yield from cases("models", "a tokenizer.json of 100 MB", "model", changed("tokenizer.json", words), SCORE)
    for file in ("config.json", "tokenizer.json", "labels.json"):
        yield from cases("models", f"model, its {file} a million deep", "model", changed(file, deep), SCORE)
    long = repeated(b'{"schema": "', b"a", 500 * MIB, b'"}')
    yield from cases("models", "model, its config.json of 500 MiB", "model", changed("config.json", long), SCORE)
    yield from cases("models", "model of width 2^40", "model", configured(width=1 << 40), SCORE)
    yield from cases("models", "model of 2^31 layers", "model", configured(layers=1 << 31), CHECK)
    yield from cases("models", "model of a million layers", "model", configured(layers=10**6), SCORE, "info {}")
    pipe = lambda path: (path.unlink(), __import__("os").mkfifo(path))  # noqa: E731
    yield from cases("models", "model, its weights a named pipe", "model", changed("model.safetensors", pipe), SCORE)


def _arrays() -> Iterator[Case]:
    def npy(shape: tuple[int, ...]) -> bytes:
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head

    for shape in ((1 << 40, 1 << 20), (1 << 62, 4), (-1, 4)):
        yield from cases("models", f"npy of shape {shape}", "a.npy", of_bytes(lambda s=shape: npy(s)), "info {}")
    head = of_bytes(lambda: b"\x93NUMPY\2\0" + struct.pack("<I", 1 << 31) + b"{")
    yield from cases("models", "npy whose header has 2^31 bytes", "a.npy", head, "info {}")
    long = repeated(b"\x93NUMPY\2\0" + struct.pack("<I", 200 * MIB), b"(", 200 * MIB)
    yield from cases("models", "npy whose header is 200 MiB of brackets", "a.npy", long, "info {}")
    for size in (1 << 31, 8):
        foot = of_bytes(lambda size=size: b"PAR1" + b"\x15" * 64 + struct.pack("<I", size) + b"PAR1")
        yield from cases("models", f"Parquet whose footer has {size:,} bytes", "a.parquet", foot, "info {}")
    arrow = of_bytes(lambda: b"ARROW1\0\0" + struct.pack("<II", 0xFFFFFFFF, (1 << 31) - 8) + bytes(64) + b"ARROW1")
    yield from cases("models", "Arrow whose schema has 2^31 bytes", "a.arrow", arrow, "info {}")
    yield from cases("models", "Parquet: a column of 1 GiB packed to nothing", "a.parquet", _column, "info {}",
                     "summarize {} --out out", "train reference.fa --labels {} --out run --dry-run")  # fmt: skip
    track = of_bytes(
        lambda: struct.pack("<IHHQQQHHQQIQ", 0x888FFC26, 4, 65535, 1 << 62, 1 << 63, 1 << 63, 0, 0, 0, 0, 0, 0)
    )
    yield from cases("models", "bigWig with places at 2^63", "a.bw", track, "info {}")


def _column(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    text = pyarrow.array(["a word " * 1024] * 150_000).dictionary_encode().cast(pyarrow.large_string())
    parquet.write_table(pyarrow.table({"text": text}), path, compression="zstd")


def _results() -> Iterator[Case]:
    def shard(text: Callable[[], bytes]) -> Callable[[Path], None]:
        def write(path: Path) -> None:
            (path / "1-of-2").mkdir(parents=True)
            (path / "1-of-2" / "shard.json").write_bytes(text())

        return write

    deep = shard(lambda: b'{"schema": "longseq.shard/1", "a": ' + b"[" * 10**6 + b"]" * 10**6 + b"}")
    yield from cases("results", "a shard whose JSON is a million deep", "batch", deep, "merge {} --out out", "info {}")
    number = shard(lambda: b'{"schema": "longseq.shard/1", "of": ' + b"9" * 10**7 + b"}")
    yield from cases(
        "results", "a shard with a number of ten million digits", "batch", number, "merge {} --out out", "info {}"
    )
    summary = repeated(b'{"schema": "longseq.summary/1", "records": [', b"[],", 3 * 10**8, b"1]}")
    yield from cases("results", "a summary of 100 million records", "summary.json", summary, "verify {}", "info {}")
    nested = repeated(b'{"schema": "longseq.summary/1", "records": ', b"[", 10**6, b"]" * 10**6 + b"}")
    yield from cases("results", "a summary a million arrays deep", "summary.json", nested, "verify {}", "info {}")
