"""The genomes under data/ in shards, in every way that there is: the files are those of one process, byte for byte."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from scripts import LONGSEQ, ROOT, Scripts
from workflows import WORKFLOW, Workflow, bytes_of

pytestmark = [pytest.mark.slurm, pytest.mark.snakemake, pytest.mark.timeout(900)]
GENOMES = [
    str(ROOT / "data" / name)
    for name in ("ecoli.fa.gz", "hpylori.fa.gz", "T4.gbff.gz", "chloroplast.gb.gz", "awkward.fa")
]
CASES = {"counted": (GENOMES, "--no-model"), "read": (GENOMES[2:], "--model dna --strands forward")}
SHARDS = 8


def longseq(folder, *words):
    """The files of a command that writes to `out` in a folder."""
    folder.mkdir()
    code, said = Workflow(folder).longseq(*words, "--out", "out", "-q")
    assert code == 0, said
    return bytes_of(folder / "out")


def one_process(slurm, folder, inputs, options):
    return longseq(folder, "summarize", *inputs, *options.split())


def two_jobs_of_one_machine(slurm, folder, inputs, options):
    return longseq(folder, "summarize", *inputs, *options.split(), "--jobs", "2")


def an_array(slurm, folder, inputs, options):
    folder.mkdir()
    scripts = Scripts(folder, LONGSEQ)
    told = "stream_array.sbatch", str(SHARDS), "summarize", *inputs, *options.split(), "--out", "batch"
    job = scripts.submit(slurm, f"--array 1-{SHARDS}%4 -o %a.log", *told)
    assert slurm.ended(*(f"{job}_{number}" for number in range(1, SHARDS + 1))) == ["COMPLETED"] * SHARDS
    return longseq(folder / "merged", "merge", str(folder / "batch"))


def snakemake(folder, profile, inputs, options, *words, **given):
    """The files of a workflow of three shards, and what Snakemake said."""
    folder.mkdir()
    workflow = Workflow(folder, profile, **given)
    batch = {"inputs": inputs, "out": "summary", "shards": 3, "options": options, "mem_mb": 500, "minutes": 5}
    code, said = workflow.run(*words, batch=batch)
    assert code == 0, said
    assert re.search(r"^ *done +3$", (folder / "summary.batch.txt").read_text(), re.MULTILINE)
    return bytes_of(folder / "summary"), said


def snakemake_here(slurm, folder, inputs, options):
    return snakemake(folder, "local", inputs, options)[0]


def snakemake_on_the_cluster(slurm, folder, inputs, options):
    assert "slurm-status-command: squeue" in (WORKFLOW / "profiles" / "slurm" / "config.yaml").read_text()
    # The cluster is here and idle: its jobs are looked after sooner than is polite elsewhere.
    haste = ("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2")
    pairs = ("--groups", "shard=some", "--group-components", "some=2")
    words = (*haste, *pairs, "--latency-wait", "5")
    found, said = snakemake(folder, "slurm", inputs, options, *words, environment=slurm.environment)
    submitted = re.findall(r"SLURM jobid '?(\d+)", said)
    assert len(set(submitted)) == 4, said  # plan, two shards in one, the third, merge; the summing up is no job
    assert slurm.ended(*submitted) == ["COMPLETED"] * 4
    return found


WAYS = (an_array, two_jobs_of_one_machine, snakemake_here, snakemake_on_the_cluster)


@pytest.fixture(scope="module")
def files(slurm, tmp_path_factory):
    """What each way makes of each case, some of them side by side: the cluster's wait more than they work."""
    folder = tmp_path_factory.mktemp("genomes")
    with ThreadPoolExecutor(4) as threads:
        yield {
            (way, case): threads.submit(way, slurm, folder / f"{way.__name__}-{case}", *asked)
            for way in (one_process, *WAYS)
            for case, asked in CASES.items()
        }


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", WAYS)
def test_the_files_are_those_of_one_process(files, way, case):
    wanted = files[one_process, case].result()
    found = files[way, case].result()
    assert len(wanted) > 5 and found == wanted
