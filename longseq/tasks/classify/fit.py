"""A calibration of a trained head by labelled records."""

from __future__ import annotations

import numpy as np

from longseq.errors import InputError
from longseq.log import Progress
from longseq.model.calibration import Calibration, write_calibration
from longseq.results.source import SourceRow
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify.reading import Request, classified, record_model
from longseq.tasks.sources import Source, require_some
from longseq.training.config import LabelConfig
from longseq.training.labels import read_labels


def calibrate(
    request: Request, reader: HiddenReader, labels: str, progress: Progress | None = None
) -> tuple[Calibration, list[SourceRow]]:
    """Fit temperature and threshold on the records of `labels`, a table of ids and classes, and write
    `calibration.json` into the model's folder. The records should be none that the head was trained on.

    Raises:
        InputError: a model of numbers; labels that cannot be read, or that the head does not know.
    """
    checkpoint, model = reader.checkpoint, record_model(reader.checkpoint)
    task = model.head_config.task
    if task == "regress":
        raise InputError(where=checkpoint.name, expected="a head that gives probabilities", found="one of numbers")
    sources, ids, scores = [Source(file) for file in request.inputs], [], []
    for found in classified(request, reader, sources, progress):
        if found.scores is not None:
            ids.append(found.record)
            scores.append(found.scores)
    require_some(sources, checkpoint)
    read = read_labels(ids, np.ones(len(ids), np.int64), task, LabelConfig(file=labels))
    unknown = [name for name in read.names if name not in model.labels]
    if unknown:
        raise InputError(
            where=labels, expected="classes of the model, " + ", ".join(model.labels), found=", ".join(unknown)
        )
    place = np.array([model.labels.index(name) for name in read.names])
    if task == "classify":
        truth = place[read.targets]
    else:
        truth = np.zeros((len(read.targets), len(model.labels)))
        truth[:, place] = read.targets
    calibration = Calibration.fitted(np.stack(scores)[read.record], truth, read.groups.of)
    write_calibration(checkpoint.path, calibration, checkpoint.sha256)
    return calibration, [source.row() for source in sources]
