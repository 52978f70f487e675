"""`score` of variants: how much less likely a sequence is with the alternative allele in the place of the reference."""

from longseq.tasks.variants.request import VariantRequest
from longseq.tasks.variants.run import AlleleScore, Answer, VariantRun, score_variants

__all__ = ["AlleleScore", "Answer", "VariantRequest", "VariantRun", "score_variants"]
