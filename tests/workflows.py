"""The Snakemake workflow as a user has it: a folder with inputs and a configuration, and a profile."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / "pipelines" / "snakemake"


class Workflow:
    """Runs in `folder`, under `profile`, of the package that is tested."""

    def __init__(self, folder, profile="local", *, data=(), environment=None):
        self.folder, self.profile, self.environment = folder, profile, dict(environment or {})
        for name in data:
            shutil.copy(ROOT / "data" / name, folder)
        program = folder / "bin" / "longseq"
        program.parent.mkdir()
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        line = "from longseq.cli import main; raise SystemExit(main())"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -c "{line}" "$@"\n')
        program.chmod(0o755)
        path = self.environment.get("PATH", os.environ["PATH"])
        self.environment |= {"PATH": f"{folder}/bin{os.pathsep}{path}", "OMP_NUM_THREADS": "1"}

    def run(self, *words, **config):
        """Exit code and all that Snakemake says, of a run with these sections in the configuration."""
        file = self.folder / "config" / "config.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(config))  # which is YAML as well
        told = ("-s", WORKFLOW / "workflow" / "Snakefile", "--profile", WORKFLOW / "profiles" / self.profile)
        return self._said(sys.executable, "-m", "snakemake", *map(str, told), *words)

    def longseq(self, *words):
        """The same of the command itself."""
        return self._said(str(self.folder / "bin" / "longseq"), *words)

    def _said(self, *words):
        found = subprocess.run(
            words,
            cwd=self.folder,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return found.returncode, found.stdout


def bytes_of(folder):
    """The files of a summary, without what differs by nature: run.json, and `run` in summary.json."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop(".snakemake_timestamp", None)  # Snakemake's mark in a folder of its making
    assert found.pop("run.json")
    summary = json.loads(found["summary.json"])
    said = json.dumps(summary.pop("run"), ensure_ascii=False).encode()
    assert found["summary.json"].count(said) == 1
    found["summary.json"] = found["summary.json"].replace(said, b"")
    return found
