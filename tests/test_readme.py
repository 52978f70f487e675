"""The README keeps its word where that can be checked without running it; tests/guides runs its commands."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tree_of_rooms_is_the_tree():
    tree = TEXT[TEXT.index("longseq/\n") :]
    named = set(re.findall(r"^  (\S+)", tree[: tree.index("```")], re.MULTILINE))
    package = ROOT / "longseq"
    there = {p.name + "/" * p.is_dir() for p in package.iterdir() if p.name[0] not in "_."}
    assert named == {name for name in there if name != "py.typed"}


def test_its_two_lines_install_what_is_pinned():
    lines = [line for line in TEXT.splitlines() if line.startswith("python3 -m venv")]
    assert len(lines) == 2
    assert all("pip install -q -c .ci/constraints.txt -e " in line for line in lines)
    pins = (ROOT / ".ci/constraints.txt").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    wanted = re.findall(r'^  "([\w-]+)>=', project, re.MULTILINE)
    assert wanted
    for name in wanted:
        assert re.search(rf"^{name}==", pins, re.MULTILINE | re.IGNORECASE), name
