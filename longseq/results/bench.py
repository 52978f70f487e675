"""What a benchmark found: rows of speed and memory, the machine, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from longseq.results.run import Run

BENCH_SCHEMA = "longseq.bench/1"


@dataclass(frozen=True, kw_only=True)
class BenchRow:
    """One mixer at one length. Times are of whole passes over `length` tokens, batch 1."""

    mixer: str
    length: int
    """Tokens a pass."""
    train: bool
    """A training step (forward and backward of the next-token loss) instead of inference."""
    visibility: str
    """causal, segment, or whole: every token sees every other."""
    chunk: int | None
    """Tokens a recurrent call; None: the whole length at once."""
    precision: str
    threads: int
    """The fastest of the thread counts tried."""
    tokens_per_s: float
    """Of the median pass."""
    seconds: Sequence[float]
    """Of a pass in each round. Round i of one row stands beside round i of every other row of its length."""
    peak_mb: float | None
    """MiB by which memory grew over what the loaded model held, after a first call of a few tokens."""
    parameters: int
    """Without embeddings."""
    share_of_bound: float | None
    """Of the speed of the same blocks without attention: median over the rounds."""
    share_of_matmul: float | None
    """Of the machine's matrix products at this precision and thread count: 2 FLOPs a parameter and token (6 in a
    training step)."""


@dataclass(frozen=True, kw_only=True)
class BenchSkipped:
    """One mixer at one length that was not measured."""

    mixer: str
    length: int
    train: bool
    reason: str
    out_of_time: bool = False
    """A larger budget would have measured it."""
    estimated_seconds: float | None = None
    """Of one pass."""


@dataclass(frozen=True, kw_only=True)
class MatmulRate:
    """Median rate of products of two 2048 × 2048 matrices, taken beside every length."""

    threads: int
    gflops_fp32: float
    gflops_bf16: float | None
    """None: the processor has no instructions for it."""


@dataclass(frozen=True, kw_only=True)
class BenchMachine:
    processor: str
    cores: int
    """That this process may use."""
    device: str
    torch: str
    """Version."""
    threads: Sequence[int]
    """Thread counts tried."""
    matmul: Sequence[MatmulRate]
    """One for each thread count."""
    load_before: float | None
    """Mean number of running processes over the minute before; None where the system does not say."""
    load_after: float | None

    @property
    def load(self) -> float | None:
        """The larger of the two."""
        known = [load for load in (self.load_before, self.load_after) if load is not None]
        return max(known, default=None)

    def to_json(self) -> dict:
        bf16 = [rate.gflops_bf16 for rate in self.matmul if rate.gflops_bf16 is not None]
        return {
            **asdict(self),
            "load": self.load,
            "matmul_gflops_fp32": max(rate.gflops_fp32 for rate in self.matmul),
            "matmul_gflops_bf16": max(bf16, default=None),
        }


@dataclass(frozen=True, kw_only=True)
class Bench:
    run: Run
    machine: BenchMachine
    config: Mapping[str, Any]
    """Resolved settings."""
    rows: Sequence[BenchRow]
    skipped: Sequence[BenchSkipped]
    notes: Mapping[str, str]
    """What each mixer of the rows is, where its name does not say."""

    def reasons(self) -> dict[str, list[str]]:
        """Why mixers were not measured, and which, each once."""
        found: dict[str, dict[str, None]] = {}
        for row in self.skipped:
            found.setdefault(row.reason, {})[row.mixer] = None
        return {reason: list(names) for reason, names in found.items()}

    def to_json(self) -> dict:
        return {
            "schema": BENCH_SCHEMA,
            "run": self.run.to_json(),
            "machine": self.machine.to_json(),
            "config": dict(self.config),
            "rows": [asdict(row) for row in self.rows],
            "skipped": [asdict(row) for row in self.skipped],
            "notes": dict(self.notes),
        }
