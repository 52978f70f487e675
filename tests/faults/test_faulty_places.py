"""A disk that fills up, a folder that can no more be written to, another run in the same place, nobody who reads."""

import os
import random
import shutil
import subprocess
import sys

import pytest
from disturbed_commands import contents
from disturbed_runs import ROOT, START
from fault_trials import few, left


def naming(trials, command):
    """The step by which its output takes its name."""
    steps = enumerate(trials.whole(command.name).steps, 1)
    return next(n for n, step in steps if step.startswith(("link ", "rename ")) and step.endswith(f" {command.out}"))


MOST = {
    "summarize DNA": 500, "summarize document": 9_000, "annotate": 2_000, "embed": 2_000, "score": 1_000,
    "classify": 300, "variants": 400,
}  # fmt: skip
"""Bytes that no file may pass, of each command."""


@pytest.mark.parametrize("name", few(["summarize document"], sorted(MOST.keys() - {"summarize document"})))
def test_no_file_may_grow_so_long(trials, name):
    folder, most = trials.folder(), MOST[name]
    ended = trials.runner.start(trials.commands[name].line(), folder, largest=most).end()
    trial = trials.judged(name, folder, ended, "EFBIG", f"files of {most} bytes")
    assert ended.code == 1 and "make room" in ended.err and not trial.wrong, trial


@pytest.mark.parametrize("name", few(["summarize document"], ["embed", "annotate"]))
def test_a_folder_that_becomes_read_only(trials, name):
    """Every step from there on is refused; nothing can be removed either, so what was written aside stays."""
    steps = len(trials.whole(name).steps)
    trial = trials.at_step(name, random.Random(name).randrange(2, steps), "EROFS", on=True)
    trial.other = [what for what in trial.other if not what.startswith("left ")]
    assert not trial.wrong and (trial.stood or "Read-only file system" in trial.said), trial


def test_a_folder_without_permission_in_truth(trials):
    name = "summarize document"
    folder, command = trials.folder(), trials.commands[name]
    with locked_while_it_stands(trials, command, folder) as running:
        pass
    ended = running.end()
    assert ended.code == 2 and ended.err.count("\n") == 1 and "cannot be written" in ended.err and "give" in ended.err
    assert not (folder / command.out).exists()
    assert trials.runner.start(command.line(), folder).end().code == 0
    assert contents(folder / command.out) == trials.whole(name).contents


class locked_while_it_stands:  # noqa: N801 - a context manager
    """Just before its output takes its name nothing can be named in the folder: by permission, or of root, who has all
    of them, by an attribute of the file system."""

    def __init__(self, trials, command, folder):
        self.folder = folder
        self.running = trials.stopped(command.line(), folder, naming(trials, command))

    def __enter__(self):
        if os.geteuid() == 0:
            done = (
                subprocess.run(["chattr", "+i", str(self.folder)], capture_output=True)
                if shutil.which("chattr")
                else None
            )
            if done is None or done.returncode:
                self.running.send("SIGKILL")
                self.running.send("SIGCONT")
                self.running.end()
                pytest.skip("root may write everywhere, and the file system has no attribute that forbids it")
        else:
            self.folder.chmod(0o555)
        return self.running

    def __exit__(self, *_):
        self.running.send("SIGCONT")
        self.running.ended = self.running.end()
        self.running.end = lambda: self.running.ended
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", str(self.folder)], check=True)
        else:
            self.folder.chmod(0o755)


@pytest.mark.parametrize("name", few(["summarize document"], ["embed"]))
def test_two_runs_into_one_place(trials, name):
    """The first one there stays."""
    folder, command = trials.folder(), trials.commands[name]
    first = trials.stopped(command.line(), folder, naming(trials, command))
    second = trials.runner.start(command.line(), folder).end()
    assert (second.code, second.err) == (0, "")
    first.send("SIGCONT")
    ended = first.end()
    assert ended.code == 2 and "exists already" in ended.err and ended.err.count("\n") == 1
    assert contents(folder / command.out) == trials.whole(name).contents and left(command, folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["annotate", "score"])
def test_two_runs_that_could_be_resumed_into_one_place(trials, name):
    """The second one is refused."""
    folder, command = trials.folder(), trials.commands[name]
    steps = trials.whole(name).steps
    begun = next(n for n, step in enumerate(steps, 1) if "run.json" in step and step.startswith("link"))
    first = trials.stopped(command.line(), folder, random.Random(name).randrange(begun + 1, len(steps)))
    second = trials.runner.start(command.line("--resume"), folder).end()
    first.send("SIGCONT")
    ended = first.end()
    assert second.code == 2 and "another run" in second.err and second.err.count("\n") == 1
    assert (ended.code, ended.err) == (0, "")
    assert contents(folder / command.out) == trials.whole(name).contents and left(command, folder) == []


@pytest.mark.parametrize("name", few(["summarize document"], ["score"]))
def test_nobody_reads_what_is_printed(trials, name):
    folder, command = trials.folder(), trials.commands[name]
    ended = trials.runner.start(command.line(), folder, deaf=True).end()
    assert (ended.code, ended.err) == (0, "")
    assert contents(folder / command.out) == trials.whole(name).contents and left(command, folder) == []


def test_head_has_had_enough(given, tmp_path):
    """To the very end of Python."""
    inputs = given["embed"].arguments[1]
    run = f"'{sys.executable}' -c '{START}' summarize '{inputs}' --no-model --format jsonl"
    script = f"{run} | head -n 1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    first, code = ended.stdout.splitlines()
    assert first.startswith("{") and (code, ended.stderr) == ("0", "")


@pytest.mark.slow
def test_a_disk_that_is_full(given, tmp_path):
    """A real one, of half a megabyte, in a name space of its own."""
    command = given["embed"]
    run = f"'{sys.executable}' -c '{START}' " + " ".join(map(str, command.line()))
    script = f"""
        mount -t tmpfs -o size=512k none disk || exit 77
        cd disk; export TMPDIR=$PWD; cat /dev/zero 2> /dev/null > taken
        {run}; echo $? > ../code; ls -A > ../left
        rm taken; {run}; echo $? > ../again; cp out ../whole
    """
    (tmp_path / "disk").mkdir()
    ended = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "bash", "-c", script],
        capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if ended.returncode == 77 or "unshare" in ended.stderr:
        pytest.skip("nothing may be mounted here")
    assert (tmp_path / "code").read_text() == "1\n" and (tmp_path / "left").read_text() == "taken\n"
    assert "No space left on device" in ended.stderr and ended.stderr.count("\n") == 1
    assert (tmp_path / "again").read_text() == "0\n" and (tmp_path / "whole").stat().st_size > 0
