"""Wheels that are gathered with a network install, and run, where there is none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import offline_guard
import pytest

ROOT = Path(__file__).parents[2]
OFFLINE = ROOT / "pipelines" / "offline"
pytestmark = pytest.mark.offline
REACHES = """
import socket, sys
for host in ("127.0.0.1", "192.0.2.1"):  # this machine, and one that is nowhere but would be asked for
    try:
        socket.create_connection((host, 9), timeout=5)
    except OSError as error:
        print(error.strerror)
"""


def said(words, **environment):
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, cwd="/")
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def cut_off(*words):
    """What a command says that reaches nothing but itself, and knows of no other packages than it is told of."""
    alone = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "-", *map(str, words)]
    kept = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_COMPILE": "1"}
    return said(alone, **kept, HOME="/nonexistent", OMP_NUM_THREADS="1")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("offline") / "wheels"
    said([str(OFFLINE / "gather.sh"), str(folder)], **offline_guard.without() | {"PYTHON": sys.executable})
    return folder


def test_there_is_no_network():
    assert cut_off(sys.executable, "-c", REACHES).split("\n")[:2] == ["Connection refused", "Network is unreachable"]


def test_a_summary_is_made_by_what_was_installed_without_a_network(wheels):
    venv = wheels.parent / "venv"
    cut_off(wheels / "install.sh", wheels, venv)
    assert said([venv / "bin" / "python", "-c", "import longseq; print(longseq.__file__)"]).startswith(str(venv))
    words = ("summarize", str(ROOT / "data" / "awkward.fa"), "--json", "-q")
    found = json.loads(cut_off(venv / "bin" / "longseq", *words))
    here = [sys.executable, "-c", "from longseq.cli import main; main()", *words]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    wanted = json.loads(said(here, **os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}))
    assert found["records"] == wanted["records"] and found["run"]["model"] == "dna"
    assert found["run"]["model_sha256"] == wanted["run"]["model_sha256"]


def test_a_wheel_that_was_cut_short_is_named(wheels, tmp_path):
    copy = tmp_path / "wheels"
    copy.mkdir()
    for path in wheels.iterdir():
        (copy / path.name).symlink_to(path)
    wheel = next(copy.glob("click-*.whl"))
    data = wheel.read_bytes()
    wheel.unlink()
    wheel.write_bytes(data[:-1])
    words = [str(wheels / "install.sh"), str(copy), str(tmp_path / "venv")]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode != 0 and f"{wheel.name}: FAILED" in found.stdout + found.stderr
    assert not (tmp_path / "venv").exists()
