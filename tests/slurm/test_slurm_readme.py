"""What pipelines/slurm/README.md says is done, as it stands there; shards that a model reads are the whole."""

import re

import pytest
from scripts import LONGSEQ, SCRIPTS, Scripts, contigs
from workflows import bytes_of

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


def test_its_commands_work(slurm, tmp_path):
    scripts = Scripts(tmp_path, LONGSEQ)
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
    assert len(bytes_of(tmp_path / "single")) > 3 and bytes_of(tmp_path / "summary") == bytes_of(tmp_path / "single")
