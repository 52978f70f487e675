"""What the loop asks of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch import nn

from longseq.model import Model
from longseq.model.calibration import Calibration
from longseq.training.batch import Source
from longseq.training.documents import AnyTokenizer

if TYPE_CHECKING:
    from accelerate import Accelerator

Figures = Mapping[str, float]
"""What an evaluation found, by name."""


class Task(ABC):
    """The loop trains whatever keeps this contract; it carries, resumes, stops and saves all tasks alike.

    A loss is an `nn.Module` called with the arrays of a batch by name and `state`; it gives the sum of weighted losses,
    the sum of weights, and the state after. What is minimised is the ratio of the two sums over all processes.
    """

    tokenizer: AnyTokenizer
    digest: str
    """Of the data: a resumed run must have the same."""
    train: Source
    soft_masked: float | None = None
    """Share of the letters to learn from that are in lower case; None of documents."""
    bases: int
    """Tokens of an epoch."""
    described: str
    """What there is to learn from, for people."""
    rule: str
    """What is held out, for people."""
    to_score: int
    """Tokens that an evaluation reads; 0: nothing is held out."""
    main: str
    """The figure by which two evaluations are compared."""
    lower_is_better: bool
    """Whether a smaller `main` is better."""

    @abstractmethod
    def model(self) -> Model:
        """A new model, which `longseq.model.save` takes."""

    @abstractmethod
    def objective(self, model: Any) -> nn.Module:
        """The loss of a model of this task."""

    def faster(self, model: Any) -> Mapping[nn.Parameter, float]:
        """Parameters whose learning rate is so many times that of all others."""
        return {}

    @abstractmethod
    def evaluate(
        self, objective: Any, processes: Accelerator, *, lanes: int, stop: Callable[[], bool]
    ) -> Figures | None:
        """Score what is held out, `lanes` at a time; None if `stop` came true in any process."""

    @abstractmethod
    def learned(self, loss: float) -> Figures:
        """The loss of a step as it is reported, by name; the first one is shown."""

    @abstractmethod
    def said(self, figures: Figures) -> str:
        """An evaluation in a few words, beside what is reached by knowing nothing."""

    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What the reader should know of the data before the run begins."""

    def leaks(self) -> tuple[str, ...]:
        """What is held out and learned from as well, as warnings; read from the data, so that it takes a while."""
        return ()

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Of the data, for the model card."""

    def calibration(self, figures: Figures) -> Calibration | None:
        """Of the model that `figures` were found of, where it answers in probabilities of records."""
        return None
