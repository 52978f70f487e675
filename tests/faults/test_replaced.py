"""What stands already and is made anew with `--force`: the old one or the new one stands whole, whatever happens."""

import random
import shutil
from pathlib import Path

import pytest
from disturbed_commands import contents
from fault_trials import few, left, wrongly_said

NAMES = ("summarize document", "summarize DNA", "annotate", "annotate genes", "embed", "score", "classify", "variants")


def older(trials, name):
    """A folder with an output of other input, and what it holds."""
    command, folder = trials.commands[name], trials.folder()
    given = Path(command.arguments[1])
    other = folder / "before" / given.name
    other.parent.mkdir(parents=True)
    lines = given.read_text().splitlines(keepends=True)
    other.write_text("".join(lines[: len(lines) // 2]))
    words = [str(other) if word == str(given) else word for word in command.line()]
    ended = trials.runner.start(words, folder).end()
    assert (ended.code, ended.err) == (0, "")
    shutil.rmtree(other.parent)
    return folder, contents(folder / command.out)


def replaced(trials, name, number, act):
    """What is wrong after `--force` was disturbed before the n-th step of its output, and after it was run again."""
    command, new = trials.commands[name], trials.whole(name).contents
    folder, old = older(trials, name)
    assert old != new
    ended = trials.runner.start(command.line("--force"), folder, at=number, act=act).end()
    found = contents(folder / command.out)
    wrong = wrongly_said(command, ended, act, stood=found == new)
    if found not in (old, new, *bare(old, new)):
        wrong.append(f"neither the old one nor the new one stands: {sorted(found)}")
    rest = left(command, folder)
    if act != "SIGKILL" and not (command.resume and rest == [f".{command.out}.partial"]):
        wrong += [f"left {file}" for file in rest]
    again = trials.runner.start(command.line("--force"), folder).end()
    if (again.code, again.err) != (0, "") or contents(folder / command.out) != new:
        wrong.append(f"run again it ended with {again.code}: {again.err}")
    wrong += [
        f"left by the run after it: {file}" for file in left(command, folder) if file not in rest or "part" in file
    ]
    if not wrong:
        shutil.rmtree(folder)
    return wrong


def bare(*outputs):
    """Of a table with an index the table alone: the two are named one after the other, and each is whole."""
    return [{name: said for name, said in one.items() if not name.endswith((".tbi", ".csi"))} for one in outputs]


def steps(trials, name):
    """Of a run that replaces, how many it has."""
    command = trials.commands[name]
    folder, _ = older(trials, name)
    log = folder.with_suffix(".steps")
    trials.runner.start(command.line("--force"), folder, steps=str(log)).end()
    shutil.rmtree(folder)
    return log.read_text().splitlines()


@pytest.mark.parametrize("name", few(["summarize document"], NAMES[1:]))
@pytest.mark.parametrize("act", ["SIGKILL", "SIGTERM", "ENOSPC"])
def test_at_a_random_step(trials, name, act):
    done = steps(trials, name)
    number = random.Random(f"{name} {act}").randrange(len(done)) + 1
    assert replaced(trials, name, number, act) == [], done[number - 1]


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("act", ["SIGKILL", "SIGTERM", "ENOSPC"])
def test_at_every_step(trials, name, act):
    done = steps(trials, name)
    found = {(n, step): replaced(trials, name, n, act) for n, step in enumerate(done, 1)}
    assert {place: wrong for place, wrong in found.items() if wrong} == {}
