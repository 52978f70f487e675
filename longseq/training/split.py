"""Which bases are learned from and which are held out: split by record, never by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longseq.errors import ConfigError, InputError
from longseq.training.config import DataConfig
from longseq.training.store import Store, Stretches

if TYPE_CHECKING:
    from longseq.training.documents import Documents


class Split(NamedTuple):
    train: Stretches
    held_out: Stretches
    """May be empty."""
    rule: str
    """What was held out, for people."""


def split(store: Store | Documents, config: DataConfig, unit: str = "bases") -> Split:
    """The named records, or whole records drawn at random up to the share asked for.

    Where no record is small enough for that, the last part of every record is held out, and `rule` says so. `unit` is
    what positions count.

    Raises:
        ConfigError: no record of a given name.
        InputError: nothing is left to learn from.
    """
    stretches = store.stretches
    sizes = np.bincount(stretches.record, stretches.length, len(store.records)).astype(np.int64)
    if config.held_out_records:
        ids = np.array(store.records["id"])
        for name in config.held_out_records:
            if name not in ids:
                some = ", ".join(dict.fromkeys(ids[:10].tolist()))
                raise ConfigError(where="data.held_out_records", expected=f"ids of records ({some} …)", found=name)
        chosen = np.isin(ids, config.held_out_records)
    else:
        chosen = _draw(sizes, config.held_out, config.seed)
    if config.held_out and not chosen.any():
        return _tails(stretches, sizes, config.held_out, unit)
    held = chosen[stretches.record]
    result = Split(_take(stretches, ~held), _take(stretches, held), _describe(store, chosen, sizes, unit))
    if result.train.bases == 0:
        raise InputError(where="data.held_out_records", expected="some records left to learn from", found="none")
    return result


def _draw(sizes: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Records in random order, each taken if it still fits; none if the bases come to under half the share."""
    chosen = np.zeros(len(sizes), bool)
    room = share * sizes.sum()
    for record in np.random.default_rng([seed, 1]).permutation(len(sizes)):
        if 0 < sizes[record] <= room:
            chosen[record] = True
            room -= sizes[record]
    return chosen if sizes[chosen].sum() >= share * sizes.sum() / 2 else np.zeros_like(chosen)


def _tails(stretches: Stretches, sizes: np.ndarray, share: float, unit: str) -> Split:
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])  # the stretches of a record are neighbours in the store
    boundary = (sizes - np.floor(sizes * share).astype(np.int64))[stretches.record]
    before = np.clip(boundary - (stretches.offset - first[stretches.record]), 0, stretches.length)
    train = stretches._replace(length=before)
    held = Stretches(stretches.record, stretches.start + before, stretches.length - before, stretches.offset + before)
    which = "the record" if len(sizes) == 1 else f"each of the {len(sizes)} records"
    held = _take(held, held.length > 0)
    return Split(_take(train, train.length > 0), held, f"the last {share:.2%} of {which}, {held.bases:,} {unit}")


def _take(stretches: Stretches, which: np.ndarray) -> Stretches:
    return Stretches(*(column[which] for column in stretches))


def _describe(store: Store | Documents, chosen: np.ndarray, sizes: np.ndarray, unit: str) -> str:
    numbers = np.flatnonzero(chosen)
    if not len(numbers):
        return "nothing"
    names = ", ".join(store.records[int(i)]["id"] for i in numbers[:5]) + (" …" if len(numbers) > 5 else "")
    return f"{len(numbers)} of {len(sizes)} records, {int(sizes[chosen].sum()):,} {unit}: {names}"
