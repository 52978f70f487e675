"""A command that is disturbed, what it leaves, and what comes of it when it is run again."""

import itertools
import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass

import pytest
from disturbed_commands import contents
from disturbed_runs import TEMPORARY

OF_TORCH = "torchinductor_"
"""A folder that torch makes in TMPDIR when it is imported to train, one for all processes of a user."""
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")
PAST = 1.1
"""How far behind the end of an undisturbed run it is still sent signals, as a share of its time."""
COMMANDS = ("summarize DNA", "summarize document", "annotate", "embed", "train")
"""Those that are killed at random."""


def few(ordinary, slow):
    """Names to try, of which some are left to the slow tests: each run of a model takes seconds."""
    return [*ordinary, *(pytest.param(name, marks=pytest.mark.slow) for name in slow)]


@dataclass
class Whole:
    """A run that nothing disturbed."""

    contents: dict
    steps: list
    """What it did to its output, in order; see `meddling.py`."""


@dataclass
class Trial:
    """One that something did, and what was wrong with what it left or with the run after it."""

    where: str
    code: int
    said: str
    partial: list
    """Names of its output that were not as in the whole."""
    differs: list
    """The same, after it was run again."""
    other: list
    """What else was wrong, in words."""
    stood: bool
    """Its output was there, whole, after it was disturbed."""

    @property
    def wrong(self):
        return self.partial or self.differs or self.other


class Trials:
    def __init__(self, runner, commands, folder):
        self.runner, self.commands, self._folder = runner, commands, folder
        self._numbers, self._whole = itertools.count(), {}

    def folder(self):
        return self._folder / f"trial-{next(self._numbers)}"

    def whole(self, name):
        if name not in self._whole:
            command, folder = self.commands[name], self.folder()
            steps = folder.with_suffix(".steps")
            ended = self.runner.start(command.line(), folder, steps=str(steps)).end()
            assert (ended.code, ended.err) == (0, ""), (ended.code, ended.err)
            assert sorted(left(command, folder)) == []
            self._whole[name] = Whole(contents(folder / command.out), steps.read_text().splitlines())
        return self._whole[name]

    def at_step(self, name, number, act, *, on=False):
        """Disturbed before the n-th step of its output, from 1: by a signal, or by an error of the system."""
        folder, whole = self.folder(), self.whole(name)
        ended = self.runner.start(self.commands[name].line(), folder, at=number, act=act, on=on).end()
        where = whole.steps[number - 1] if number <= len(whole.steps) else "its end"
        return self.judged(name, folder, ended, act, f"{act} before step {number}, {where}")

    def after(self, name, seconds, act, runner=None):
        """Sent a signal after so many seconds, if it is there still."""
        folder = self.folder()
        self.whole(name)
        running = (runner or self.runner).start(self.commands[name].line(), folder)
        time.sleep(seconds)
        running.send(act)
        return self.judged(name, folder, running.end(), act, f"{act} after {seconds:.3f} s")

    def stopped(self, line, folder, at, **meddling):
        """One that stands still before a step of its output, or of its reading of an input; None where it ended."""
        running = self.runner.start(line, folder, at=at, act="SIGSTOP", **meddling)
        return running if running.stopped() else None

    def judged(self, name, folder, ended, act, where):
        """Look at what is left, run it again, and look once more."""
        command, whole = self.commands[name], self.whole(name).contents
        path = folder / command.out / command.final if command.final else folder / command.out
        wanted = {file: said for file, said in whole.items() if file.startswith(f"{command.out}/{command.final}")}
        wanted = wanted if command.final else whole
        here = {str((path.parent / file).relative_to(folder)): said for file, said in contents(path).items()}
        # A table is whole without its index, which the run after it adds.
        due = [file for file in wanted if file in here or not file.endswith((".tbi", ".csi"))] if here else []
        partial = [file for file in due if here.get(file) != wanted[file]]
        trial = Trial(where, ended.code, ended.err, partial, [], [], stood=bool(here) and not partial)
        trial.other += wrongly_said(command, ended, act, stood=trial.stood)
        rest = left(command, folder)
        if act != "SIGKILL" and not (command.resume and rest == [f".{command.out}.partial"]):
            trial.other += [f"left {file}" for file in rest]
        if not here or command.resume:
            again = self.runner.start(command.line(*["--resume"] * command.resume), folder).end()
            if (again.code, again.err) != (0, ""):
                trial.other.append(f"run again it ended with {again.code}: {again.err}")
            found = contents(folder / command.out)
            trial.differs = sorted(file for file in {*whole, *found} if found.get(file, "-") != whole.get(file, "-"))
            trial.other += [f"left by the run after it: {file}" for file in left(command, folder) if file not in rest]
            trial.other += [f"left for ever: {file}" for file in left(command, folder) if file.endswith(".partial")]
        if not trial.wrong:
            shutil.rmtree(folder)
        return trial

    def killed(self, number, seed, names=COMMANDS, other=None):
        """So many random kills: of each command in turn, by each signal, at moments spread evenly over its time; every
        fifth of them by the runner `other`. Yields the name, the signal and the trial."""
        draw, took = random.Random(seed), {}
        each = -(-number // len(names))
        moments = {name: draw.sample([(n + draw.random()) / each for n in range(each)], each) for name in names}
        for n in range(number):
            name, act = names[n % len(names)], draw.choice(SIGNALS)
            runner = other if other is not None and n // len(names) % 5 == 4 else self.runner
            if (name, runner) not in took:
                started = time.monotonic()
                runner.start(self.commands[name].line(), self.folder()).end()
                took[name, runner] = time.monotonic() - started
            seconds = moments[name][n // len(names)] * PAST * took[name, runner]
            yield name, act, self.after(name, seconds, act, runner)


def wrongly_said(command, ended, act, *, stood):
    """What is wrong with the exit code and with stderr."""
    codes = {"SIGKILL": {-9}, "SIGTERM": {143} | ({85} if command.resume else set()), "SIGINT": {130}}.get(act, {1, 2})
    lines, wrong = ended.err.splitlines(), []
    if ended.code == 0 and stood:
        codes, allowed = {0}, 0
    elif ended.code in (-2, -15):  # it had not begun, or was over
        codes, allowed = {{"SIGINT": -2, "SIGTERM": -15}.get(act)}, 0
    else:
        allowed = int(act != "SIGKILL")
    if ended.code not in codes:
        wrong.append(f"ended with {ended.code}")
    if len(lines) != allowed or not all(line.startswith("longseq: ") for line in lines) or "internal" in ended.err:
        wrong.append(f"said {ended.err!r}")
    return wrong


def left(command, folder):
    """Names of what lies there beside the output, and where temporary files are."""
    beside = [file.name for file in folder.iterdir() if not file.name.startswith(command.out)]
    beside.remove(TEMPORARY)
    spools = [file.name for file in (folder / TEMPORARY).iterdir() if not file.name.startswith(OF_TORCH)]
    return sorted(beside + [f"{TEMPORARY}/{name}" for name in spools])


def tally(trials):
    """Rows of (command, signal): kills, of them ended before, partial outputs, differences, other faults."""
    rows = {}
    for name, act, trial in trials:
        row = rows.setdefault((name, act), Counter())
        row["kills"] += 1
        row["too late"] += trial.code == 0
        row["partial"] += bool(trial.partial)
        row["different"] += bool(trial.differs)
        row["other"] += bool(trial.other)
    return dict(sorted(rows.items()))
