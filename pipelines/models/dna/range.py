"""Measure what held-out windows of a model's own kind look like, and keep it beside the model: range.py MODEL FASTA...

`longseq summarize` then says of a record whether it is in that range. Give files the model did not learn from, or with
`--last 0.01` those it did, of which the last hundredth of each record was held out: what stands in front is read, so
that the state is what it would be, and does not count.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from longseq import read
from longseq.model import load
from longseq.model.range import write_range
from longseq.ops.machine import prepare
from longseq.streaming import Surprisal
from longseq.tasks.summarize.novelty import measure_range


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--window", type=int, default=10_000, help="bases a window")
    parser.add_argument("--last", type=float, default=1.0, help="share of each record, its end, that counts")
    given = parser.parse_args()
    prepare(1)
    checkpoint = load(given.model)
    part = "" if given.last == 1 else f"the last {100 * given.last:g} % of "
    of = part + ", ".join(Path(path).name for path in given.inputs)
    records = (record for path in given.inputs for record in read(path))
    found = measure_range(Surprisal(checkpoint), records, of=of, window=given.window, last=given.last)
    write_range(checkpoint.path, found, checkpoint.sha256)
    print(
        f"GC {found.gc[0]:.2f} to {found.gc[1]:.2f} %, {found.bits[0]:.4f} to {found.bits[1]:.4f} bits a base, ", end=""
    )
    print(f"of {found.windows} windows")


if __name__ == "__main__":
    main()
