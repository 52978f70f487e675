"""The Snakemake workflow on SLURM: jobs of the cluster make what one process makes."""

import re

import pytest
from workflows import WORKFLOW, Workflow, bytes_of

pytestmark = [pytest.mark.slurm, pytest.mark.snakemake]
INPUTS = ["awkward.fa", "chloroplast.gb.gz", "T4.gbff.gz"]


def test_the_result_is_that_of_one_process(slurm, tmp_path):
    assert "slurm-status-command: squeue" in (WORKFLOW / "profiles" / "slurm" / "config.yaml").read_text()
    workflow = Workflow(tmp_path, "slurm", data=INPUTS, environment=slurm.environment)
    batch = {"inputs": INPUTS, "out": "summary", "shards": 3, "options": "--no-model", "mem_mb": 500, "minutes": 5}
    # The cluster is here and idle: its jobs are looked after sooner than is polite elsewhere.
    haste = ("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2")
    pairs = ("--groups", "shard=some", "--group-components", "some=2")
    code, said = workflow.run(*haste, *pairs, "--latency-wait", "5", batch=batch)
    assert code == 0, said
    submitted = re.findall(r"SLURM jobid '?(\d+)", said)
    assert len(set(submitted)) == 4, said  # plan, two shards in one, the third, merge; the summing up is no job
    assert slurm.ended(*submitted) == ["COMPLETED"] * 4
    code, said = workflow.longseq("summarize", *INPUTS, "--no-model", "--out", "alone")
    assert code == 0, said
    assert bytes_of(tmp_path / "summary") == bytes_of(tmp_path / "alone")
    assert re.search(r"^done +3$", (tmp_path / "summary.batch.txt").read_text(), re.MULTILINE)
