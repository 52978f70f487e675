"""The machine: what it is called, how busy it is, and how fast it multiplies matrices."""

from __future__ import annotations

import os
import platform
import statistics
import time
from pathlib import Path

import torch

from longseq.results.bench import BenchMachine, MatmulRate
from longseq.tasks.bench.config import BenchConfig, cores
from longseq.tasks.bench.passes import usable
from longseq.tasks.bench.worker import Worker

SIZE = 2048
"""Rows and columns of the matrices."""
CPUINFO = Path("/proc/cpuinfo")


class Matmul:
    """Products of square matrices of one precision."""

    def __init__(self, dtype: str, device: str, size: int = SIZE):
        made = torch.Generator().manual_seed(0)
        pair = torch.randn(2, size, size, generator=made).to(usable(device), getattr(torch, dtype))
        self._a, self._b = pair.unbind()
        self._out = torch.empty_like(self._a)
        self._warm: set[int] = set()

    def gflops(self, threads: int) -> float:
        """10⁹ floating-point operations a second in one product, two for each of its n³ terms."""
        torch.set_num_threads(threads)
        if threads not in self._warm:
            self._seconds()
            self._warm.add(threads)
        return 2 * len(self._a) ** 3 / self._seconds() / 1e9

    def _seconds(self) -> float:
        began = time.perf_counter()
        torch.mm(self._a, self._b, out=self._out)
        if self._out.device.type == "cuda":
            torch.cuda.synchronize(self._out.device)
        return time.perf_counter() - began


class MatmulRates:
    """Samples of the machine's rate, taken beside what is measured; use it as a context manager."""

    def __init__(self, config: BenchConfig):
        self._threads = config.threads
        dtypes = ["float32", "bfloat16"] if config.device != "cpu" or has_bf16() else ["float32"]
        self._workers = {dtype: Worker(Matmul, dtype, config.device) for dtype in dtypes}
        self._samples: dict[tuple[int, str], list[float]] = {(n, d): [] for n in config.threads for d in dtypes}

    def sample(self) -> None:
        """One product for each precision and thread count."""
        for (threads, dtype), samples in self._samples.items():
            samples.append(self._workers[dtype].ask("gflops", threads))

    def rates(self) -> list[MatmulRate]:
        """Medians of the samples."""
        median = {key: statistics.median(samples) for key, samples in self._samples.items()}
        return [
            MatmulRate(threads=n, gflops_fp32=median[n, "float32"], gflops_bf16=median.get((n, "bfloat16")))
            for n in self._threads
        ]

    def __enter__(self) -> MatmulRates:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.close()


def describe(config: BenchConfig, rates: list[MatmulRate], load_before: float | None) -> BenchMachine:
    return BenchMachine(
        processor=processor(),
        cores=cores(),
        device=config.device,
        torch=torch.__version__,
        threads=config.threads,
        matmul=rates,
        load_before=load_before,
        load_after=load(),
    )


def load() -> float | None:
    """Mean number of running processes over the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def processor() -> str:
    """The name by which the processor calls itself."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def has_bf16() -> bool:
    """Whether the processor multiplies bfloat16 matrices in hardware, as far as the system says."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features") or "").split()
    return any(flag in flags for flag in ("avx512_bf16", "amx_bf16", "bf16"))


def _cpuinfo(name: str) -> str | None:
    try:
        lines = CPUINFO.read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.split(":")[0].strip() == name), None)
