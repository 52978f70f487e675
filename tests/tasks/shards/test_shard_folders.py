"""A shard is there whole or not at all: it is skipped when done, made anew when it was not, refused when another's."""

import json
import os
import signal
import subprocess
import sys

import pytest

from longseq.tasks.summarize.kept import Keeper


@pytest.fixture
def shard(inputs, tmp_path, longseq):
    """`shard(I, option, …)` makes shard I of 2 in `batch`."""

    def make(number, *options):
        files = (inputs["plain.fa"], inputs["reads.fastq"])
        return longseq(
            "summarize", *files, "--no-model", "--out", tmp_path / "batch", "--shard", f"{number}/2", *options
        )

    return make


def stamps(folder):
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()}


def test_a_finished_shard_is_skipped(shard, tmp_path):
    assert shard(1)[0] == 0
    before = stamps(tmp_path / "batch" / "1-of-2")
    code, out, _ = shard(1)
    assert (code, out) == (0, f"{tmp_path}/batch/1-of-2: is done already\n")
    assert stamps(tmp_path / "batch" / "1-of-2") == before
    assert shard(1, "--force")[0] == 0
    assert stamps(tmp_path / "batch" / "1-of-2") != before


def test_another_request_is_refused_and_forced(shard, tmp_path):
    shard(1)
    code, _, said = shard(1, "--window", "500")
    assert code == 2
    assert "1-of-2: is there already, made with request request window 10000 instead of 500" in said
    assert "--force" in said
    assert shard(1, "--window", "500", "--force")[0] == 0
    shard(2)
    code, _, said = _merge(tmp_path)
    assert code == 1
    assert "2-of-2: expected request request window 500, as " in said


def _merge(tmp_path):
    """Of a fresh process, as `longseq merge` is one."""
    call = [sys.executable, "-c", "import sys; from longseq.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*call, "merge", tmp_path / "batch", "--out", tmp_path / "out"], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_shard_that_was_killed_is_made_anew(inputs, shard, tmp_path, longseq):
    argv = ["summarize", inputs["plain.fa"], inputs["reads.fastq"], "--no-model"]
    argv += ["--out", str(tmp_path / "batch"), "--shard", "1/2"]
    code = (
        "import os, signal, sys\n"
        "from longseq.cli import main\n"
        "from longseq.tasks.summarize.kept import Keeper\n"
        "keep = Keeper.dna\n"
        "def dna(keeper, summary):\n"
        "    keep(keeper, summary)\n"
        "    if summary.row.index == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Keeper.dna = dna\n"
        "main(sys.argv[1:])\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, *argv], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(p.name for p in (tmp_path / "batch").iterdir()) == [".1-of-2.partial", "plan.json"]
    assert json.loads(longseq("info", tmp_path / "batch", "--json")[1])["killed"] == 1
    assert shard(1)[0] == 0
    assert sorted(p.name for p in (tmp_path / "batch").iterdir()) == ["1-of-2", "plan.json"]


def test_a_shard_that_is_stopped_says_so_and_is_made_anew(shard, tmp_path, monkeypatch):
    monkeypatch.setattr(Keeper, "dna", lambda *_: os.kill(os.getpid(), signal.SIGUSR1))
    code, _, said = shard(1)
    assert code == 85
    assert "1-of-2: stopped by SIGUSR1; the same command makes it anew" in said
    assert sorted(p.name for p in (tmp_path / "batch").iterdir()) == ["1-of-2.run.json", "plan.json"]
    left = json.loads((tmp_path / "batch" / "1-of-2.run.json").read_text())
    assert (left["status"], left["run"]["exit_code"]) == ("stopped", 85)
    monkeypatch.undo()
    assert shard(1)[0] == 0
    assert sorted(p.name for p in (tmp_path / "batch").iterdir()) == ["1-of-2", "plan.json"]


def test_a_shard_holds_what_is_known_of_its_job(shard, tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "7")
    shard(2)
    document = json.loads((tmp_path / "batch" / "2-of-2" / "shard.json").read_text())
    run, counts = document["run"], document["counts"]
    assert (document["schema"], document["status"], document["command"]) == ("longseq.shard/1", "done", "summarize")
    assert run["slurm"] == {"slurm_array_task_id": "7"}
    assert run["exit_code"] == 0
    assert run["tokens_per_s"] == pytest.approx(counts["length"] / run["seconds"])
    assert run["began"] <= run["ended"]


def test_info_sums_a_batch_up(inputs, tmp_path, longseq, monkeypatch):
    batch = tmp_path / "batch"
    files = (inputs["packed.fa.gz"], inputs["reads.fastq"])

    def shard(number):
        return longseq("summarize", *files, "--no-model", "--out", batch, "--shard", f"{number}/6")

    for number in (1, 4):
        shard(number)
    with monkeypatch.context() as patched:
        patched.setattr(Keeper, "began", lambda *_: 1 / 0)
        assert shard(5)[0] == 1
    code, out, _ = longseq("info", batch, "--json")
    facts = json.loads(out)
    assert code == 0
    found = {name: facts[name] for name in ("what", "shards", "done", "failed", "stopped", "left", "run_again")}
    assert found == {
        "what": "batch",
        "shards": 6,
        "done": 2,
        "failed": 1,
        "stopped": 0,
        "left": 3,
        "run_again": "2-3,5-6",
    }
    assert "division by zero" in facts["which"]["failed"][0]["error"]
    assert ["run", "again", "2-3,5-6"] in [line.split() for line in longseq("info", batch)[1].splitlines()]
