"""Evaluation: what was told against what should have been, beside baselines."""

from longseq.tasks.evaluate.run import EvaluateRequest, evaluate

__all__ = ["EvaluateRequest", "evaluate"]
