"""What reads records for bits_per_base.py: Markov models, their mixture, and checkpoints in several processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from longseq.log import LineProgress
from longseq.metrics.markov import AdaptiveMarkov, StaticMarkov
from longseq.metrics.mixture import MixtureMarkov
from longseq.tokens import DnaTokenizer

Reader = Callable[[list[bytes]], list[np.ndarray]]
"""Letters of records, each read anew → bits of each base (N,) float32, NaN where it is not A, C, G or T."""

encode = DnaTokenizer().encode


def codes(letters: bytes) -> np.ndarray:
    return encode(letters)[0]


def markov(model: AdaptiveMarkov | StaticMarkov) -> Reader:
    return lambda texts: [next(iter(model.bits([codes(text)]))) for text in texts]


def composition(contigs: list[bytes]) -> Reader:
    """Knows the share of G and C of the very data, and nothing else."""
    known = [found[found < 4] for found in map(codes, contigs)]
    gc = sum(int(np.isin(found, (1, 2)).sum()) for found in known) / sum(map(len, known))
    cost = np.full(256, np.nan, np.float32)
    cost[:4] = -np.log2(np.array([1 - gc, gc, gc, 1 - gc]) / 2)
    return lambda texts: [cost[codes(text)] for text in texts]


def mixture(orders: Iterable[int], trained_on: Iterable[bytes] = ()) -> Reader:
    model = MixtureMarkov(tuple(orders))
    for letters in trained_on:
        model.train([codes(letters)])
    return lambda texts: model.bits([codes(text) for text in texts])


class Checkpoint:
    """A reader that shares records out among processes of one thread each; asked for one, it reads them itself."""

    def __init__(self, name: str, device: str, jobs: int):
        import torch

        from longseq.model import load

        loaded = load(name, device)
        self._name, self._device, self._jobs = name, device, jobs
        self._threads = torch.get_num_threads() if jobs == 1 else 1
        self.facts = {
            "parameters": loaded.parameters,
            "sha256": loaded.sha256,
            "device": device,
            "processes": jobs,
            "threads": self._threads,
        }

    def __call__(self, texts: list[bytes]) -> list[np.ndarray]:
        progress = LineProgress(period=10)
        progress.start("model", sum(map(len, texts)), "base")
        shares = shared_out([len(text) for text in texts], 4 * self._jobs)
        work = [[texts[i] for i in share] for share in shares]
        bits: list[np.ndarray] = [np.zeros(0, np.float32)] * len(texts)

        def take(found: Iterable[list[np.ndarray]]) -> None:
            for share, arrays in zip(shares, found, strict=True):
                for i, array in zip(share, arrays, strict=True):
                    bits[i] = array
                progress.advance(sum(len(texts[i]) for i in share))

        settings = (self._name, self._device, self._threads)
        if self._jobs == 1:
            _begin(*settings)
            take(map(_score, work))
        else:
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(self._jobs, mp_context=spawn, initializer=_begin, initargs=settings) as pool:
                take(pool.map(_score, work))
        return bits


def shared_out(lengths: list[int], parts: int) -> list[list[int]]:
    """Places of the lengths in at most so many parts of about the same sum, the largest first."""
    shares: list[list[int]] = [[] for _ in range(min(parts, len(lengths)))]
    sums = [0] * len(shares)
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        least = sums.index(min(sums))
        shares[least].append(i)
        sums[least] += lengths[i]
    return sorted((share for share in shares if share), key=lambda share: -sum(lengths[i] for i in share))


def _begin(name: str, device: str, threads: int) -> None:
    """Load the model of this process."""
    global _surprisal
    import torch

    from longseq.model import load
    from longseq.streaming.surprisal import Surprisal

    torch.set_num_threads(threads)
    _surprisal = Surprisal(load(name, device))


def _score(texts: list[bytes]) -> list[np.ndarray]:
    tracks = _surprisal.many((None, [text]) for text in texts)
    empty = np.zeros(0, np.float32)
    return [np.concatenate([empty, *(scored.bits for scored in track)]) for _, track in tracks]


def processes(device: str) -> int:
    """As many as there are cores, but one where the model is not on them."""
    return os.cpu_count() or 1 if device == "cpu" else 1
