"""A training of two ranks on two nodes, disturbed and requeued, ends as one that nothing disturbed, bit for bit."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from scripts import Scripts, python

from longseq.config import from_mapping, to_toml
from longseq.training import TrainConfig

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]
STEPS, PACE = 100, 0.75
CLOCKED = ("tokens_per_s", "memory_mib", "seconds")
DISTURBED = {
    "USR1, the ranks only": ("SIGUSR1", 1, ""),
    "TERM, the script only": ("SIGUSR1", 2, ""),
    "preempted": ("SIGTERM", 1, "--partition scavenge --gpus-per-node 1"),
    "time limit": ("SIG(?:USR1|TERM)", 1, "--time 60 --signal=B:USR1@40"),
}
"""How it is warned → what the ranks are told, `processes.sequence`, options of sbatch."""


def genome(file):
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).choice(4, 6000, p=[0.4, 0.1, 0.1, 0.4])]
    file.write_bytes(b">chr1\n" + letters[:4000].tobytes() + b"\n>chr2\n" + letters[4000:].tobytes() + b"\n")


def settings(file, inputs):
    """Dropout, a carried state, and evaluations that fall out of step with both: whatever a resume could lose."""
    tree = {
        "inputs": [str(inputs)],
        "steps": STEPS,
        "batch": 192,
        "threads": 1,
        "model": {"width": 16, "layers": 2, "heads": 2, "pattern": ["gated", "delta"], "dropout": 0.1},
        "data": {"window": 64, "carry": 3},
        "evaluation": {"every": 17, "tokens": 200},
        "checkpoint": {"every": 0},
    }
    file.write_text(to_toml(from_mapping(TrainConfig, tree)))


def steps(run):
    """Steps that whole lines of the journal tell of."""
    file = run / "metrics.jsonl"
    text = file.read_bytes() if file.exists() else b""
    whole = text[: text.rfind(b"\n") + 1].splitlines()
    return json.loads(whole[-1])["step"] if whole else 0


def lines(run):
    """The journal without what depends on the clock."""
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in CLOCKED} for line in found]


@pytest.fixture(scope="module")
def trained(slurm, tmp_path_factory):
    """The folder of all runs, the ids of the disturbed ones, and after which step each was disturbed."""
    folder = tmp_path_factory.mktemp("training")
    genome(folder / "genome.fa")
    settings(folder / "run.toml", folder / "genome.fa")
    scripts = Scripts(folder, python(str(Path(__file__).with_name("paced.py"))))

    def submit(name, sequence, pace, options):
        nodes = f"--nodes 2 --ntasks-per-node 1 {options} -o {folder}/{name.replace(' ', '-')}.log"
        words = ("--config", "run.toml", "--out", name, "--set", f"processes.sequence={sequence}")
        return scripts.submit(slurm, nodes, "train.sbatch", *words, PACE=str(pace))

    jobs = {name: submit(name, sequence, PACE, options) for name, (_, sequence, options) in DISTURBED.items()}
    undisturbed = [submit(f"undisturbed {sequence}", sequence, 0, "") for sequence in (1, 2)]
    at = {name: random.randint(3, 25) for name in DISTURBED}
    ways = {
        "USR1, the ranks only": ("scancel", "--signal=USR1", jobs["USR1, the ranks only"]),
        "TERM, the script only": ("scancel", "--batch", "--signal=TERM", jobs["TERM, the script only"]),
        "preempted": ("sbatch", "--nodes", "2", "--gpus-per-node", "1", "-o", "/dev/null", "--wrap", "sleep 1"),
        # Its warning is due at once; the controller looks at such things twice a minute.
        "time limit": ("scontrol", "update", f"JobId={jobs['time limit']}", "EndTime=now+45"),
    }

    for name in sorted(at, key=at.__getitem__):
        slurm.until(lambda name=name: steps(folder / name) >= at[name], 240)
        slurm.run(*ways[name])
    slurm.until(lambda: slurm.job(jobs["time limit"])["Restarts"] == "1")
    slurm.run("scontrol", "update", f"JobId={jobs['time limit']}", "TimeLimit=60")
    assert set(slurm.ended(*jobs.values(), *undisturbed, seconds=500)) == {"COMPLETED"}
    return folder, jobs, at


@pytest.mark.parametrize("name", DISTURBED)
def test_what_was_disturbed_ends_as_what_was_not(slurm, trained, name):
    folder, jobs, at = trained
    told, sequence, _ = DISTURBED[name]
    assert slurm.job(jobs[name])["Restarts"] == "1"
    log = (folder / f"{name.replace(' ', '-')}.log").read_text()
    stops = [int(step) for step in re.findall(rf"stopped by {told} after step (\d+)", log)]
    assert stops and at[name] <= stops[0] < STEPS
    assert not (folder / f"{name}.attempts").exists()
    run, undisturbed = folder / name, folder / f"undisturbed {sequence}"
    assert lines(run) == lines(undisturbed)
    weights = [(path / "model" / "model.safetensors").read_bytes() for path in (run, undisturbed)]
    assert weights[0] == weights[1]
