"""What could stand in place of the last, unfinished word of a command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import click

from longseq.cli.completion.values import Asked, Candidate, values


@dataclass
class Line:
    """What the finished words say."""

    command: click.Command
    context: click.Context
    options: dict[str, list[str]] = field(default_factory=dict)
    """Values of options by the name of their parameter; of flags none."""
    operands: list[str] = field(default_factory=list)
    waiting: click.Option | None = None
    """The option whose value comes next."""
    only_operands: bool = False
    """Behind `--`."""


def answer(group: click.Group, words: Sequence[str]) -> int:
    """Print `kind TEXT HELP` of each candidate, parted by tabs; the exit code."""
    for one in candidates(group, words):
        click.echo("\t".join((one.kind, one.text, " ".join(one.help.split()))))
    return 0


def candidates(group: click.Group, words: Sequence[str]) -> Iterator[Candidate]:
    """All that fit `words`, of which the last is not finished, and may be empty."""
    *finished, current = words or [""]
    line = _read(group, finished)
    if line.waiting is not None:
        found, before = _values(line, line.waiting, current), ""
    elif current.startswith("-") and not line.only_operands:
        name, equals, value = current.partition("=")
        option = _options(line).get(name)
        if equals and option is not None and not option.is_flag:
            found, before = _values(line, option, value), f"{name}="
        else:
            found, before = _names(line), ""
    elif isinstance(line.command, click.Group):
        found, before = _commands(line), ""
    else:
        argument = _argument(line)
        if argument is None:
            return
        found, before = _values(line, argument, current), ""
    for one in dict.fromkeys(found):
        if one.kind in ("file", "dir") or f"{before}{one.text}".startswith(current):
            yield Candidate(f"{before}{one.text}" if one.text else "", one.help, one.kind)


def _read(group: click.Group, words: Sequence[str]) -> Line:
    line = Line(group, click.Context(group, info_name="longseq"))
    for word in words:
        if line.waiting is not None:
            line.options[line.waiting.name or ""].append(word)
            line.waiting = None
        elif word == "--":
            line.only_operands = True
        elif word.startswith("-") and word != "-" and not line.only_operands:
            name, equals, value = word.partition("=")
            option = _options(line).get(name)
            if option is not None:
                line.options.setdefault(option.name or "", []).extend([value] * bool(equals))
                line.waiting = None if option.is_flag or equals else option
        elif isinstance(line.command, click.Group):
            found = line.command.commands.get(word) or line.command.get_command(line.context, word)
            if found is not None:
                line.command, line.context = found, click.Context(found, parent=line.context, info_name=word)
        else:
            line.operands.append(word)
    return line


def _values(line: Line, param: click.Parameter, current: str) -> Iterator[Candidate]:
    command = line.context.command_path.removeprefix("longseq ")
    return values(Asked(param, command, line.options, line.operands, current))


def _options(line: Line) -> dict[str, click.Option]:
    found = [param for param in line.command.get_params(line.context) if isinstance(param, click.Option)]
    return {name: option for option in found for name in (*option.opts, *option.secondary_opts)}


def _names(line: Line) -> Iterator[Candidate]:
    """Of the options that can be given yet, long where they have a long one."""
    for name, option in _options(line).items():
        long = name.startswith("--") or not any(other.startswith("--") for other in option.opts)
        if long and not option.hidden and (option.multiple or option.name not in line.options):
            yield Candidate(name, (option.help or "").split("  [")[0])


def _commands(line: Line) -> Iterator[Candidate]:
    from longseq.cli import COMMANDS

    command = line.command
    assert isinstance(command, click.Group)
    for name in command.list_commands(line.context):
        if line.context.parent is None:
            yield Candidate(name, COMMANDS[name])
        elif (found := command.get_command(line.context, name)) is not None:
            yield Candidate(name, found.get_short_help_str(100))


def _argument(line: Line) -> click.Argument | None:
    """That to which the next operand belongs."""
    left = len(line.operands)
    for param in line.command.params:
        if isinstance(param, click.Argument):
            if param.nargs < 0 or left < param.nargs:
                return param
            left -= param.nargs
    return None
