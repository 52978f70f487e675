"""What a conversion cost and what it brought: a linear model beside the softmax one that it was made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from longseq.results.evaluation import Figure
from longseq.results.run import Run

CONVERSION_SCHEMA = "longseq.conversion/1"
JSON, HTML = "report.json", "report.html"
"""Beside the weights that they are of."""
STREAMED, WHOLE, TEACHER = "student, streamed", "student, whole", "teacher, whole"
"""What is timed: in chunks with the state carried, the whole length in one call, and the softmax model in one call with
every token seen by every other."""


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    name: str
    sha256: str
    parameters: int
    mixers: Sequence[str]
    segment: int
    """Tokens in which attention looks both ways, special ones included."""


@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """One layer on texts that fill a segment."""

    layer: int
    """From 1."""
    transfer_error: float
    """Squared error of the student's mixer, fed what the teacher's is fed, by the squares of the teacher's output."""
    hidden: float
    """Mean cosine of the vectors behind the layer, each model reading by itself."""
    entropy: Sequence[float]
    """Of the teacher's attention, for each attention head: nats, mean over queries."""
    spiky: Sequence[int]
    """Attention heads, from 1, whose entropy is less than half of `even`."""
    stages: Mapping[str, float]
    """Transfer error on texts held out of the training, by the stage after which it was measured, as the conversion
    kept it."""


@dataclass(frozen=True, kw_only=True)
class LengthRow:
    """Final vectors of the student beside the teacher's. A text longer than a segment is read by the teacher in
    windows, by the student with its memory of earlier segments."""

    tokens: int
    texts: int
    pooled: Figure
    """Cosine of the mean vectors of a text."""
    token: Figure
    """Cosine of the vectors of a token, mean over each text."""


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Vectors of texts, or of the paragraphs of few texts, each the mean over its first segment, as the teacher
    embeds."""

    texts: int
    cosine: Figure
    """To the teacher's vector of the same text."""
    apart: float
    """Mean cosine of the teacher's vectors of two different texts: what knowing nothing of a text comes to."""
    spearman: float
    """Rank correlation of the cosines of all pairs of texts; NaN of less than three."""
    neighbour: Figure
    """Share of texts whose nearest other text is the teacher's."""


@dataclass(frozen=True, kw_only=True)
class TaskRow:
    """Classes told from the vectors by logistic regression, in folds that both models share."""

    file: str
    texts: int
    """Of classes with two or more that were read."""
    classes: int
    folds: int
    frequent: float
    """Share of the most frequent class."""
    accuracy: Mapping[str, float]
    """Of `teacher` and `student`, over all folds."""
    macro_f1: Mapping[str, float]
    difference: Figure
    """Accuracy of the student less the teacher's."""


@dataclass(frozen=True, kw_only=True)
class SpeedRow:
    """One reader at one length, batch 1, random tokens."""

    reader: str
    length: int
    tokens_per_s: float
    """Of the median pass."""
    seconds: Sequence[float]
    """Of a pass in each round. Round i of one reader stands beside round i of the others at its length."""
    peak_mb: float | None
    """MiB by which memory grew over what the loaded model held."""


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """What was left out of the report card, and why."""

    what: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Latency:
    """One more turn of a conversation; seconds of each round, side by side."""

    conversation: int
    """Tokens before the turn."""
    turn: int
    """Tokens of the turn."""
    kept: Sequence[float]
    """The student's state was kept."""
    again: Sequence[float]
    """The student reads all of it, the turn included."""
    teacher: Sequence[float]
    """So does the teacher, in windows."""
    share: float
    """Of `kept` in `again`: median over the rounds."""


@dataclass(frozen=True, kw_only=True)
class Speed:
    processor: str
    threads: int
    chunk: int
    """Tokens a recurrent call."""
    load_before: float | None
    """Mean number of running processes over the minute before; None where the system does not say."""
    load_after: float | None
    rows: Sequence[SpeedRow]
    latency: Latency

    def ratios(self) -> dict[int, float]:
        """By length: how many times as fast as the teacher the student is, streamed; median over the rounds."""
        times = {(row.reader, row.length): row.seconds for row in self.rows}
        lengths = [row.length for row in self.rows if row.reader == STREAMED and (TEACHER, row.length) in times]
        return {n: ratio(times[TEACHER, n], times[STREAMED, n]) for n in lengths}

    @property
    def crossover(self) -> int | None:
        """Tokens from which the student, streamed, is the faster one: between the two lengths measured around it, on
        logarithmic scales; the shortest length where it always is, None where it never is."""
        ratios = sorted(self.ratios().items())
        slower = [i for i, (_, times) in enumerate(ratios) if times < 1]
        last = max(slower, default=-1)
        if last == len(ratios) - 1:
            return None
        after, gain = ratios[last + 1]
        if last < 0:
            return after
        before, loss = ratios[last]
        part = -math.log(loss) / (math.log(gain) - math.log(loss))
        return round(before * (after / before) ** part)


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """The report card."""

    run: Run
    teacher: ModelFacts
    student: ModelFacts
    texts: int
    """Given."""
    even: float
    """Nats: the entropy of attention that looks at all of a segment alike."""
    layers: Sequence[LayerRow]
    lengths: Sequence[LengthRow]
    retrieval: Retrieval | None
    tasks: Sequence[TaskRow]
    speed: Speed | None
    skipped: Sequence[Skipped]

    def to_json(self) -> dict:
        found = {"schema": CONVERSION_SCHEMA, **asdict(self)}
        if self.speed is not None:
            ratios = {str(length): times for length, times in self.speed.ratios().items()}
            found["speed"] |= {"times_as_fast": ratios, "crossover": self.speed.crossover}
        return found


def ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """Median over the rounds of seconds of a by seconds of b: how many times as fast b is."""
    found = sorted(x / y for x, y in zip(a, b, strict=True))
    middle = len(found) // 2
    return found[middle] if len(found) % 2 else (found[middle - 1] + found[middle]) / 2
