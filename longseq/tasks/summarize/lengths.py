"""Statistics of record lengths: the columns that seqkit and QUAST users know, with the definitions written out."""

from __future__ import annotations

import numpy as np

from longseq.results.totals import LengthStatistics

LEAST = (500, 1000)
"""Letters from which QUAST counts contigs apart."""


def length_statistics(lengths: np.ndarray) -> LengthStatistics:
    """Statistics of (R,) lengths; all but numbers and sums are None for no record.

    Quartiles are medians of halves, the median belonging to both where R is odd (seqkit; which halves q1 and q3 once
    more where all lengths are equal: we do not). N50 and N90 are lengths, L50 and L90 numbers of records. auN is the
    sum of squares over the sum (Li 2020), None when every record is empty.
    """
    count, total = len(lengths), int(lengths.sum(dtype=np.int64))
    if count == 0:
        return LengthStatistics(num_seqs=0, sum_len=0)
    ordered = np.sort(lengths).astype(np.int64)
    half = (count + 1) // 2
    longest_first = np.cumsum(ordered[::-1])

    def n_and_l(percent: int) -> tuple[int, int]:
        # whole numbers: percent / 100 of the total has no exact float
        records = int(np.searchsorted(longest_first * 100, percent * total)) + 1
        return int(ordered[count - records]), records

    squares = sum(int(n) * int(n) for n in ordered) if count < 1000 else float(np.square(ordered, dtype=float).sum())
    n50, l50 = n_and_l(50)
    n90, l90 = n_and_l(90)
    return LengthStatistics(
        num_seqs=count,
        sum_len=total,
        min_len=int(ordered[0]),
        avg_len=total / count,
        max_len=int(ordered[-1]),
        q1=float(np.median(ordered[:half])),
        q2=float(np.median(ordered)),
        q3=float(np.median(ordered[count - half :])),
        n50=n50,
        l50=l50,
        n90=n90,
        l90=l90,
        au_n=squares / total if total else None,
        **{f"{what}_{least}": int(n) for least in LEAST for what, n in _at_least(ordered, least).items()},
    )


def _at_least(ordered: np.ndarray, least: int) -> dict[str, np.integer]:
    """Number and sum of the lengths of `least` or more, out of (R,) ascending ones."""
    long = ordered[np.searchsorted(ordered, least) :]
    return {"num_seqs": np.int64(len(long)), "sum_len": long.sum(dtype=np.int64)}
