"""Where a figure comes from: commit, machine, versions, command and time, kept beside what was measured."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def provenance() -> dict:
    """Facts to store in the JSON of a benchmark."""
    return {
        "commit": _git("rev-parse", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "machine": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in ("longseq", "torch", "numpy")},
        "command": " ".join(Path(word).name for word in sys.argv),  # without the folders of this machine
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "load": os.getloadavg()[0],
    }


def _git(*arguments: str) -> str:
    try:
        found = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
