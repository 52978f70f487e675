"""An array of shards of which one is killed, one has to make room, and a node is drained: nothing is lost, nothing is
done twice, and the whole is that of one process."""

import json
import os
import signal
from pathlib import Path

import pytest
from scripts import ROOT, Scripts, contigs, python
from workflows import bytes_of

from longseq.cli import main
from longseq.tasks.shards.batch import standing

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]
INPUTS = ["contigs.fa", *(str(ROOT / "data" / name) for name in ("T4.gbff.gz", "chloroplast.gb.gz", "awkward.fa"))]
WORDS = ["summarize", *INPUTS, "--no-model", "--on-unknown", "N"]
SHARDS, KILLED, PREEMPTED = 8, 2, 5


def array(slurm, scripts, log):
    """The array, submitted; each task takes half a node."""
    options = f"--array 1-{SHARDS}%4 --cpus-per-task 4 --partition scavenge --signal=B:USR1@30 -o {log}-%a.log"
    held = str(scripts.work / "held")
    return scripts.submit(slurm, options, "stream_array.sbatch", str(SHARDS), *WORDS, "--out", "batch", HELD=held)


def tasks(job):
    return [f"{job}_{number}" for number in range(1, SHARDS + 1)]


@pytest.fixture(scope="module")
def disturbed(slurm, tmp_path_factory):
    """The folder of an array and the states of its tasks in the end, having been disturbed, and its id."""
    folder = tmp_path_factory.mktemp("array")
    contigs(folder / "contigs.fa", 60, 10_000)
    (folder / "held").mkdir()
    for number in (KILLED, PREEMPTED):
        (folder / "held" / str(number)).touch()
    scripts = Scripts(folder, python(str(Path(__file__).with_name("held.py"))))
    job = array(slurm, scripts, "first")
    for number in (KILLED, PREEMPTED):
        slurm.until(lambda number=number: [*folder.glob(f"batch/.{number}-of-{SHARDS}*")])
    for process in slurm.processes(SLURM_ARRAY_JOB_ID=job, SLURM_ARRAY_TASK_ID=str(KILLED), SLURM_STEP_ID="0"):
        os.kill(process, signal.SIGKILL)
    (folder / "held" / str(KILLED)).unlink()
    other = tasks(job)
    del other[PREEMPTED - 1]
    states = slurm.ended(*other)
    node = slurm.job(f"{job}_{PREEMPTED}")["NodeList"]
    slurm.run("sbatch", "--nodelist", node, "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1")
    slurm.until(lambda: slurm.job(f"{job}_{PREEMPTED}")["Restarts"] == "1")
    slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=disturbed")
    (folder / "held" / str(PREEMPTED)).unlink()
    states[PREEMPTED - 1 : PREEMPTED - 1] = slurm.ended(f"{job}_{PREEMPTED}")
    yield scripts, job, states, node
    slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


def facts(folder):
    """What the shards say of their making, and when they got their place."""
    found = {}
    for number in range(1, SHARDS + 1):
        file = folder / "batch" / f"{number}-of-{SHARDS}" / "shard.json"
        if file.exists():
            found[number] = json.loads(file.read_text())["run"]["slurm"], file.stat().st_mtime_ns
    return found


def test_the_whole_is_that_of_one_process_and_nothing_was_done_twice(slurm, disturbed, monkeypatch, capsys):
    scripts, job, states, drained = disturbed
    folder = scripts.work
    wanted = ["COMPLETED"] * SHARDS
    wanted[KILLED - 1] = "FAILED"
    assert states == wanted
    preempted = slurm.job(f"{job}_{PREEMPTED}")
    assert preempted["Restarts"] == "1" and preempted["NodeList"] != drained
    assert "stopped (exit code 85)" in (folder / f"first-{PREEMPTED}.log").read_text()
    before = facts(folder)
    assert set(range(1, SHARDS + 1)) - before.keys() == {KILLED}
    stands = standing(folder / "batch")
    assert (stands["done"], stands["killed"], stands["run_again"]) == (SHARDS - 1, 1, str(KILLED))

    again = array(slurm, scripts, "second")
    assert slurm.ended(*tasks(again)) == ["COMPLETED"] * SHARDS
    after = facts(folder)
    assert after[KILLED][0]["slurm_array_job_id"] == again
    for number in before:
        assert after[number] == before[number] and after[number][0]["slurm_array_job_id"] == job
        assert "is done already" in (folder / f"second-{number}.log").read_text()
    assert after[PREEMPTED][0]["slurm_restart_count"] == "1"

    monkeypatch.chdir(folder)
    codes = [main(["merge", str(folder / "batch"), "--out", str(folder / "merged")])]
    codes.append(main([*WORDS, "--out", str(folder / "single")]))
    assert codes[0] == codes[1] == 0, capsys.readouterr().err
    assert bytes_of(folder / "merged") == bytes_of(folder / "single")
