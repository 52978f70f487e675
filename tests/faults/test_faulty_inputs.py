"""Inputs that go away, are cut or get other letters while they are read, and a machine that runs out of memory."""

import os
import random
import shutil
from dataclasses import replace

import pytest
from disturbed_commands import contents
from fault_trials import few, left

NAMES = ("summarize DNA", "summarize document", "annotate", "embed", "score", "classify", "variants")
CHANGED = "changed while it was read; run again once nothing writes to it"


def removed(path):
    path.unlink()


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def changed(path):
    with open(path, "r+b") as file:
        file.seek(-300, os.SEEK_END)
        file.write(b"A" * 9)


def copied(trials, name):
    """The command with an input of its own, which is old, and a folder to run it in."""
    folder = trials.folder()
    folder.mkdir()
    command = trials.commands[name]
    source = command.arguments[1]
    mine = folder.with_name(f"{folder.name}-{os.path.basename(source)}")
    shutil.copy(source, mine)
    os.utime(mine, (0, 1_700_000_000))
    return (
        replace(command, arguments=tuple(str(mine) if word == source else word for word in command.arguments)),
        mine,
        folder,
    )


def reads(trials, name):
    """How often a run reads from its input."""
    command, mine, folder = copied(trials, name)
    steps = folder.with_suffix(".reads")
    assert trials.runner.start(command.line(), folder, reads=str(mine), steps=str(steps)).end().code == 0
    return len(steps.read_text().splitlines())


def disturbed(trials, name, act, at, last):
    command, mine, folder = copied(trials, name)
    running = trials.stopped(command.line(), folder, at, reads=str(mine))
    act(mine)
    running.send("SIGCONT")
    ended = running.end()
    assert left(command, folder) in ([], [f".{command.out}.partial"] if command.resume else [])
    found = contents(folder / command.out)
    if ended.code == 0:
        # It was as it is now, or as it was, from the first letter that was read to the last one.
        assert ended.err == "" and mine.exists() <= (act is not removed)
        again = folder.with_name(f"{folder.name}-again")
        if act is removed:  # once all was read, as nobody then can tell the digest of the file
            shutil.copy(trials.commands[name].arguments[1], mine)
            os.utime(mine, (0, 1_700_000_000))
            running = trials.stopped(command.line(), again, last, reads=str(mine))
            act(mine)
            running.send("SIGCONT")
        else:
            os.utime(mine, (0, 1_700_000_000))
            running = trials.runner.start(command.line(), again)
        assert running.end().code == 0
        assert found == contents(again / command.out)
    else:
        assert ended.code in (1, 3) and (CHANGED in ended.err or (act is removed and "no such file" in ended.err)), (
            ended
        )
        assert all(line.startswith("longseq: ") for line in ended.err.splitlines()) and "internal" not in ended.err
        assert (ended.code == 3) == bool(found)
    return ended.code


@pytest.mark.parametrize("act", few([cut, changed], [removed]))
@pytest.mark.parametrize("name", few(["summarize document"], ["summarize DNA", "embed"]))
def test_at_a_random_read(trials, name, act):
    number = reads(trials, name)
    disturbed(trials, name, act, random.Random(f"{name} {act.__name__}").randrange(1, number + 1), number)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    # A table of variants that is gone is kept as a pipe is, and then has no digest.
    ("name", "act"),
    [(name, act) for name in NAMES for act in (removed, cut, changed) if (name, act) != ("variants", removed)],
)
def test_at_every_read(trials, name, act):
    number = reads(trials, name)
    codes = [disturbed(trials, name, act, at, number) for at in range(1, number + 1)]
    assert len(codes) > 5


@pytest.mark.parametrize("name", few(["summarize document"], ["embed", "summarize DNA"]))
def test_memory_that_runs_out_on_the_way(trials, name):
    no_more(trials, name, 4 << 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mib", [0, 2, 8, 20, 40, 80])
def test_memory_that_runs_out(trials, name, mib):
    no_more(trials, name, mib << 20)


def no_more(trials, name, memory):
    folder = trials.folder()
    ended = trials.runner.start(trials.commands[name].line(), folder, memory=memory).end()
    trial = trials.judged(name, folder, ended, "ENOMEM", f"{memory:,} bytes")
    assert not trial.wrong and (ended.code == 0 or "memory" in ended.err), trial
