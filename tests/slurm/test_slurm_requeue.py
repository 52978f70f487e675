"""What brings a job back into the queue, and what must not. A few lines of shell stand in for longseq."""

import pytest
from scripts import Scripts

pytestmark = pytest.mark.slurm
STAND_IN = """\
echo began
case ${MODE:-$SLURM_ARRAY_TASK_ID$SLURM_RESTART_COUNT} in
  stands) exit 85 ;;
  moves) mkdir -p run/checkpoints; date +%N > run/checkpoints/latest; [ "$SLURM_RESTART_COUNT" = 2 ] || exit 85 ;;
  fails) exit 1 ;;
  early) [ "$SLURM_RESTART_COUNT" = 1 ] || kill -TERM $$ ;;
  waits | 2) trap 'echo saved; exit 85' TERM USR1; while :; do sleep 0.1; done ;;
  warned) ;;
  *) sleep 4 ;;
esac
"""


@pytest.fixture(scope="module")
def jobs(slurm, tmp_path_factory):
    """State, restarts, log and folder of a job of each kind, all of which run side by side."""
    ids, folders = {}, {}
    for mode in ("stands", "moves", "fails", "early", "warned", "waits", "array"):
        folder = folders[mode] = tmp_path_factory.mktemp(mode)
        scripts = Scripts(folder, STAND_IN, LONGSEQ_STANDSTILLS=1)
        if mode == "warned":
            warned = 'until [ -n "$warned$SLURM_RESTART_COUNT" ]; do sleep 0.1; done'
            scripts.add(f"longseq_environment() {{ PATH=$PWD/bin:$PATH; touch prepares; {warned}; }}")
        if mode == "array":
            ids[mode] = scripts.submit(slurm, "--array 1-2 -o %a.log", "stream_array.sbatch", "2", "score", "x.fa")
        else:
            ids[mode] = scripts.submit(slurm, "-o log", "train.sbatch", "x.fa", "--out", "run", MODE=mode)
    slurm.until((folders["warned"] / "prepares").exists)
    slurm.run("scancel", "--batch", "--signal=USR1", ids["warned"])
    slurm.until(lambda: "began" in said(folders["waits"] / "log"))
    slurm.run("scancel", ids["waits"])
    slurm.until(lambda: "began" in said(folders["array"] / "2.log"))
    slurm.run("scancel", "--batch", "--signal=USR1", f"{ids['array']}_2")
    tasks = {mode: [job] for mode, job in ids.items()} | {"array": [f"{ids['array']}_1", f"{ids['array']}_2"]}
    slurm.ended(*(job for some in tasks.values() for job in some))
    found = {}
    for mode, some in tasks.items():
        facts = [slurm.job(job) for job in some]
        found[mode] = [(fact["JobState"], int(fact["Restarts"])) for fact in facts], folders[mode]
    return found


def said(log):
    return log.read_text() if log.exists() else ""


def test_attempts_that_lead_nowhere_end(jobs):
    ends, folder = jobs["stands"]
    assert ends == [("FAILED", 2)]
    assert said(folder / "log").count("began") == 2
    assert "2 attempts came no further than: the start" in said(folder / "log")


def test_attempts_that_lead_further_go_on(jobs):
    ends, folder = jobs["moves"]
    assert ends == [("COMPLETED", 2)]
    assert said(folder / "log").count("began") == 3 and not (folder / "run.attempts").exists()


def test_an_error_is_not_tried_again(jobs):
    ends, folder = jobs["fails"]
    assert ends == [("FAILED", 0)] and said(folder / "log").count("began") == 1


def test_a_signal_before_anything_could_be_saved_is_a_stop(jobs):
    ends, folder = jobs["early"]
    assert ends == [("COMPLETED", 1)] and "exit code 143" in said(folder / "log")


def test_after_a_warning_nothing_is_begun(jobs):
    ends, folder = jobs["warned"]
    assert ends == [("COMPLETED", 1)] and said(folder / "log").count("began") == 1


def test_what_was_cancelled_stays_so(jobs):
    ends, folder = jobs["waits"]
    assert ends == [("CANCELLED", 0)]
    assert "saved" in said(folder / "log") and "stopped and not requeued: COMPLETING" in said(folder / "log")


def test_a_task_that_is_stopped_leaves_the_others_of_its_array_alone(jobs):
    ends, folder = jobs["array"]
    assert ends == [("COMPLETED", 0), ("COMPLETED", 1)]
    assert said(folder / "2.log").count("began") == 2 and said(folder / "1.log").count("began") == 1


@pytest.mark.parametrize(
    ("words", "problem"), [(["--out", "run", "--force"], "--force would begin anew"), ([], "--out RUN is missing")]
)
def test_what_cannot_be_gone_on_with_is_refused(slurm, tmp_path, words, problem):
    job = Scripts(tmp_path, STAND_IN).submit(slurm, "-o log", "train.sbatch", "x.fa", *words, MODE="fails")
    assert slurm.ended(job) == ["FAILED"] and slurm.job(job)["ExitCode"] == "2:0"
    assert problem in said(tmp_path / "log")
