"""Memory does not grow with the data: many files, or very many records."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
WORK = """
import json, sys
from pathlib import Path
from longseq.config import from_mapping
from longseq.training import TrainConfig, tasks, train
from longseq.training.store import prepare
from longseq.tokens import DnaTokenizer

out, *inputs = sys.argv[1:]
config = from_mapping(TrainConfig, {
    "inputs": inputs, "steps": 3, "batch": 65536, "device": "cpu", "threads": 1,
    "model": {"width": 16, "layers": 1, "heads": 2}, "data": {"window": 2048, "cache": out + "/cache"},
    "evaluation": {"tokens": 65536},
})
train(config, out + "/run")
windows = tasks.make(config, prepare(inputs, Path(out, "cache"), DnaTokenizer())).train
for number in range(0, windows.passages, 16):  # an epoch
    windows.batch(range(number, number + 16), 0)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"kib": int(peak.split()[1]), "bases": windows.ring}))
"""


def peak(folder, inputs):
    """MiB at most of a process that prepares these files, trains, and reads them once."""
    folder.mkdir()
    command = [sys.executable, "-c", WORK, str(folder), *map(str, inputs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return found["kib"] / 1024, found["bases"]


@pytest.mark.slow
def test_files_that_are_many(tmp_path):
    """Of 40 million bases in 20 files, and 4 million in 2: within 10 %, and within a quarter of the bytes on top."""
    rng, files = np.random.default_rng(0), []
    for i in range(20):
        letters = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, 2_000_000)].tobytes()
        files.append(tmp_path / f"{i}.fa")
        files[-1].write_bytes(b">chr%d\n" % i + letters + b"\n")
    few, less = peak(tmp_path / "few", files[:2])
    many, more = peak(tmp_path / "many", files)
    assert more > 9.9 * less
    assert many < 1.1 * few
    assert (many - few) * 2**20 < 0.25 * (more - less)


@pytest.mark.slow
def test_records_that_are_many(tmp_path):
    """300,000 reads cost no more than 300 bytes each at the peak beside 3,000 of a hundred times the length."""
    rng = np.random.default_rng(0)
    letters = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, 12_000_000)].tobytes()
    for name, length in (("long", 4000), ("short", 40)):
        with open(tmp_path / f"{name}.fastq", "wb") as file:
            for i, at in enumerate(range(0, len(letters), length)):
                file.write(b"@SRR1234567.%d %d/1\n%s\n+\n%s\n" % (i, i, letters[at : at + length], b"I" * length))
    few, _ = peak(tmp_path / "few", [tmp_path / "long.fastq"])
    many, _ = peak(tmp_path / "many", [tmp_path / "short.fastq"])
    assert (many - few) * 2**20 < 300 * 297_000
