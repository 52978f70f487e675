"""`--shard I/N` and `--jobs N`, the same in every command that has them.

The function of a command is decorated with `sharded`, and gets `shards`. Where `shards.asked`, it refuses what cannot
be cut (`refuse`), makes its `Order` and returns `run_shard(…)`, or of `--jobs` `run_jobs(…)`.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from longseq.cli import exit
from longseq.cli.line import WAYS, inputs_of, options_of
from longseq.cli.sources import verdict
from longseq.cli.talk import Talk
from longseq.errors import StoppedError, UsageError
from longseq.log import count

if TYPE_CHECKING:
    from longseq.results.source import SourceRow
    from longseq.tasks.shards.attempt import Attempt
    from longseq.tasks.shards.folder import Shard
    from longseq.tasks.shards.gather import Batch
    from longseq.tasks.shards.order import Order, Reading

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Shards:
    """What was asked for."""

    shard: tuple[int, int] | None = None
    """(I, N)."""
    jobs: int | None = None

    @property
    def asked(self) -> bool:
        return self.shard is not None or self.jobs is not None

    @property
    def option(self) -> str:
        return "--shard" if self.shard is not None else "--jobs"

    def refuse(self, given: dict[str, bool]) -> None:
        """Raise where one of these options, by its name, was given: it cannot be cut into shards."""
        for name, there in given.items():
            if there:
                raise UsageError(f"{name} cannot be with {self.option}", remedy="leave one of them out")


def sharded(function: F) -> F:
    """Both options; the function gets `shards`."""

    @click.option("--jobs", type=click.IntRange(1), help="So many processes of this machine, each with a part.")
    @click.option("--shard", metavar="I/N", help="Part I of N alone, into the folder --out; see `longseq merge`.")
    @functools.wraps(function)
    def wrapped(*args: Any, shard: str | None, jobs: int | None, **options: Any) -> Any:
        from longseq.tasks.shards.order import shard_of

        if shard is not None and jobs is not None:
            raise UsageError("--shard and --jobs exclude each other", remedy="give one of them")
        shards = Shards(None if shard is None else shard_of(shard), jobs)
        if shards.asked and options.get("out") is None:
            raise UsageError(f"{shards.option} needs --out")
        return function(*args, shards=shards, **options)

    return wrapped  # type: ignore[return-value]


def run_shard(
    shards: Shards,
    order: Order,
    out: str,
    kinds: Sequence[type],
    work: Callable[[Shard, Attempt], None],
    *,
    attempt: Attempt,
    force: bool,
    talk: Talk,
) -> int:
    """Make the shard that was asked for in the batch's folder `out`, say what came of it; the exit code.

    See `longseq.tasks.shards.make.make_shard`. TERM and USR1 stop it.
    """
    from longseq.tasks.shards.make import make_shard
    from longseq.tasks.shards.part import name_of

    assert shards.shard is not None
    number, of = shards.shard
    where = f"{out.rstrip('/')}/{name_of(number, of)}"
    progress = talk.progress()
    with _stoppable(where):
        shard = make_shard(
            order, out, number, of, kinds, work, attempt=attempt, exit_code=_code, force=force, progress=progress
        )
    if shard is None:
        click.echo(f"{where}: is done already")
        return exit.DONE
    rows = shard.rows
    said = count(sum(row.records for row in rows), "record")
    click.echo(f"{where}: {said}, {count(sum(row.length for row in rows), 'letter')}")
    return verdict(rows)


def run_jobs(
    shards: Shards,
    files: Sequence[str],
    reading: Reading,
    out: str,
    play: Callable[[Batch], int],
    *,
    talk: Talk,
) -> int:
    """Make all shards at once beside `out`, and play them; the exit code.

    Args:
        files: Inputs, folders and patterns expanded.
        reading: How they are opened.
        play: Writes to `out`, which was found to be free before.
    """
    from longseq.tasks.shards.gather import gathered
    from longseq.tasks.shards.jobs import all_shards

    assert shards.jobs is not None
    context = click.get_current_context()

    def arguments(shard: str, folder: str) -> list[str]:
        own = ["--quiet", "--shard", shard, "--out", folder]
        return [context.info_name or "", *options_of(context, WAYS), *own, "--", *inputs_of(context)]

    with all_shards(out, files, shards.jobs, reading, arguments, talk.progress()) as folder:
        return play(gathered([folder], talk.progress()))


def _code(error: BaseException | None, shard: Shard | None) -> int:
    if error is not None:
        return exit.code_of(error)
    rows: list[SourceRow] = [] if shard is None else shard.rows
    return exit.DONE if all(row.whole for row in rows) else exit.PARTLY


@contextmanager
def _stoppable(where: str) -> Iterator[None]:
    """A queue's signals stop a shard; what it had begun is cleaned away, and the next job begins it anew."""

    def stop(number: int, _: object) -> None:
        raise StoppedError(
            f"stopped by {signal.Signals(number).name}", where=where, remedy="the same command makes it anew"
        )

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
