"""Files for tests of shards, and what is compared of them."""

import json
import random
from pathlib import Path


def letters(number: int, seed: int) -> str:
    return "".join(random.Random(seed).choices("ACGT", k=number))


def fasta(lengths, seed: int, names: int = 5) -> str:
    """Records of these lengths; after some, names come again."""
    return "".join(f">r{i % names} of {seed}\n{letters(n, seed + i)}\n" for i, n in enumerate(lengths))


def leaves(folder: Path) -> dict[str, object]:
    """Every file under a folder: its bytes, but what differs by nature between two runs."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        data: object = path.read_bytes()
        if path.name == "run.json":
            document = json.loads(path.read_text())
            for name in ("command", "seconds", "tokens_per_s", "peak_rss_mb"):
                del document[name]
            data = document
        elif path.name == "summary.json":
            lines = path.read_bytes().split(b"\n")
            assert lines[2].startswith(b'"run": ')
            data = lines[:2] + lines[3:]
        found[str(path.relative_to(folder))] = data
    return found
