"""The report card of a conversion."""

from longseq.tasks.convert.card.agreement import Labelled
from longseq.tasks.convert.card.config import CardConfig
from longseq.tasks.convert.card.run import measured, report_card

__all__ = ["CardConfig", "Labelled", "measured", "report_card"]
