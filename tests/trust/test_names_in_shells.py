"""Names of files that a shell would run, split or take for options: they stay names, in jobs and in the scripts."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from shell_names import NAMES

from longseq.cli import main
from longseq.cli.completion.scripts import SCRIPTS

SLURM = Path(__file__).parents[2] / "pipelines" / "slurm"
FAKES = {
    "srun": 'while [ $# -gt 0 ]; do case $1 in --*) shift ;; *) break ;; esac; done\n"$@"',
    "longseq": 'printf "%s\\0" "$@" > "$TOLD"',
    "squeue": "echo RUNNING",
    "scontrol": ":",
}


@pytest.fixture
def job(tmp_path):
    """`job(script, word, …)`: exit code of a job, and the words that longseq got; all commands but bash are made up."""
    (tmp_path / "bin").mkdir()
    for name, body in FAKES.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/bash\n{body}\n")
        program.chmod(0o755)
    (tmp_path / "work").mkdir()
    told = tmp_path / "told"

    def run(script, *words, **more):
        here = {"LONGSEQ_SLURM": str(SLURM), "SLURM_JOB_ID": "7", "SLURM_NTASKS": "1", "SLURM_PROCID": "0"}
        here |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "TOLD": str(told), "SLURM_LOCALID": "0"}
        told.unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", str(SLURM / script), *words], cwd=tmp_path / "work", env=os.environ | here | more, check=False
        )
        return done.returncode, told.read_text().split("\0")[:-1] if told.exists() else []

    return run


@pytest.fixture
def nothing_ran(tmp_path):
    yield
    assert not [*tmp_path.rglob("ran")] and not Path("ran").exists()


@pytest.mark.usefixtures("nothing_ran")
def test_names_reach_a_shard_as_they_are(job):
    words = ["summarize", *NAMES, "--out", NAMES[0]]
    code, told = job("stream_array.sbatch", "8", *words, SLURM_ARRAY_TASK_ID="3", SLURM_ARRAY_JOB_ID="7")
    assert code == 0 and told == [*words, "--shard", "3/8"]
    code, told = job("stream_array.sbatch", "$(touch ran)", *words, SLURM_ARRAY_TASK_ID="3")
    assert code == 2 and told == []


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("\n")])
@pytest.mark.usefixtures("nothing_ran")
def test_names_reach_a_training_as_they_are(job, name, tmp_path):
    code, told = job("train.sbatch", *NAMES, "--out", name)
    assert code == 0 and told == ["train", *NAMES, "--out", name, "--resume"]
    assert [*(tmp_path / "work").iterdir()] == []


@pytest.mark.usefixtures("nothing_ran")
def test_what_others_left_beside_a_run_is_neither_run_nor_written_through(job, tmp_path):
    work = tmp_path / "work"
    for planted in ("a[$(touch ran)] the start\n", "x=1;touch ran the start\n", "09 the start\n", ""):
        (work / "run.attempts").write_text(planted)
        assert job("train.sbatch", "a.fa", "--out", "run", SLURM_RESTART_COUNT="1")[0] == 0
    (tmp_path / "mine").write_text("mine")
    (work / "run.attempts").symlink_to(tmp_path / "mine")
    assert job("train.sbatch", "a.fa", "--out", "run")[0] == 0 and (tmp_path / "mine").read_text() == "mine"


@pytest.mark.usefixtures("nothing_ran")
def test_names_reach_the_processes_of_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        (tmp_path / f"{name}.fa").write_text(f">{name.split()[0]}\nACGTACGT\n")
    words = ["--jobs", "2", "--no-model", "-q", "--out", "$(touch ran)"]
    assert main(["summarize", *words, "--", *sorted(f"{name}.fa" for name in NAMES)]) == 0
    assert len((tmp_path / "$(touch ran)" / "files.tsv").read_text().splitlines()) == 1 + len(NAMES)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.usefixtures("nothing_ran")
def test_names_that_tab_completes(tmp_path):
    """What is taken as a candidate is quoted by the shell's own rules."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "longseq"
    program.write_text(
        "#!/bin/bash\nprintf 'word\\t%s\\t\\n' '$(touch${IFS}ran)' '`touch${IFS}ran`' 'a;touch${IFS}ran'\n"
    )
    program.chmod(0o755)
    line = f"""{SCRIPTS["bash"]}
COMP_WORDS=(longseq score a.fa --region "") COMP_CWORD=4
_longseq
for one in "${{COMPREPLY[@]}}"; do eval "printf '%s\\n' $one"; done"""
    path = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=os.environ | path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["$(touch${IFS}ran)", "`touch${IFS}ran`", "a;touch${IFS}ran"], done.stderr
