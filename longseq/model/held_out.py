"""`held_out.json` of a checkpoint: what its training found on records it had not seen, beside what needs no model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from longseq.errors import CheckpointError
from longseq.formats.jsonfile import read_json
from longseq.model.beside import LONGEST

HELD_OUT = "held_out.json"


def write_figures(folder: Path, figures: Mapping[str, float], sha256: str) -> None:
    """Into a checkpoint's directory; `sha256` is the model's, of which they were found."""
    known = {name: value if math.isfinite(value) else None for name, value in figures.items()}
    text = json.dumps({"model_sha256": sha256, "figures": known}, indent=2)
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
        found = read_json(file, most=LONGEST)
        figures = {name: math.nan if value is None else float(value) for name, value in found["figures"].items()}
        return figures if found["model_sha256"] == sha256 else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise CheckpointError(where=str(file), expected="figures by name", found=str(error)) from None
