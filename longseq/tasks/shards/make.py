"""One shard from its inputs: planned, read, kept; or found done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from longseq.errors import OutputExistsError, StoppedError
from longseq.log import Progress
from longseq.tasks.shards.attempt import Attempt
from longseq.tasks.shards.folder import Shard, identity, is_done, leave, making
from longseq.tasks.shards.order import Order
from longseq.tasks.shards.plan import planned, require_unchanged

ENDED = (StoppedError, KeyboardInterrupt)
"""An attempt was stopped, and did not fail."""


def make_shard(
    order: Order,
    batch: str | Path,
    number: int,
    of: int,
    kinds: Sequence[type],
    work: Callable[[Shard, Attempt], None],
    *,
    attempt: Attempt,
    exit_code: Callable[[BaseException | None, Shard | None], int],
    force: bool = False,
    progress: Progress,
) -> Shard | None:
    """Make a shard of a batch; None where it is done already.

    Args:
        order: What is asked for.
        batch: Folder of the batch; it and its plan are made where they are not there.
        number: Of the shard, from 1 to `of`.
        kinds: Classes of the frames that the command keeps.
        work: Reads the part of the shard into its spool, and sets its `sources`; it tells the attempt what model reads.
        attempt: Begun when the job began.
        exit_code: That of a job that ends with this error, or well with this shard.
        force: Make it anew where it stands, whatever it is.
        progress: Told of letters while inputs are planned.

    Raises:
        OutputExistsError: it stands there, made for another order; or another process is making it.
        InputError: an input is not what it was when the batch was planned.
        LongseqError: what `work` raises; the attempt is told in a file of the shard's name beside it.
    """
    plan = planned(batch, order.inputs, of, order.reading, progress)
    part = plan.part(number)
    known = identity(order, plan, part)
    done = not force and is_done(batch, part, known)
    try:
        require_unchanged(plan, part)
        if done:
            return None
        with making(batch, part, known, kinds, force=force) as shard:
            work(shard, attempt)
            require_unchanged(plan, part)  # nor did they change before they were opened
            shard.run = attempt.facts(sum(row.length for row in shard.rows), exit_code(None, shard))
        return shard
    except OutputExistsError:  # another job's: it will tell itself
        raise
    except BaseException as error:
        if done:
            raise
        status = "stopped" if isinstance(error, ENDED) else "failed"
        run: dict[str, Any] = attempt.facts(0, exit_code(error, None), str(error) or type(error).__name__)
        leave(batch, part, known, status, run)
        raise
