"""Classes, labels or numbers of records, by a head of the user's own training: whole, along the record, and afresh."""

from longseq.tasks.classify.answers import Answers
from longseq.tasks.classify.calibrate import calibrate
from longseq.tasks.classify.reading import Classified, Request, classified, record_model
from longseq.tasks.classify.run import classify

__all__ = ["Answers", "Classified", "Request", "calibrate", "classified", "classify", "record_model"]
