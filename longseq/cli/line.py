"""A command line as a result's bytes may hold it."""

from __future__ import annotations

import shlex
from collections.abc import Collection

import click
from click.core import ParameterSource

WAYS = ("out", "npy", "force", "resume", "style", "as_json", "shard", "jobs", "quiet", "verbose", "debug")
"""Parameters that say where results go, what is printed and how the work is done, and change nothing in the files."""


def request_line(context: click.Context) -> str:
    """The command with its inputs and the options that were given, in the order of its help, but for `WAYS`: equal in
    all runs that are to give the same bytes."""
    return shlex.join(["longseq", context.info_name or "", *inputs_of(context), *options_of(context, WAYS)])


def inputs_of(context: click.Context) -> list[str]:
    """The arguments that are no options, as they were given."""
    found: list[str] = []
    for param in context.command.params:
        value = context.params.get(param.name or "")
        if isinstance(param, click.Argument) and value is not None:
            found += value if isinstance(value, list | tuple) else [value]
    return found


def options_of(context: click.Context, without: Collection[str]) -> list[str]:
    """The options that were given, but for some by name."""
    found: list[str] = []
    for param in context.command.params:
        name = param.name or ""
        given = context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
        if not isinstance(param, click.Option) or name in without or not given:
            continue
        value = context.params[name]
        if param.is_flag:
            found += [param.opts[0]] * bool(value)
        else:
            for one in value if param.multiple else [value]:
                found += [param.opts[0], str(one)]
    return found
