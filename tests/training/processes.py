"""Processes of training runs, started as a launcher does, and what they leave."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
CLOCKED = ("tokens_per_s", "memory_mib", "seconds")


def start(world, jobs, folder):
    """`world` processes that do the jobs one after the other; `folder` for what they say."""
    file = folder / f"jobs-{len(list(folder.glob('jobs-*')))}.json"
    file.write_text(json.dumps(jobs))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    common = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    started = []
    for rank in range(world):
        here = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world)} if world > 1 else {}
        started.append(
            subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("worker.py")), str(file)],
                env=os.environ | common | here,
                stdout=subprocess.DEVNULL,
                stderr=open(file.with_suffix(f".{rank}.err"), "w"),  # noqa: SIM115
            )
        )
    return file, started


def finish(file, started, timeout=240):
    """What the processes say of each job, in rank order; all must end by themselves."""
    try:
        for process in started:
            assert process.wait(timeout) == 0, "".join(
                file.with_suffix(f".{n}.err").read_text()[-2000:] for n in range(len(started))
            )
    finally:
        for process in started:
            process.kill()
    return [json.loads(file.with_name(f"{file.stem}-{rank}.said").read_text()) for rank in range(len(started))]


def genome(path, bases=3000):
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).choice(4, bases, p=[0.4, 0.1, 0.1, 0.4])]
    cut = bases // 3 * 2
    path.write_bytes(b">chr1\n" + letters[:cut].tobytes() + b"\n>chr2\n" + letters[cut:].tobytes() + b"\n")
    return str(path)


def settings(inputs, **changes):
    """A small run, as nested mappings; `data__window` is `data.window`."""
    tree = {
        "inputs": [inputs],
        "steps": 20,
        "batch": 192,
        "device": "cpu",
        "threads": 1,
        "model": {"width": 16, "layers": 2, "heads": 2, "pattern": ["gated", "delta"]},
        "data": {"window": 64, "carry": 3},
        "optimiser": {},
        "evaluation": {"every": 10, "tokens": 200},
        "checkpoint": {"every": 10, "keep": 2},
        "processes": {},
    }
    for key, value in changes.items():
        table, _, name = key.rpartition("__")
        (tree[table] if table else tree)[name] = value
    return tree


def lines(run):
    """metrics.jsonl without what depends on the clock."""
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in CLOCKED} for line in found]


def weights(run):
    return (run / "model" / "model.safetensors").read_bytes()
