"""A trained softmax Transformer as a checkpoint that gives the same vectors: its mixer is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from longseq.formats.atomic import free_directory
from longseq.model import Model, save
from longseq.model.calibration import read_calibration
from longseq.tasks.convert.source import Source, read_original, require_other
from longseq.tasks.convert.work import forget


@dataclass(frozen=True)
class Converted:
    """What a conversion gave."""

    kind: str
    """bert, roberta, distilbert, nn.TransformerEncoder or longseq."""
    model: Model
    special: tuple[str, ...]
    """The special tokens around each segment."""
    left: tuple[str, ...]
    """Tensors of the teacher that no hidden vector depends on, and that are left out."""


def convert(source: Source, out: str | Path, *, force: bool = False) -> Converted:
    """Write the checkpoint `out` of the Transformer of `source`, weights one to one.

    A text is read in segments, each with the teacher's special tokens around it and positions of its own: up to a
    segment's length hidden vectors equal the teacher's, and beyond it those of the teacher in windows.

    Raises:
        CheckpointError, UsageError, ConfigError: as `read_original`.
        UsageError: `out` is where the Transformer stands.
        OutputExistsError: `out` stands already and `force` is off.
    """
    require_other(out, source.model)
    free_directory(out, force=force)
    found = read_original(source)
    ours = found.checkpoint
    if ours is None:
        facts = {
            **found.facts(),
            "mixer": "softmax, as it was trained: vectors of a text within a segment are those of the original model",
            "segment": f"{found.model.config.segment} tokens, each read by itself with positions of its own",
        }
        save(out, found.model, found.tokenizer, card=facts, force=force)
    else:
        save(
            out,
            found.model,
            found.tokenizer,
            labels=ours.labels,
            card=ours.card,
            calibration=read_calibration(ours.path, ours.sha256),
            soft_masked=ours.soft_masked,
            force=force,
        )
    forget(out)
    return Converted(found.kind, found.model, found.special, found.left)
