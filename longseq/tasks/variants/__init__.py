"""`score` of variants: how much less likely a sequence is with the alternative allele in the place of the reference."""

from longseq.tasks.variants.answers import AlleleScore, Answer, VariantAnswers
from longseq.tasks.variants.request import VariantRequest
from longseq.tasks.variants.run import VariantRun, score_variants

__all__ = ["AlleleScore", "Answer", "VariantAnswers", "VariantRequest", "VariantRun", "score_variants"]
