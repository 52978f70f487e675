"""The scripts under pipelines/slurm as a user has them: copied, and their site settings edited."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "pipelines" / "slurm"


class Scripts:
    """A copy of the scripts under `folder`, whose jobs find `command`, a shell script, under the name longseq."""

    def __init__(self, folder, command, **settings):
        self.work, self.folder = folder, folder / "scripts"
        shutil.copytree(SCRIPTS, self.folder)
        (folder / "bin").mkdir()
        program = folder / "bin" / "longseq"
        program.write_text(f"#!/bin/bash\n{command}\n")
        program.chmod(0o755)
        self.add(f"longseq_environment() {{ PATH={folder}/bin:$PATH; }}")
        for name, value in settings.items():
            self.add(f"export {name}={value}")

    def add(self, line):
        """A line to the settings of the site."""
        with open(self.folder / "site.sh", "a") as site:
            site.write(f"{line}\n")

    def submit(self, slurm, options, script, *words, **environment):
        """The id of a job: the script, with options of sbatch, from a shell that has read the settings."""
        line = '. "$1/site.sh" && shift && sbatch --parsable "$@"'
        said = (str(self.folder), "--chdir", str(self.work), *options.split(), str(self.folder / script), *words)
        return slurm.run("bash", "-c", line, "-", *said, **environment)


def python(*words):
    """A shell script that runs a program of this Python, with the package that is tested."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return f'PYTHONPATH={path} exec {sys.executable} {" ".join(words)} "$@"'


LONGSEQ = python("-c 'import sys; from longseq.cli import main; sys.exit(main(sys.argv[1:]))'")
"""The command itself."""


def contigs(file, number, length):
    """So many records of so many random bases each."""
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).integers(0, 4, (number, length))]
    file.write_text("".join(f">contig{n}\n{row.tobytes().decode()}\n" for n, row in enumerate(letters)))
