"""How a job went: where it ran, for how long, how fast, and how it ended."""

from __future__ import annotations

import os
import socket
import time
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from longseq.results.run import peak_rss_mb

SLURM = ("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT", "SLURM_JOB_PARTITION")
"""What a job of SLURM knows of itself."""


class Reader(Protocol):
    """A model that reads, and how."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def device(self) -> str: ...

    @property
    def precision(self) -> str: ...

    @property
    def threads(self) -> int: ...


class ReaderFacts(NamedTuple):
    """What is known of a model that reads."""

    name: str
    sha256: str
    device: str
    precision: str
    threads: int


class Attempt:
    """One job's attempt at a shard; it begins when this is made."""

    def __init__(self, command: str):
        self._command = command
        self._clock = time.monotonic()
        self._began = _now()
        self.model, self.model_sha256 = None, None  # type: str | None, str | None
        self.device, self.precision, self.threads = "cpu", "fp32", None  # type: str, str, int | None

    def read_by(self, model: Reader) -> None:
        """This model reads."""
        self.model, self.model_sha256 = model.name, model.sha256
        self.device, self.precision, self.threads = model.device, model.precision, model.threads

    def facts(self, tokens: int, exit_code: int, error: str | None = None) -> dict[str, Any]:
        """As it ends, for JSON; `tokens` were read."""
        seconds = time.monotonic() - self._clock
        found = {
            "command": self._command,
            "host": socket.gethostname(),
            "device": self.device,
            "precision": self.precision,
            "threads": self.threads,
            "model": self.model,
            "model_sha256": self.model_sha256,
            "began": self._began,
            "ended": _now(),
            "seconds": seconds,
            "tokens_per_s": tokens / seconds if seconds else 0.0,
            "peak_rss_mb": peak_rss_mb(),
            "exit_code": exit_code,
            "slurm": {name.lower(): os.environ[name] for name in SLURM if name in os.environ},
        }
        return found if error is None else found | {"error": error}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
