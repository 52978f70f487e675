"""Which labelled records are held out: whole groups, each class alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longseq.errors import ConfigError, InputError


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
        for name in named:
            if name not in groups:
                some = ", ".join(groups[:10])
                raise ConfigError(where="labels.held_out_groups", expected=f"groups ({some} …)", found=repr(name))
        chosen = np.isin(group, [groups.index(name) for name in named])
    else:
        chosen = _draw(group, len(groups), size, stratum, share, seed)[group]
    if chosen.all():
        raise InputError(where="labels.held_out_groups", expected="some records left to learn from", found="none")
    return chosen


def _draw(group: np.ndarray, groups: int, size: np.ndarray, stratum: np.ndarray, share: float, seed: int) -> np.ndarray:
    """(G,) bool."""
    amounts = np.zeros((groups, int(stratum.max()) + 1))
    np.add.at(amounts, (group, stratum), size)
    total = amounts.sum(0)
    room = share * total
    if share:
        for s in np.flatnonzero((amounts > 0).sum(0) > 1):
            room[s] = max(room[s], amounts[amounts[:, s] > 0, s].min())
    chosen = np.zeros(groups, bool)
    for g in np.random.default_rng([seed, 1]).permutation(groups):
        if amounts[g].any() and (amounts[g] <= room + 1e-9).all():
            chosen[g] = True
            room = room - amounts[g]
    return chosen
