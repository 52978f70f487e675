"""Known weaknesses of the pinned versions, asked for where advisories can be had; what is installed and not pinned.

    python .ci/audit.py [PYTHON]

`pip-audit` ends well when it found no advisory because it could ask nobody: here that is said, in a line. The exit code
is 1 where a pinned version has a known weakness, or a package of PYTHON's environment is not pinned as it is installed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

PINS = Path(__file__).with_name("constraints.txt")
PATIENCE = 120
"""Seconds until advisories count as out of reach."""
OURS = {"longseq", "pip", "setuptools", "wheel"}
OF_TORCH = ("nvidia-", "cuda-", "triton")
"""Names of libraries for GPUs begin so: a torch that has them pins them itself."""


def main() -> int:
    loose = unpinned(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
    for line in loose:
        print(f"not pinned in {PINS.name}: {line}")
    found = audited()
    if found is None:
        print("advisories cannot be had here: no pin was compared with them")
        return int(bool(loose))
    asked = [one for one in found if "skip_reason" not in one]
    weak = [f"{one['name']} {one['version']}: {known['id']}" for one in asked for known in one["vulns"]]
    print(f"{len(asked)} of {len(found)} pins compared with advisories, {len(weak)} known weaknesses")
    print(*weak, sep="\n", end="\n" if weak else "")
    return int(bool(weak or loose))


def audited() -> list[dict] | None:
    """What pip-audit says of each pin; None where it is not here, or could ask nobody."""
    line = [sys.executable, "-m", "pip_audit", "-r", str(PINS), "--no-deps", "--disable-pip", "-f", "json"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=PATIENCE)
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, subprocess.TimeoutExpired):
        return None
    return found if any("skip_reason" not in one for one in found) else None


def unpinned(python: str) -> list[str]:
    """`name==version` of each installed package that constraints.txt lacks, or pins otherwise."""
    pins = {_plain(line) for line in PINS.read_text(encoding="utf-8").splitlines() if "==" in line}
    line = [python, "-m", "pip", "list", "--format", "freeze"]
    there = subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()
    return [one for one in there if _plain(one) not in pins and not _told(_plain(one)[0])]


def _told(name: str) -> bool:
    return name in OURS or name.startswith(OF_TORCH)


def _plain(line: str) -> tuple[str, str]:
    """A name as installers compare it, and the version without what a build adds to it."""
    name, _, version = line.partition("==")
    return re.sub(r"[-_.]+", "-", name).lower(), version.strip().split("+")[0]


if __name__ == "__main__":
    sys.exit(main())
