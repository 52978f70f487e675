"""Records that are scored, and what comes out as rows and files."""

import json
import random

CHUNK = 512
LENGTHS = [100, 12_000, 0, 30, 9_000, 300, 300]


def letters(length, seed=0):
    return "".join(random.Random(seed).choices("ACGTACGTACGTacgtNR", k=length))


def table(text):
    header, *lines = text.splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def contents(folder):
    """Bytes of each file; of run.json what it says, but for the command line."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    settings = json.loads(found["run.json"])
    return found | {"run.json": {name: value for name, value in settings.items() if name != "command"}}
