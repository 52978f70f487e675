"""Names that a shell would run reach a job of a real queue as they are."""

import pytest
from scripts import Scripts

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]
NAMES = ("$(touch ran)", "`touch ran`", "a;touch ran;", "-x", "a b  c", "*", "'\";touch ran;'\"", "a\ntouch ran")


@pytest.mark.parametrize(
    ("script", "options", "before", "after"),
    [
        ("stream_array.sbatch", "--array 1-1", ["1", "summarize"], ["--shard", "1/1"]),
        ("train.sbatch", "--ntasks 1", [], ["--resume"]),
    ],
)
def test_names_reach_a_job_as_they_are(slurm, tmp_path, script, options, before, after):
    scripts = Scripts(tmp_path, f"printf '%s\\0' \"$@\" > {tmp_path}/told")
    job = scripts.submit(slurm, f"{options} -o /dev/null", script, *before, *NAMES, "--out", NAMES[0])
    assert slurm.ended(f"{job}_1" if "array" in options else job) == ["COMPLETED"]
    told = (tmp_path / "told").read_text().split("\0")[:-1]
    assert told == [*(before[1:] or ["train"]), *NAMES, "--out", NAMES[0], *after]
    assert not [*tmp_path.rglob("ran")]
