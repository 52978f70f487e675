"""Bits per base on a genus that was not trained on: a checkpoint beside its baselines, in one table.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/bits_per_base.py --model runs/dna/model

Learned from: E. coli, H. pylori, V. cholerae, S. aureus (the static orders here; the checkpoint by its own recipe).
Tested on: the contigs of Leptospira kirschneri H1, both strands, each model anew at each contig. `by_position`
tells how the cost of a base falls with what was read of its contig before. Without `--model`, the baselines alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from provenance import provenance

from longseq.formats import read
from longseq.formats.jsonfile import write_json
from longseq.log import LineProgress
from longseq.metrics.markov import AdaptiveMarkov, StaticMarkov, gc_bits
from longseq.records import reverse_complement
from longseq.tokens import DnaTokenizer

TRAINED_ON = [
    f"{name}.fasta.gz" for name in ("Ecoli_K12_MG1655", "Hpylori_G27", "Vcholerae_N16961", "Saureus_NCTC8325")
]
TESTED_ON = "Lkirschneri_H1.gbk.gz"
EDGES = (0, 1_000, 8_000, 64_000)
BRACKETS = ("0-1k", "1k-8k", "8k-64k", "over 64k")
STATIC_ORDERS = range(13)
ADAPTIVE_ORDERS = (0, 1, 2, 3, 4)

Score = Callable[[bytes], np.ndarray]
"""Letters of a whole contig → bits of each, NaN where a letter is not A, C, G or T."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="checkpoint directory or shipped name")
    parser.add_argument("--first", type=int, help="read only so many bases of each contig, for a quick look")
    parser.add_argument("--threads", type=int, help="compute threads of the model")
    parser.add_argument("--device", default="cpu", help="device of the model")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("bits_per_base.py: set LONGSEQ_DATA to the data folder, the one that holds dna/")
    folder = Path(os.environ["LONGSEQ_DATA"]) / "dna"
    progress = LineProgress(period=10)
    encode = DnaTokenizer().encode
    contigs = [b"".join(record.pieces)[: options.first] for record in read(folder / TESTED_ON)]
    known = [codes[codes < 4] for codes in (encode(letters)[0] for letters in contigs)]
    scored = sum(map(len, known))
    gc = sum(int(np.isin(codes, (1, 2)).sum()) for codes in known) / scored

    rows: list[dict] = [{"name": "GC alone, of the contigs", "bits_per_base": gc_bits(gc)}]
    show(rows[-1])
    for order in ADAPTIVE_ORDERS:
        model = AdaptiveMarkov(order)
        rows.append(measure(f"adaptive order {order}", lambda x, m=model: next(m.bits([encode(x)[0]])), contigs))
        show(rows[-1])
    statics = [StaticMarkov(order) for order in STATIC_ORDERS]
    for name in TRAINED_ON:
        for record in read(folder / name):
            codes = encode(b"".join(record.pieces))[0]
            for model in statics:
                model.train([codes])
    for model in statics:
        rows.append(measure(f"static order {model.order}", lambda x, m=model: next(m.bits([encode(x)[0]])), contigs))
        show(rows[-1])
    if options.model:
        rows.append(measure_model(options, contigs, progress))
        show(rows[-1])
    document = {
        "benchmark": "bits_per_base",
        "trained_on": TRAINED_ON,
        "tested_on": TESTED_ON,
        "contigs": len(contigs),
        "bases_scored": scored,
        "first": options.first,
        "strands": "both, averaged",
        "rows": rows,
        "provenance": provenance(),
    }
    write_json(options.out, document, force=True)


def measure_model(options: argparse.Namespace, contigs: list[bytes], progress: LineProgress) -> dict:
    import torch

    from longseq.model import load
    from longseq.streaming.surprisal import Surprisal

    if options.threads:
        torch.set_num_threads(options.threads)
    checkpoint = load(options.model, options.device)
    surprisal = Surprisal(checkpoint)

    def score(letters: bytes) -> np.ndarray:
        reader = surprisal()
        bits = np.concatenate([reader.push(letters), reader.finish()])
        progress.advance(len(letters))
        return bits

    progress.start("model", 2 * sum(map(len, contigs)), "base")
    row = measure(f"model {Path(options.model).name}", score, contigs)
    facts = {"parameters": checkpoint.parameters, "sha256": checkpoint.sha256, "threads": torch.get_num_threads()}
    return row | facts


def measure(name: str, score: Score, contigs: list[bytes]) -> dict:
    """Mean bits per base over both strands, on each, and by position in the contig as it is read."""
    began = time.monotonic()
    total, count = np.zeros((2, len(EDGES))), np.zeros((2, len(EDGES)))
    for letters in contigs:
        for strand, text in enumerate((letters, reverse_complement(letters))):
            for bracket, bits in in_brackets(score(text)):
                total[strand, bracket] += np.nansum(bits, dtype=np.float64)
                count[strand, bracket] += np.isfinite(bits).sum()
    mean = total.sum(0) / np.maximum(count.sum(0), 1)
    return {
        "name": name,
        "bits_per_base": total.sum() / count.sum(),
        "forward": total[0].sum() / count[0].sum(),
        "reverse": total[1].sum() / count[1].sum(),
        "by_position": {k: m if n else None for k, m, n in zip(BRACKETS, mean, count.sum(0), strict=True)},
        "seconds": time.monotonic() - began,
    }


def in_brackets(bits: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    for bracket, (start, end) in enumerate(zip(EDGES, (*EDGES[1:], None), strict=True)):
        yield bracket, bits[start:end]


def show(row: dict) -> None:
    places = [f"{name} {'-' if bits is None else f'{bits:.4f}'}" for name, bits in row.get("by_position", {}).items()]
    print("  ".join([f"{row['name']:>24}  {row['bits_per_base']:.4f}", *places]), flush=True)


if __name__ == "__main__":
    main()
