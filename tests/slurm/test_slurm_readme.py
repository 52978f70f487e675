"""What pipelines/slurm/README.md says is done, as it stands there; shards that a model reads are the whole."""

import re

import pytest
from scripts import SCRIPTS, Scripts, contigs, python, written

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]
RUN = """\
inputs = ["genomes/1.fa"]
steps = 3
batch = 256
[model]
width = 16
layers = 1
heads = 2
[data]
window = 64
[evaluation]
tokens = 1000
"""
COMMAND = "-c 'import sys; from longseq.cli import main; sys.exit(main(sys.argv[1:]))'"


def test_its_commands_work(slurm, tmp_path):
    scripts = Scripts(tmp_path, python(COMMAND))
    (tmp_path / "pipelines").mkdir()
    scripts.folder.rename(tmp_path / "pipelines" / "slurm")
    (tmp_path / "genomes").mkdir()
    contigs(tmp_path / "genomes" / "1.fa", 8, 2000)
    contigs(tmp_path / "genomes" / "2.fa", 3, 5000)
    (tmp_path / "run.toml").write_text(RUN)
    blocks = re.findall(r"^```sh\n(.*?)^```", (SCRIPTS / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    for block in (*blocks, "longseq summarize genomes/ --out single/"):
        slurm.run("bash", "-ec", f"cd {tmp_path}; PATH={tmp_path}/bin:$PATH\n{block}")
        slurm.until(lambda: not slurm.run("squeue", "--noheader"), 240)
    assert (tmp_path / "run/model/model.safetensors").exists()
    assert len(written(tmp_path / "single")) > 3 and written(tmp_path / "summary") == written(tmp_path / "single")
