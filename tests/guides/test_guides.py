"""Each command of README and guides runs as it stands there, and says what the guide shows.

A guide is a sequence: its blocks run one after the other, in bash and Python, in a folder with data/ and pipelines/ of
the project and what its reader brings along (`guide_inputs`). Times and sizes are made smaller, as the tables here say.
"""

import os
import re
import subprocess
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path

import pytest
from guide_blocks import blocks, commands, missing, script
from guide_inputs import CUT, INPUTS, cut
from guide_programs import Programs

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "pipelines" / "guides").glob("*.md"))]
WHOLE = ("first-ten-minutes", "annotate-a-bacterial-assembly")
"""Guides that read the project's data uncut."""
EXACT = (*WHOLE, "summarize-a-shelf-of-pdfs")
"""Guides whose figures are compared, where no command was made shorter; else, less being read, their places alone."""

ENCODER = """\
import longseq, torch
encoder = longseq.load("dna").model.encoder
ids = chunk = torch.ones(1, 64, dtype=int)
"""
BEFORE = {"encoder(ids)": ENCODER}
"""What stands above a block of Python that speaks of things which it has no room to make."""

STEPS = "--device cpu --set batch=256 --set data.window=64 --set evaluation.tokens=512 --set steps=2"
SHAPE = "--set model.width=16 --set model.layers=1 --set model.heads=2"


def stages(name):
    return f"--set {name}.steps=2 --set {name}.batch=512"


STORY = (
    "width=16 heads=2 layers=1 lengths=[8,32] jobs=1 reach.farthest=8 reach.examples=2 addition.digits=1 "
    "addition.steps=2 addition.batch=8 bases.steps=2 bases.window=32 bases.scored=64"
)
SHORTER = {
    r"^python3 -m venv .*": "true",  # .ci/run runs these lines, as README has them
    r"longseq train (?=.*--from )": f"longseq train {STEPS} ",
    r"--task extract": "--task extract --set layers=0",
    r"longseq train (?!--device|.*extract)": f"longseq train {STEPS} {SHAPE} ",
    r"--set data.window=65536 --set batch=131072": "--set data.window=64 --set batch=256",
    r"--exclude held.jsonl": f"--exclude held.jsonl --no-report --threads 1 {stages('transfer')} {stages('distil')}",
    r"--texts books/": f"--texts books/ --threads 1 {stages('opening')}",
    r"--nproc-per-node 4": "--nproc-per-node 2",
    r"--jobs \d": "--jobs 2",
    r"bench --budget 60": "bench --budget 60 --length 64 --mixer linear --repeats 1",
    r"compare --quick": "compare --quick --models rnn,linear --set " + STORY.replace(" ", " --set "),
    r"attention dna": "attention dna --tokens 16",
    r"T4.gbff.gz --out t4/": "T4.gbff.gz --out t4/ --region NC_000866:1-20000",  # .ci/run compares the whole
    r"check dna": "check dna --length 64",
}
"""What a command is made of here, by pattern."""


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    with Programs(tmp_path_factory.mktemp("bin")) as programs:
        programs.wait()
        yield programs


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The project's data, its genomes cut short."""
    folder = tmp_path_factory.mktemp("small")
    for path in (ROOT / "data").iterdir():
        if path.name in CUT:
            cut(path, folder / path.name, CUT[path.name])
        else:
            (folder / path.name).symlink_to(path)
    return folder


def prepared(folder, data, text):
    """The folder with all that a guide names."""
    (folder / "data").symlink_to(data)
    (folder / "pipelines").symlink_to(ROOT / "pipelines")
    words = set(re.findall(r"[\w.*-]+", text))
    for name, make in INPUTS.items():
        if any(fnmatch(Path(name).parts[0], word) for word in words if word != "*"):
            (folder / name).parent.mkdir(exist_ok=True)
            make(folder / name)


@pytest.mark.parametrize("guide", PAGES, ids=lambda path: path.stem)
def test_its_commands_do_what_it_says(guide, programs, small, tmp_path):
    found = blocks(guide.read_text(encoding="utf-8"))
    assert found
    prepared(tmp_path, ROOT / "data" if guide.stem in WHOLE else small, "\n".join(block.code for block in found))
    environment = os.environ | {"PATH": f"{programs.folder}:{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    for block in found:
        exact = guide.stem in EXACT
        if block.language == "sh":
            code = script(block.code, SHORTER)
            exact &= code == script(block.code, {})
        else:
            code = "".join(lines for word, lines in BEFORE.items() if word in block.code) + block.code
        (tmp_path / "block").write_text(code)
        line = ["bash" if block.language == "sh" else "python", "block"]
        ran = subprocess.run(
            line,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
        )
        said = ran.stdout
        assert ran.returncode == 0, f"{block.code}\n{said}"
        absent = missing(block.says, said, exact)
        assert absent is None, f"{absent}\n\nis not in\n\n{said}"


def test_what_is_sent_to_a_cluster_is_tried_on_one():
    """Here sbatch runs tasks one after the other; pytest -m slurm sends the same lines of that page to a SLURM."""
    tried = (ROOT / "pipelines" / "slurm" / "README.md").read_text(encoding="utf-8").splitlines()
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            assert [line for line in commands(block.code) if "sbatch" in line and line not in tried] == []


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", *(ROOT / "pipelines").rglob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link.split("#")[0]).exists(), f"{page.name}: {link}"
