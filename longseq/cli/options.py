"""Options that are the same word in every command."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from longseq.cli.talk import MUCH, NORMAL, QUIET, Talk
from longseq.config import LONGEST_CHUNK
from longseq.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


_region = click.option(
    "--region",
    metavar="NAME[:START-END]",
    multiple=True,
    help="Only this stretch, 1-based and closed; may be given several times.",
)
_alias = click.option(
    "--alias",
    metavar="FILE",
    help="Two names of one record a line, where a region or a table and the sequences spell it differently.",
)
_strict = click.option("--strict", is_flag=True, help="A region past the end of its record is an error, not cut.")
unknown_option = click.option(
    "--on-unknown",
    type=click.Choice(["error", "N"]),
    default="error",
    show_default=True,
    help="Letters outside the IUPAC codes: stop, or read as N.",
)
threads_option = click.option(
    "--threads", type=click.IntRange(1), default=1, show_default=True, help="Processor threads."
)
device_option = click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1.")
plots_option = click.option(
    "--plots",
    type=click.Choice(["png", "svg"]),
    multiple=True,
    help="Draw pictures for print into DIR/plots; give both for both.",
)
column_option = click.option(
    "--column", metavar="NAME", help="Column of a table with the texts.  [default: text, sequence, or the only one]"
)


def talking(function: F) -> F:
    """`-q`, `-v` and `--debug`; the function gets `talk` instead."""

    @click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
    @click.option("-v", "--verbose", is_flag=True, help="Say what is read, by which model, and what it took.")
    @click.option("--debug", is_flag=True, help="Show where an error was raised.")
    @click.pass_obj
    @functools.wraps(function)
    def wrapped(talk: Talk | None, /, *args: Any, quiet: bool, verbose: bool, debug: bool, **options: Any) -> Any:
        talk = talk or Talk([])
        if quiet and verbose:
            raise UsageError("--quiet and --verbose say different things", remedy="give one of them")
        talk.begin(QUIET if quiet else MUCH if verbose else NORMAL, debug)
        found = function(*args, talk=talk, **options)
        talk.cost()
        return found

    return wrapped  # type: ignore[return-value]


def reading(*, tables: bool = True) -> Callable[[F], F]:
    """`--region`, `--alias`, `--strict`, `--on-unknown`, and of tables `--column`; the function gets `asked`, which
    gives what they say by the names that requests have for it."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, region: tuple[str, ...], alias: str | None, **options: Any) -> Any:
            plain = {name: options.pop(name) for name in ("strict", "on_unknown", "column") if name in options}
            return function(*args, asked=lambda: _asked(region, alias) | plain, **options)

        found: Any = wrapped
        for option in (unknown_option, _strict, _alias, _region, *([column_option] if tables else [])):
            found = option(found)
        return found

    return decorate


def _asked(regions: tuple[str, ...], alias: str | None) -> dict[str, Any]:
    from longseq.formats.aliases import read_aliases
    from longseq.records import Interval

    names = () if alias is None else read_aliases(alias)
    return {"alias": names, "regions": tuple(map(Interval.parse, regions))}


def computing(function: F) -> F:
    """`--device`, `--threads`, `--precision`, `--chunk`."""
    for option in (
        click.option(
            "--chunk",
            type=click.IntRange(1, LONGEST_CHUNK),
            help="Tokens a recurrent call.  [default: 2048, or 512 of a converted model]",
        ),
        click.option(
            "--precision",
            type=click.Choice(["fp32", "bf16"]),
            default="fp32",
            show_default=True,
            help="Of matrix products; memories are fp32.",
        ),
        threads_option,
        device_option,
    ):
        function = option(function)
    return function
