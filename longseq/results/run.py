"""Where a result comes from: version, checkpoint, device, precision, command, and what it cost."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass

SUMMARY_SCHEMA = "longseq.summary/1"
RUN_SCHEMA = "longseq.run/1"


@dataclass(frozen=True, kw_only=True)
class Run:
    """Provenance of one result."""

    version: str
    """Version of longseq."""
    command: str
    """The command line or call that made it."""
    model: str | None = None
    """Name or directory of the checkpoint; None when no model ran."""
    model_sha256: str | None = None
    """Digest of the checkpoint's weights, configuration and tokenizer."""
    device: str = "cpu"
    precision: str = "fp32"
    threads: int | None = None
    """Compute threads, fixed for the run: rounding depends on it."""
    tokens: int = 0
    """Tokens or bases read."""
    seconds: float = 0.0
    tokens_per_s: float = 0.0
    peak_rss_mb: float = 0.0
    """Peak resident set in MiB."""

    def to_json(self) -> dict:
        return asdict(self)


def peak_rss_mb() -> float:
    """Peak resident set of this process so far, in MiB; 0.0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
