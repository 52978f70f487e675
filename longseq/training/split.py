"""Which tokens are learned from and which are held out: split by groups of records, never by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longseq.errors import InputError
from longseq.log import count
from longseq.training.config import DataConfig
from longseq.training.grouping import Groups, groups_of
from longseq.training.holding_out import KEY, choose, draw
from longseq.training.store import Store, Stretches

if TYPE_CHECKING:
    from longseq.training.documents import Documents


class Split(NamedTuple):
    train: Stretches
    held_out: Stretches
    """May be empty."""
    rule: str
    """What was held out, for people."""
    groups: Groups


def split(store: Store | Documents, config: DataConfig, unit: str = "bases") -> Split:
    """The named records or groups, or whole groups drawn at random up to the share asked for.

    Where groups are records, and none is small enough for that, the last part of every record is held out, and `rule`
    says so. `unit` is what positions count.

    Raises:
        ConfigError: no record or group of a given name.
        InputError: nothing is left to learn from, or a single group that would have to be divided.
    """
    stretches, groups = store.stretches, groups_of(store, config)
    sizes = np.bincount(stretches.record, stretches.length, len(store.records)).astype(np.int64)
    if config.held_out_records:
        chosen = choose(store.ids, config.held_out_records, "data.held_out_records", "ids of records")
    elif config.held_out_groups:
        chosen = choose(groups.names, config.held_out_groups, KEY, "groups")[groups.of]
    else:
        chosen = _draw(groups, sizes, config)
    if config.held_out and not chosen.any():
        return _tails(stretches, sizes, config.held_out, unit, groups)
    held = chosen[stretches.record]
    result = Split(
        _take(stretches, ~held), _take(stretches, held), _describe(store, groups, chosen, sizes, unit), groups
    )
    if result.train.bases == 0:
        where = "data.held_out_records" if config.held_out_records else KEY
        raise InputError(where=where, expected="some records left to learn from", found="none")
    return result


def _draw(groups: Groups, sizes: np.ndarray, config: DataConfig) -> np.ndarray:
    """(R,) bool: records of groups in random order, each taken if it still fits.

    Of groups that were asked for at least the smallest one; of plain records none, if the tokens come to under half the
    share.
    """
    share, asked = config.held_out, config.groups != "record"
    amounts = np.bincount(groups.of, sizes, len(groups.names))
    if asked and share:
        require_two(groups, amounts)
    everywhere = np.zeros(len(groups.names), np.int64)
    drawn = draw(
        np.arange(len(groups.names)),
        len(groups.names),
        amounts,
        everywhere,
        share=share,
        seed=config.seed,
        at_least_one=asked,
    )
    enough = asked or amounts[drawn].sum() >= share * amounts.sum() / 2
    return drawn[groups.of] if enough else np.zeros(len(sizes), bool)


def require_two(groups: Groups, amounts: np.ndarray) -> None:
    """Raise unless two groups or more come to something, (G,) `amounts` each."""
    if (amounts > 0).sum() < 2:
        raise InputError(
            where="data.groups",
            expected="two groups or more, one of them to hold out",
            found=repr(groups.names[int(amounts.argmax())]),
            remedy="data.groups=record may hold out the end of each record",
        )


def _tails(stretches: Stretches, sizes: np.ndarray, share: float, unit: str, groups: Groups) -> Split:
    first = np.cumsum(sizes) - sizes  # the stretches of a record are neighbours in the store
    boundary = (sizes - np.floor(sizes * share).astype(np.int64))[stretches.record]
    before = np.clip(boundary - (stretches.offset - first[stretches.record]), 0, stretches.length)
    train = stretches._replace(length=before)
    held = Stretches(stretches.record, stretches.start + before, stretches.length - before, stretches.offset + before)
    which = "the record" if len(sizes) == 1 else f"each of the {len(sizes)} records"
    held = _take(held, held.length > 0)
    rule = f"the last {share:.2%} of {which}, {held.bases:,} {unit}"
    return Split(_take(train, train.length > 0), held, rule, groups)


def within(stretches: Stretches, record: np.ndarray, first: np.ndarray, last: np.ndarray, records: int) -> Stretches:
    """The parts of stretches inside `[first, last)` of each of N different records, of `records` in all."""
    begin, end = np.zeros((2, records), np.int64)
    begin[record], end[record] = first, last
    start, of = stretches.start, stretches.record
    skipped = np.clip(begin[of] - start, 0, stretches.length)
    length = np.clip(end[of] - start, 0, stretches.length) - skipped
    return _take(Stretches(of, start + skipped, length, stretches.offset + skipped), length > 0)


def _take(stretches: Stretches, which: np.ndarray) -> Stretches:
    return Stretches(*(column[which] for column in stretches))


def _describe(store: Store | Documents, groups: Groups, chosen: np.ndarray, sizes: np.ndarray, unit: str) -> str:
    numbers = np.flatnonzero(chosen)
    if not len(numbers):
        return "nothing"
    records = f"{len(numbers)} of {len(sizes)} records"
    tokens = f"{int(sizes[chosen].sum()):,} {unit}"
    whole = np.unique(groups.of[numbers])
    if len(groups.names) == len(sizes):
        named = [store.ids[i] for i in numbers[:5].tolist()]
        return f"{records}, {tokens}: {', '.join(named)}{' …' if len(numbers) > 5 else ''}"
    named = [groups.names[g] for g in whole[:5].tolist()]
    of = f"{records}, in {len(whole):,} of {count(len(groups.names), 'group')}"
    return f"{of}, {tokens}: {', '.join(named)}{' …' if len(whole) > 5 else ''}"
