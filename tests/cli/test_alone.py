"""No network and no home: a machine on which nothing can be fetched and nothing be kept does the whole work."""

import json
import os
import subprocess
import sys

import pytest

PROSE = [
    "The lamp of the tower was lit at dusk by its keeper, who had oil for a year.",
    "In winter the stairs of the tower were so cold that nobody went down them.",
    "A keeper of the lamp cut its wick every night and wrote down how much oil it took.",
    "No ship was lost near the tower while the lamp burned, as the book of the harbour shows.",
]
CUT_OFF = """
import socket, sys
def refused(*_, **__):
    raise AssertionError("the network was asked for")
socket.socket.connect = socket.socket.connect_ex = socket.socket.bind = refused
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refused
from longseq.cli import main
sys.exit(main(sys.argv[1:]))
"""
TINY = {"model.width": 16, "model.layers": 1, "data.window": 32, "batch": 64, "steps": 2}


@pytest.fixture
def longseq(tmp_path):
    """Runs a command line in a process of its own, without a network, with a home that nobody can make."""
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    keys = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HF_HOME", "TORCH_HOME", "MPLCONFIGDIR")
    environment = {name: value for name, value in os.environ.items() if name not in keys}
    environment |= {"HOME": str(home), "OMP_NUM_THREADS": "1"}

    def call(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", CUT_OFF, *map(str, arguments)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


def test_nothing_is_fetched_and_nothing_is_kept(longseq, tmp_path):
    (tmp_path / "a.txt").write_text("\n\n".join(PROSE) + "\n")
    (tmp_path / "a.html").write_text(f"<!DOCTYPE html><html><body><p>{' '.join(PROSE)}</p></body></html>")
    longseq("summarize", "a.txt", "a.html", "--out", "out", "-q")
    records = json.loads((tmp_path / "out" / "summary.json").read_text())["records"]
    assert [len(record["sentences"]) for record in records] == [4, 4]
    assert "2 documents: 2 verbatim" in longseq("verify", "out", "-q")


def test_a_model_is_trained_alone(longseq, tmp_path):
    (tmp_path / "a.txt").write_text("\n\n".join(PROSE) + "\n")
    longseq("tokenizer", "train", "a.txt", "--unit", "characters", "--out", "tokenizer.json", "-q")
    settings = [word for key, value in TINY.items() for word in ("--set", f"{key}={value}")]
    longseq("train", "a.txt", "--tokenizer", "tokenizer.json", "--out", "run", "--device", "cpu", "-q", *settings)
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()
