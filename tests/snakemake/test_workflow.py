"""The workflow on one machine: its result is that of one process, it repeats nothing, and it says what is wrong."""

import json
import re

import pytest
from workflows import Workflow, bytes_of

pytestmark = pytest.mark.snakemake
INPUTS = ["awkward.fa", "T4.gbff.gz"]
BATCH = {"inputs": INPUTS, "out": "results/summary", "shards": 3, "options": "--no-model --window 5000"}


def jobs(said):
    """How often each rule ran, or would."""
    return {
        rule: len(re.findall(rf"^(?:local)?rule {rule}:", said, re.MULTILINE)) for rule in ("plan", "shard", "merge")
    }


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    return Workflow(tmp_path_factory.mktemp("workflow"), data=INPUTS)


@pytest.fixture(scope="module")
def done(workflow):
    """A workflow that has run, what a dry run before it said, and what it said itself."""
    code, would = workflow.run("--dry-run", batch=BATCH)
    assert code == 0 and not (workflow.folder / "results").exists()
    code, said = workflow.run(batch=BATCH)
    assert code == 0, said
    return workflow, would, said


def test_a_dry_run_foretells_the_jobs(done):
    _, would, said = done
    assert jobs(would) == jobs(said) == {"plan": 1, "shard": 3, "merge": 1}


def test_the_result_is_that_of_one_process(done):
    workflow = done[0]
    code, said = workflow.longseq("summarize", *INPUTS, "--no-model", "--window", "5000", "--out", "alone")
    assert code == 0, said
    assert bytes_of(workflow.folder / "results" / "summary") == bytes_of(workflow.folder / "alone")


def test_the_batch_is_summed_up_beside_it(done):
    told = (done[0].folder / "results" / "summary.batch.txt").read_text()
    assert re.search(r"^ *done +3$", told, re.MULTILINE) and re.search(r"^ *command +summarize$", told, re.MULTILINE)


def test_what_is_done_is_not_done_again_and_what_is_lost_is(done):
    workflow = done[0]
    code, said = workflow.run(batch=BATCH)
    assert code == 0 and "Nothing to be done" in said and jobs(said) == {"plan": 0, "shard": 0, "merge": 0}
    shards = workflow.folder / "results" / "summary.of-3"
    kept = {path: path.stat().st_mtime_ns for path in shards.glob("[13]-of-3/*")}
    whole = bytes_of(workflow.folder / "results" / "summary")
    for path in (shards / "2-of-3").iterdir():
        path.unlink()
    (shards / "2-of-3").rmdir()
    code, said = workflow.run("--forcerun", "merge", batch=BATCH)
    assert code == 0 and jobs(said) == {"plan": 0, "shard": 1, "merge": 1}
    assert {path: path.stat().st_mtime_ns for path in shards.glob("[13]-of-3/*")} == kept
    assert bytes_of(workflow.folder / "results" / "summary") == whole


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"batch": BATCH | {"shards": "eight"}}, r"'eight' is not of type 'integer'[^|]*\['shards'\]"),
        ({"batch": BATCH | {"shrads": 3}}, r"\('shrads' was unexpected\)"),
        ({"batch": {"inputs": INPUTS}}, r"'out' is a required property"),
        ({"batch": BATCH, "evaluation": {"inputs": INPUTS, "out": "x"}}, r"'training' is a dependency of 'evaluation'"),
        ({"batch": BATCH | {"inputs": ["*.nowhere"]}}, r"inputs: no file matches \*\.nowhere"),
    ],
)
def test_a_bad_configuration_is_refused_by_the_name_of_the_key(config, said, tmp_path):
    code, found = Workflow(tmp_path, data=INPUTS).run("--dry-run", **config)
    assert code == 1 and re.search(said, found), found


def test_records_that_fail_stop_the_merge_until_they_are_accepted(tmp_path):
    workflow = Workflow(tmp_path)
    (tmp_path / "bad.fa").write_text(">a\nACGTACGT\n>b\nAC!GT\n>c\nGGGTTT\n")
    batch = BATCH | {"inputs": ["bad.fa"], "shards": 2}
    code, said = workflow.run(batch=batch)
    assert code == 1 and "expected a DNA letter" in said and re.search(r"^ *done +2$", said, re.MULTILINE)
    assert not (tmp_path / "results" / "summary").exists()
    code, said = workflow.run(batch=batch | {"accept_failed_records": True})
    assert code == 0 and jobs(said) == {"plan": 0, "shard": 0, "merge": 1}, said
    assert "expected a DNA letter" in (tmp_path / "results" / "summary.logs" / "merge.log").read_text()
    assert (tmp_path / "results" / "summary" / "summary.json").exists()


