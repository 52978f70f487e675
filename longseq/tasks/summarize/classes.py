"""The class of a record, and where along it the class changes, by a head of the user's own training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longseq.errors import UsageError
from longseq.model.calibration import read_calibration
from longseq.records import Record
from longseq.results.findings import ClassCall, ClassRegion
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify import Answers, Request, record_model
from longseq.tasks.classify.reading import classified_records
from longseq.tasks.sources import Source
from longseq.tokens import DnaTokenizer


class Classifier:
    """Reads records with a head over one declared set of classes."""

    def __init__(self, reader: HiddenReader):
        """Raises UsageError: a model without a head over classes, or not of letters of DNA."""
        checkpoint = reader.checkpoint
        model = record_model(checkpoint)
        if model.head_config.task != "classify" or not isinstance(checkpoint.tokenizer, DnaTokenizer):
            what = "text" if not isinstance(checkpoint.tokenizer, DnaTokenizer) else model.head_config.answers
            raise UsageError(where=checkpoint.name, expected="a model that classifies records of DNA", found=what)
        self._reader = reader
        calibration = read_calibration(checkpoint.path, checkpoint.sha256)
        self._calibrated = calibration is not None
        self._answers = Answers(model, calibration)

    def calls(self, records: Iterable[Record]) -> Iterator[ClassCall | None]:
        """Of each record, in order; None of one without a letter. Short ones are read side by side.

        Raises:
            LongseqError: letters that cannot be read again.
        """
        source = Source("")
        for found in classified_records(Request(inputs=()), self._reader, ((source, record) for record in records)):
            if found.scores is None:
                yield None
                continue
            values = self._answers.values(found.scores).tolist()
            regions = []
            for region in self._answers.regions(found.afresh):
                start, end = int(found.windows[region.first, 0]), int(found.windows[region.last - 1, 1])
                regions.append(ClassRegion(start=start, end=end, label=region.label, probability=region.probability))
            yield ClassCall(
                model=self._reader.checkpoint.sha256,
                label=self._answers.verdict(found.scores) or "",
                probabilities=dict(zip(self._answers.labels, values, strict=True)),
                calibrated=self._calibrated,
                regions=tuple(regions),
            )
