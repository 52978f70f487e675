"""Digests of the models that take part in a batch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from longseq.formats.digest import file_digest
from longseq.model.calibration import FILE as CALIBRATION
from longseq.model.checkpoint import digest, locate
from longseq.model.extractor import ENCODER, WEIGHTS
from longseq.model.held_out import HELD_OUT
from longseq.model.range import FILE as RANGE

BESIDE = (CALIBRATION, RANGE, HELD_OUT)
"""Files of a checkpoint beside its weights by which results differ."""


def model_digests(names: Mapping[str, str | None]) -> dict[str, str]:
    """sha256 of checkpoints, or of extractors, by what they are for: shipped names or directories, None left out.

    Raises:
        CheckpointError: no such one.
    """
    return {what: model_digest(name) for what, name in names.items() if name is not None}


def model_digest(name: str) -> str:
    """That of one, with all by which its results differ."""
    if (Path(name) / WEIGHTS).is_file():
        encoder = Path(name) / ENCODER
        parts = [file_digest(str(Path(name) / WEIGHTS)), digest(encoder) if encoder.is_dir() else None]
    else:
        path = locate(name)
        parts = [digest(path), *(file_digest(str(path / file)) for file in BESIDE)]
    return hashlib.sha256("".join(f"{part}\n" for part in parts).encode()).hexdigest()
