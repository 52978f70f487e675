"""`score`: what each token of a record costs under a model, and what a record costs in all."""

from longseq.tasks.score.request import Request
from longseq.tasks.score.run import Result, finished, scored

__all__ = ["Request", "Result", "finished", "scored"]
