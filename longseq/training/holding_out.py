"""Which groups of records are held out: whole ones, of each class alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from longseq.errors import ConfigError, InputError, alike
from longseq.formats.names import same_but_version

KEY = "data.held_out_groups"
_ROUNDING = 1e-9


def hold_out(
    group: np.ndarray,
    groups: Sequence[str],
    size: np.ndarray,
    stratum: np.ndarray,
    *,
    share: float,
    named: Sequence[str],
    seed: int,
) -> np.ndarray:
    """(N,) bool, True where held out.

    Args:
        group: (N,) place in `groups` of each record; a group is held out whole or not at all.
        size: (N,) how much each record comes to: 1, or its letters.
        stratum: (N,) int64; of each stratum up to a `share` is held out, in groups drawn at random. A stratum of two
            groups or more gives at least its smallest one.
        named: groups to hold out instead.

    Raises:
        ConfigError: a named group that is none.
        InputError: nothing is left to learn from.
    """
    if named:
        chosen = choose(groups, named, KEY, "groups")[group]
    else:
        chosen = draw(group, len(groups), size, stratum, share=share, seed=seed)[group]
    if chosen.all():
        raise InputError(where=KEY, expected="some records left to learn from", found="none")
    return chosen


def choose(names: Sequence[str], wanted: Sequence[str], key: str, what: str) -> np.ndarray:
    """(N,) bool: which names are among those wanted by the setting `key`; `what` they are, in the plural.

    Raises:
        ConfigError: one that is wanted is none of the names.
    """
    places: dict[str, list[int]] = {name: [] for name in wanted}
    for i, name in enumerate(names):
        if name in places:
            places[name].append(i)
    chosen = np.zeros(len(names), bool)
    for name, found in places.items():
        if not found:
            known = f"{what} ({some(names)})"
            raise ConfigError(where=key, expected=known, found=repr(name), remedy=near(name, names))
        chosen[found] = True
    return chosen


def some(names: Sequence[str], most: int = 10) -> str:
    """The first different ones, for people."""
    first = list(islice(dict.fromkeys(names[: 10 * most]), most + 1))
    more = len(first) > most or len(names) > 10 * most
    return ", ".join(first[:most]) + (" …" if more else "")


def near(name: str, names: Sequence[str]) -> str | None:
    """A name that may have been meant, as a question."""
    alike = _alike(name, names)
    return f"did you mean {alike!r}?" if alike is not None else None


def _alike(name: str, names: Sequence[str]) -> str | None:
    """One that differs in its version or the data base it names (`NC_000913`, `ref|NC_000913.3|`), else one that is
    spelled alike among the first thousand."""
    for other in names:
        if same_but_version(name, other):
            return other
    return next(iter(alike(name, names[:1000], least=0.8)), None)


def draw(
    group: np.ndarray,
    groups: int,
    size: np.ndarray,
    stratum: np.ndarray,
    *,
    share: float,
    seed: int,
    at_least_one: bool = True,
) -> np.ndarray:
    """(G,) bool: groups in an order drawn at random, those of several strata first, each taken if it still fits."""
    strata = int(stratum.max(initial=0)) + 1
    pairs, place = np.unique(group * strata + stratum, return_inverse=True)
    amount = np.bincount(place, size, len(pairs))
    pairs, amount = pairs[amount > 0], amount[amount > 0]
    of, within = pairs // strata, pairs % strata
    room = share * np.bincount(within, amount, strata)
    if share and at_least_one:
        smallest = np.full(strata, np.inf)
        np.minimum.at(smallest, within, amount)
        several = np.bincount(within, minlength=strata) > 1
        room[several] = np.maximum(room, smallest)[several]
    order = np.random.default_rng([seed, 1]).permutation(groups)
    rank = np.empty(groups, np.int64)
    rank[order] = np.arange(groups)
    chosen = np.zeros(groups, bool)
    first = np.searchsorted(of, np.arange(groups + 1))
    counts = np.diff(first)
    for g in order[counts[order] > 1].tolist():
        here = slice(first[g], first[g + 1])
        if (amount[here] <= room[within[here]] + _ROUNDING).all():
            chosen[g] = True
            room[within[here]] -= amount[here]
    alone = np.flatnonzero(counts[of] == 1)
    alone = alone[np.lexsort((rank[of[alone]], within[alone]))]
    bounds = np.searchsorted(within[alone], np.arange(strata + 1))
    for s in range(strata):
        some_alone = alone[bounds[s] : bounds[s + 1]]
        for taken in _fitting(amount[some_alone], room[s]):
            chosen[of[some_alone[taken]]] = True
    return chosen


def _fitting(amount: np.ndarray, room: float) -> Iterator[np.ndarray]:
    """Places of those that still fit, one after the other; many at once."""
    left = np.arange(len(amount))
    while len(left := left[amount[left] <= room + _ROUNDING]):
        total = np.cumsum(amount[left])
        fit = int(np.searchsorted(total, room + _ROUNDING, side="right"))
        yield left[:fit]
        room -= total[fit - 1]
        left = left[fit + 1 :]
