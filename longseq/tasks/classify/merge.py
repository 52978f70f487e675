"""The folder that the shards of a batch make."""

from __future__ import annotations

import logging

from longseq.model import HeadConfig
from longseq.model.calibration import Calibration
from longseq.tasks.classify.answers import Answers, Head
from longseq.tasks.classify.found import Classified
from longseq.tasks.classify.write import Teller, folder_of
from longseq.tasks.shards.gather import Batch
from longseq.tasks.sources import ModelName, Source, require_some

log = logging.getLogger("longseq")

COMMAND = "classify"
KINDS = (Classified,)
"""Frames of a shard's spool."""


def merge(batch: Batch, out: str, *, command: str = "", force: bool = False) -> list[Source]:
    """Write the folder that `classify` does, from all shards; the sources. `command` is said in run.json.

    Raises:
        InputError, OutputExistsError: as `classify`, or of a damaged shard.
    """
    facts = batch.facts
    head = Head(HeadConfig(**facts["head"]), tuple(facts["labels"]))
    calibration = None if facts["calibration"] is None else Calibration(**facts["calibration"])
    answers = Answers(head, calibration)
    sources: list[Source] = list(batch.sources())
    for doubt in facts["doubts"]:
        log.warning("%s", doubt)
    run = facts["run"] | {"command": command}
    with folder_of(out, answers, run, documents=facts["documents"], force=force) as sinks:
        teller = Teller(answers, sinks)
        for _, found in batch.frames(KINDS):
            teller.take(found)
        require_some(sources, ModelName(**facts["model"]))
    return sources