def test_a_shard_that_fails_is_told_of(tmp_path):
    batch = BATCH | {"shards": 1, "options": "--no-model --window -7"}
    code, said = Workflow(tmp_path, data=INPUTS).run(batch=batch)
    assert code == 1 and "-7" in said and re.search(r"^ *failed +1$", said, re.MULTILINE), said


def test_a_model_is_trained_and_measured_on_what_was_kept_back(tmp_path):
    small = ["model.width=16", "model.layers=1", "model.heads=2", "data.window=32", "batch=64", "steps=3"]
    options = " ".join(f"--set {setting}" for setting in small)
    training = {"inputs": ["T4.gbff.gz"], "out": "results/run", "options": options}
    config = {"training": training, "evaluation": {"inputs": ["awkward.fa"], "out": "results/held"}}
    workflow = Workflow(tmp_path, data=INPUTS)
    code, said = workflow.run(**config)
    assert code == 0, said
    results = tmp_path / "results"
    assert json.loads((results / "run.json").read_text())["outcome"]["step"] == 3
    code, said = workflow.longseq("score", "awkward.fa", "--model", "results/run/model", "--out", "alone", "-q")
    assert code == 0, said
    rows = (tmp_path / "alone" / "scores.tsv").read_text().splitlines()
    assert len(json.loads((results / "held.json").read_text())["records"]) == len(rows) - 1
    # More steps: the run goes on from where it stands.
    config["training"] = training | {"options": options.replace("steps=3", "steps=5")}
    code, said = workflow.run("results/run.json", **config)
    assert code == 0, said
    document = json.loads((results / "run.json").read_text())
    assert (document["plan"]["first_step"], document["outcome"]["step"]) == (3, 5)


def test_an_extractor_is_trained_and_its_summaries_are_held_against_references(tmp_path):
    lines = [
        "The keeper of the northern lighthouse trims the lamps before every single dusk.",
        "In conclusion, ships that pass the cape count the flashes and know where they are.",
        "A storm in the last week of autumn broke two windows and drowned the log book.",
    ]
    orders = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)]
    rows = [{"id": f"d{n}", "text": " ".join(lines[i] for i in o), "abstract": lines[1]} for n, o in enumerate(orders)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    workflow = Workflow(tmp_path)
    code, said = workflow.longseq("oracle", "data.jsonl", "--out", "labels.jsonl", "-q")
    assert code == 0, said
    options = "--task extract --labels labels.jsonl --set layers=0 --set held_out=0.3"
    inputs = ["data.jsonl"]
    config = {
        "training": {"inputs": inputs, "files": ["labels.jsonl"], "out": "run", "options": options},
        "evaluation": {"inputs": inputs, "references": "data.jsonl", "options": "--sentences 1", "out": "held"},
    }
    code, said = workflow.run(**config)
    assert code == 0, said
    found = {row["system"]: row["rouge"] for row in json.loads((tmp_path / "held.json").read_text())["systems"]}
    assert found["summaries"]["rougeLsum"]["f"]["value"] == 1.0 > found["lead"]["rougeLsum"]["f"]["value"]
    assert re.search(r"^ *summaries +1\.000", (tmp_path / "held.txt").read_text(), re.MULTILINE)


def test_vectors_are_one_file(tmp_path):
    batch = {"inputs": ["awkward.fa"], "command": "embed", "options": "--window 50", "out": "vectors.parquet"}
    workflow = Workflow(tmp_path, data=["awkward.fa"])
    code, said = workflow.run(batch=batch | {"shards": 2})
    assert code == 0, said
    code, said = workflow.longseq("embed", "awkward.fa", "--window", "50", "--threads", "1", "--out", "alone.parquet")
    assert code == 0, said
    assert (tmp_path / "vectors.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()
