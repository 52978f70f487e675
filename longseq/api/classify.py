"""`longseq.classify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from longseq.api.models import Named, Path, Several, asked, inputs_of, opened
from longseq.api.results import Results, Walk
from longseq.log import Progress, count
from longseq.report.frame import Table
from longseq.results.findings import ClassRegion
from longseq.tasks.classify import Answers, Classified, Request
from longseq.tasks.classify.found import Evidence
from longseq.tasks.classify.write import columns_of, row_of

if TYPE_CHECKING:
    from longseq.streaming.hidden import HiddenReader


@dataclass(frozen=True, kw_only=True)
class Classification:
    """What a head says of one record."""

    file: str
    record: str
    start: int
    """First letter read, 0-based; more than 0 only where a region was asked for."""
    end: int
    label: str | None
    """The most probable class, or `unknown` where the record is out of the range of what the model was calibrated on;
    of a head over several labels those of probability 1/2 and more, joined by `;`. None of a head over numbers, and of
    a record without a letter that says something."""
    probability: float | None
    """Of the class; None of `unknown`."""
    values: Mapping[str, float | None]
    """Of each class the probability, or of each number its value."""
    regions: tuple[ClassRegion, ...]
    """Where along the record the class changes."""
    evidence: tuple[Evidence, ...]
    """Sentences of a document that speak most for its class."""
    truncated: bool
    """The file ended inside the record."""
    row: Mapping[str, Any]
    """All of it as a row of the table."""
    scores: Classified
    """The head's own scores: of the record, up to places along it, and of windows read afresh."""

    def __repr__(self) -> str:
        known = (f"{name} {value:.4g}" for name, value in self.values.items() if value is not None)
        said = self.label if self.label is not None else ", ".join(known)
        sure = "" if self.probability is None else f" ({self.probability:.2f})"
        return f"<{self.record}: {said}{sure}>"


class Classifications(Results[Classification]):
    """Classes of records, in input order; kept, a record takes a few numbers a window."""

    def __init__(self, walk: Callable[[], Walk[Classification]], answers: Answers):
        super().__init__(walk)
        self.labels: tuple[str, ...] = answers.labels
        """Names of the classes or numbers."""
        self._types = columns_of(answers)

    @property
    def table(self) -> Table:
        """A row a record, by the columns of `records.tsv`: the class, its probability, that of every class, and where
        the class changes."""
        return Table.of_rows(count(len(self), "record"), self._types, (one.row for one in self))


def classify(
    *inputs: Path,
    model: Named,
    every: int = 2048,
    window: int = 2048,
    evidence: int = 5,
    column: str | None = None,
    region: Several = (),
    alias: Path | None = None,
    strict: bool = False,
    on_unknown: Literal["error", "N"] = "error",
    precision: Literal["fp32", "bf16"] = "fp32",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Classifications:
    """Classes of records, by a model that `longseq train --labels` made, as `longseq classify` says them.

        for one in longseq.classify("inbox/", model="reviews/model"):
            print(one.record, one.label, one.probability)

    Args:
        inputs: Files, folders, patterns, or "-" for standard input.
        model: With a head of your own: a directory or a `Checkpoint`, which says the device.
        every: Tokens between two running readings; 0: only the whole record is told.
        window: Tokens of a window read afresh, for where the class changes; 0 for none.
        evidence: Sentences of a document that speak most for its class; 0 for none.
        column, region, alias, strict, on_unknown, precision, chunk, progress: As in `longseq.summarize`.

    Returns:
        The classes, not read yet: see `Results` for when they are, and what then stays in memory.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint. UsageError, ConfigError: a model without such a head, or an
            argument that cannot be. InputError: no such folder or pattern.
    """
    from longseq.streaming.hidden import HiddenReader
    from longseq.tasks.classify.run import answers_of

    request = Request(
        inputs=inputs_of(inputs),
        every=every,
        window=window,
        evidence=evidence,
        column=column,
        **asked(region, alias, strict=strict, on_unknown=on_unknown),
    )
    reader = HiddenReader(opened(model), chunk=chunk, precision=precision)
    answers = answers_of(reader)
    return Classifications(partial(_walk, request, reader, answers, progress), answers)


def _walk(request: Request, reader: HiddenReader, answers: Answers, progress: Progress | None) -> Walk[Classification]:
    from longseq.tasks.classify import classified
    from longseq.tasks.sources import require_some, sources_of

    sources = sources_of(request.inputs)
    for found in classified(request, reader, sources, progress):
        yield _of(found, answers)
    require_some(sources, reader.checkpoint)
    return [source.row() for source in sources]


def _of(found: Classified, answers: Answers) -> Classification:
    row, regions = row_of(found, answers)
    prefix = "" if answers.task == "regress" else "p_"
    return Classification(
        file=found.file,
        record=found.record,
        start=found.start,
        end=found.start + found.length,
        label=row.get("class", row.get("labels")),
        probability=row.get("probability"),
        values={name: row[prefix + name] for name in answers.labels},
        regions=tuple(
            ClassRegion(
                start=int(found.windows[one.first, 0]),
                end=int(found.windows[one.last - 1, 1]),
                label=one.label,
                probability=one.probability,
            )
            for one in regions
        ),
        evidence=found.evidence,
        truncated=found.truncated,
        row=row,
        scores=found,
    )
