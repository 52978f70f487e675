"""Peak memory does not grow with the record."""

import json
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from dna_oracles import OneByOne

from longseq.records import Record
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.hidden import Pools, representatives
from longseq.tokens import DnaTokenizer


class TwoBits:
    def push(self, letters: bytes) -> np.ndarray:
        return np.full(len(letters), 2.0, np.float32)

    def finish(self) -> np.ndarray:
        return np.zeros(0, np.float32)


def peak(megabases: int, **options) -> int:
    """Bytes held at most while a record of so many million bases passes."""
    letters = np.random.default_rng(0).choice(np.frombuffer(b"ACGTN", np.uint8), 1 << 16).tobytes()
    pieces = (letters for _ in range(megabases * 1_000_000 // len(letters)))
    tracemalloc.start()
    (summary,) = summarize_records([Record(id="r", kind="dna", source="x", index=0, pieces=pieces)], **options)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert summary.row.length > 0.9e6 * megabases
    return held


@pytest.mark.parametrize(
    "options",
    [
        {"window": 100_000},
        {"window": 0},
        {"window": 100_000, "surprisal": OneByOne(TwoBits)},
        {"window": 100_000, "surprisal": OneByOne(TwoBits), "extras": Extras(letters=True, base_bits=True)},
    ],
)
def test_ten_times_the_record_is_not_more_memory(options):
    peak(1, **options)  # what is kept for good is not counted
    assert peak(10, **options) - peak(1, **options) < 1 << 19


def peak_rss(folder, megabases: int, *options: str) -> float:
    """MiB that the command holds at most over one random record of so many million bases."""
    path, generator = folder / f"{megabases}.fa", np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(b">one\n")
        for _ in range(megabases):
            letters = generator.choice(np.frombuffer(b"ACGT", np.uint8), 1_000_000).tobytes()
            file.writelines(letters[i : i + 80] + b"\n" for i in range(0, len(letters), 80))
    program = "import sys; from longseq.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "summarize", str(path), "--json", "-q", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    path.unlink()
    return json.loads(done.stdout)["run"]["peak_rss_mb"]


def test_window_vectors_of_ten_times_the_windows_are_not_more_memory():
    def held(windows: int) -> int:
        checkpoint = SimpleNamespace(
            config=SimpleNamespace(width=256, vocabulary=15), tokenizer=DnaTokenizer(), sha256="x"
        )
        tracemalloc.start()
        pools = Pools(SimpleNamespace(checkpoint=checkpoint), 10)
        pool, ids = pools.pool(), np.zeros(5_000, np.int64)
        for _ in range(windows // 500):
            pool.take(ids, torch.ones(len(ids), 256))
        pool.finish()
        start = 10 * np.arange(windows)
        vectors = pools.vectors([pool], start, start + 10)
        assert sum(len(block.vectors) for block in vectors.blocks()) == windows
        assert len(representatives(vectors.blocks, windows, 3)) == 1
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        pool.close()
        return most

    held(5_000)  # what is kept for good is not counted
    assert held(50_000) - held(5_000) < 6 << 20  # the vectors themselves are 46 MiB more


@pytest.mark.slow
def test_peak_rss_at_500_million_bases(tmp_path):
    assert peak_rss(tmp_path, 500, "--no-model") - peak_rss(tmp_path, 5, "--no-model") <= 32


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_peak_rss_with_the_shipped_model(tmp_path):
    assert peak_rss(tmp_path, 20, "--strands", "forward") - peak_rss(tmp_path, 2, "--strands", "forward") <= 32
