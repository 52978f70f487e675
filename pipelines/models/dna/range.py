"""Measure what windows of a model's own kind look like, and keep it beside the model: range.py MODEL FASTA...

`longseq summarize` then says of a record whether it is in that range. Give files of the kinds that the model learned
from; of each record the last bases are read, from a new state. What the model has read often it finds easier than what
is new to it: then the range is too narrow, and says more often that a record is out of it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from longseq import read
from longseq.model import load
from longseq.model.range import write_range
from longseq.ops.machine import prepare
from longseq.records import Record
from longseq.streaming import Surprisal
from longseq.tasks.summarize.novelty import measure_range


def ending(record: Record, bases: int) -> Record:
    letters = b"".join(record.pieces)
    return replace(record, pieces=iter([letters[-bases:]]), length=None, topology=None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--window", type=int, default=10_000, help="bases a window")
    parser.add_argument("--last", type=int, default=60_000, help="bases of each record, its end, that are read")
    given = parser.parse_args()
    prepare(1)
    checkpoint = load(given.model)
    of = f"the last {given.last:,} bases of each record of " + ", ".join(Path(path).name for path in given.inputs)
    records = (ending(record, given.last) for path in given.inputs for record in read(path))
    found = measure_range(Surprisal(checkpoint), records, of=of, window=given.window)
    write_range(checkpoint.path, found, checkpoint.sha256)
    print(
        f"GC {found.gc[0]:.2f} to {found.gc[1]:.2f} %, {found.bits[0]:.4f} to {found.bits[1]:.4f} bits a base, ", end=""
    )
    print(f"of {found.windows} windows")


if __name__ == "__main__":
    main()
