"""Memory does not grow with the record: a million bases with the state carried hold what 65,536 do."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from processes import finish, settings, start

WINDOW = 2048
BASES = 4_000_000


def peak(folder, length):
    """MiB at most of a process that reads whole records of so many bases, once over the longest."""
    folder.mkdir()
    draw, letters = np.random.default_rng(0), np.frombuffer(b"ACGT", np.uint8)
    with open(folder / "genome.fa", "wb") as file:
        for i in range(BASES // length):
            file.write(b">chr%d\n%s\n" % (i, letters[draw.integers(0, 4, length)].tobytes()))
    carry = math.ceil(length / WINDOW)
    small = {
        "batch": WINDOW,
        "data__window": WINDOW,
        "data__carry": carry,
        "data__cache": str(folder / "cache"),
        "evaluation__every": 0,
        "checkpoint__every": 0,
    }
    jobs = [
        {"settings": settings(str(folder / "genome.fa"), steps=steps, **small), "out": str(folder / f"run{steps}")}
        for steps in (1, math.ceil(1_000_000 / WINDOW))
    ]
    for job in jobs:  # the first process prepares the data
        assert finish(*start(1, [job], folder), timeout=900) == [[""]]
    journal = Path(jobs[1]["out"], "metrics.jsonl").read_text()
    return max(json.loads(line).get("memory_mib", 0) for line in journal.splitlines())


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_records_that_are_long(tmp_path):
    short, long = peak(tmp_path / "short", 65_536), peak(tmp_path / "long", 1_000_000)
    print(f"65,536: {short:.1f} MiB; 1,000,000: {long:.1f} MiB")
    assert abs(long - short) <= 0.1 * short
