"""One command in one process, in shards and in jobs; and inputs that have all that can be wrong."""

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

from longseq.cli import main

WITHOUT_TORCH = "import sys; sys.modules['torch'] = None; from longseq.cli import main; sys.exit(main(sys.argv[1:]))"
"""A program in which importing torch raises, as on a login node that has none."""


def letters(length, seed=0, alphabet="ACGTACGTACGTNRacgt"):
    return "".join(random.Random(seed).choices(alphabet, k=length))


def records(*lengths, name="r"):
    return "".join(f">{name}{i} d\n{letters(n, 100 * i + n)}\n" for i, n in enumerate(lengths))


def mixed(folder):
    """Files with long and short records, an empty one, one that cannot be read, two of one name, and no file."""
    (folder / "a.fa").write_text(records(300, 9000, 0, 40) + records(70, 200, name="r"))
    bad = records(500, 64, name="b") + ">bad\nACGT!ACGT\n" + records(1200, 90, 30, name="c")
    (folder / "b.fa.gz").write_bytes(gzip.compress(bad.encode()))
    (folder / "c.fq").write_text("".join(f"@q{n}\n{letters(n, n, 'ACGT')}\n+\n{'I' * n}\n" for n in (10, 4000, 25)))
    return [str(folder / name) for name in ("a.fa", "b.fa.gz", "gone.fa", "c.fq")]


def contents(path):
    """Bytes by name of what a run left; of JSON documents what they say, but for what made them."""
    path = Path(path)
    found = {}
    for file in [path, *path.parent.glob(f"{path.name}.*")] if path.is_file() else sorted(path.rglob("*")):
        name = str(file.relative_to(path.parent))
        if file.suffix == ".json" and file.name != "run.json":
            found[name] = {key: value for key, value in json.loads(file.read_text()).items() if key != "run"}
        elif file.is_file() and file.name != "run.json":
            found[name] = file.read_bytes()
    return found


def merged_without_torch(*arguments):
    """Exit code, stdout and stderr of `longseq merge`, where there is no torch."""
    line = [sys.executable, "-c", WITHOUT_TORCH, "merge", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Runs:
    """Runs a command line of its own into `out`; each gives the exit code, what was said and what was left. Quiet, lest
    one that takes long says so."""

    def __init__(self, capsys, folder, *arguments, out="out", talk=("-q",)):
        self._capsys, self._folder, self._arguments, self._out = capsys, folder, list(map(str, arguments)), out
        self._talk = talk

    def _run(self, *arguments):
        self._capsys.readouterr()
        code = main([*map(str, arguments), *self._talk])
        return code, self._capsys.readouterr()

    def _place(self, name):
        (self._folder / name).mkdir()
        return self._folder / name / self._out

    def _found(self, out, code, said):
        return code, said.out.replace(str(out), "OUT"), sorted(said.err.splitlines()), contents(out)

    def one(self):
        out = self._place("one")
        return self._found(out, *self._run(*self._arguments, "--out", out))

    def jobs(self, number):
        out = self._place(f"jobs-{number}")
        return self._found(out, *self._run(*self._arguments, "--jobs", number, "--out", out))

    def shards(self, of):
        """The last one first: none depends on another."""
        batch, out = self._folder / f"batch-{of}", self._place(f"merged-{of}")
        for number in range(of, 0, -1):
            code, said = self._run(*self._arguments, "--shard", f"{number}/{of}", "--out", batch)
            assert code in (0, 3), said.err
        return self._found(out, *self._run("merge", batch, "--out", out))

    def without_torch(self, of):
        """Those that `shards` made, merged again where there is no torch."""
        out = self._place(f"alone-{of}")
        code, said, faults = merged_without_torch(self._folder / f"batch-{of}", "--out", out, *self._talk)
        return code, said.replace(str(out), "OUT"), sorted(faults.splitlines()), contents(out)

    def shard(self, text, *more, out="batch"):
        """One alone: exit code and what was said."""
        return self._run(*self._arguments, "--shard", text, "--out", self._folder / out, *more)
