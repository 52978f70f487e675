"""The sample data is what its README says."""

import hashlib
import re
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"


def test_digests():
    stated = dict(re.findall(r"^\| `([^`]+)` .*`([0-9a-f]{64})` \|$", (DATA / "README.md").read_text(), re.MULTILINE))
    assert len(stated) >= 3
    for name, digest in stated.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == digest, name


def test_every_file_has_a_line():
    text = (DATA / "README.md").read_text()
    named = set(re.findall(r"^\| `([^`]+)` ", text, re.MULTILINE))
    assert {p.name for p in DATA.iterdir() if not p.name.startswith(".")} <= named | {"README.md"}
