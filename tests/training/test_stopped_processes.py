"""A signal to one of two processes, whichever it is: both save after the same step and end with 85."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from processes import ROOT, genome, lines, settings, weights

from longseq.config import from_mapping, to_toml
from longseq.training import TrainConfig
from longseq.training.journal import read_lines

CALL = "import sys; from longseq.cli import main; sys.exit(main(sys.argv[1:]))"


def start(words):
    """Two processes of one command, as a launcher starts them."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    common = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [
        subprocess.Popen(
            [sys.executable, "-c", CALL, *words],
            env=os.environ | common | {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]


def stopped_in_both(folder, name, rank):
    """Stopped by a signal to one process in the middle, and gone on with: the undisturbed run, bit for bit."""
    changes = {"steps": 400, "evaluation__every": 0, "checkpoint__every": 0}
    tree = settings(genome(folder / "genome.fa"), **changes)
    (folder / "run.toml").write_text(to_toml(from_mapping(TrainConfig, tree)))
    run = folder / "run"
    words = ["train", "--config", str(folder / "run.toml"), "--resume", "--out"]
    started = start([*words, str(run)])
    try:
        deadline = time.monotonic() + 200
        while len(read_lines(run / "metrics.jsonl")) < 5:
            assert all(process.poll() is None for process in started) and time.monotonic() < deadline
            time.sleep(0.02)
        started[rank].send_signal(getattr(signal, name))
        said = [process.communicate(timeout=100)[1].splitlines()[-1] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [85, 85]
    step = len(read_lines(run / "metrics.jsonl"))
    assert 5 <= step < 400
    by = ["a signal to another process"] * 2
    by[rank] = name
    assert said == [
        f"longseq: {run}: stopped by {who} after step {step}; all of it is saved; --resume goes on" for who in by
    ]
    assert (run / "checkpoints" / "latest").read_text() == f"step-{step:08d}\n"
    return run, words


def test_a_signal_to_one_process_stops_both(tmp_path):
    stopped_in_both(tmp_path, "SIGUSR1", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rank"), [("SIGTERM", 0), ("SIGTERM", 1), ("SIGUSR1", 0)])
def test_what_was_stopped_goes_on_as_if_it_had_not(tmp_path, name, rank):
    run, words = stopped_in_both(tmp_path, name, rank)
    for out in (run, tmp_path / "undisturbed"):
        assert [process.wait(300) for process in start([*words, str(out)])] == [0, 0]
    assert lines(run) == lines(tmp_path / "undisturbed") and weights(run) == weights(tmp_path / "undisturbed")
