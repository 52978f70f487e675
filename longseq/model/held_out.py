"""`held_out.json` of a checkpoint: what its training found on records it had not seen, beside what needs no model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from longseq.errors import CheckpointError

HELD_OUT = "held_out.json"


def write_figures(folder: Path, figures: Mapping[str, float], sha256: str) -> None:
    """Into a checkpoint's directory; `sha256` is the model's, of which they were found."""
    text = json.dumps({"model_sha256": sha256, "figures": dict(figures)}, indent=2)
    (folder / HELD_OUT).write_text(text + "\n", encoding="utf-8")


def read_figures(folder: Path, sha256: str) -> dict[str, float]:
    """Those of a checkpoint by name; none where there are none, or of other weights.

    Raises:
        CheckpointError: they cannot be read.
    """
    file = folder / HELD_OUT
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(k): float(v) for k, v in found["figures"].items()} if found["model_sha256"] == sha256 else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(where=str(file), expected="figures by name", found=str(error)) from None
