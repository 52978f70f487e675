"""Classes, labels or numbers of records, by a head of the user's own training: whole, along the record, and afresh.

Names are fetched when first used: a merge of tables wants no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.lazy import fetching

if TYPE_CHECKING:
    from longseq.tasks.classify.answers import Answers
    from longseq.tasks.classify.fit import calibrate
    from longseq.tasks.classify.found import Classified
    from longseq.tasks.classify.reading import Request, classified, record_model
    from longseq.tasks.classify.run import classify

_HOMES = {
    "Answers": "answers",
    "Classified": "found",
    "Request": "reading",
    "calibrate": "fit",
    "classified": "reading",
    "classify": "run",
    "record_model": "reading",
}

__all__ = ["Answers", "Classified", "Request", "calibrate", "classified", "classify", "record_model"]

__getattr__ = fetching(__name__, _HOMES)
