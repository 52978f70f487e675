"""What rules share: the files that a configuration names, and options as words of a command line."""

import shlex
from glob import glob
from pathlib import Path

TARGETS = []
"""What `all` asks for; each file of rules adds its own."""


def words(text):
    """Options as they are written in a configuration, each quoted where the shell would read more into it."""
    return shlex.join(shlex.split(text))


def named(inputs):
    """The files and folders that inputs name, patterns among them: what Snakemake watches. longseq itself is told the
    inputs as they stand, so that a thousand files do not make a command line that is too long."""
    found = []
    for name in inputs:
        matches = sorted(glob(name, recursive=True)) if set("*?[") & set(name) and not Path(name).exists() else [name]
        if not matches:
            raise WorkflowError(f"inputs: no file matches {name}")
        found += matches
    return found


def resources_of(section):
    """Memory and time of a job of this section; what is given in a profile or with --set-resources counts more."""
    return {"mem_mb": section["mem_mb"], "runtime": section["minutes"]}
