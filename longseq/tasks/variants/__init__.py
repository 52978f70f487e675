"""`score` of variants: how much less likely a sequence is with the alternative allele in the place of the reference.

Names are fetched when first used: a merge of tables wants no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.lazy import fetching

if TYPE_CHECKING:
    from longseq.tasks.variants.answers import AlleleScore, Answer, VariantAnswers
    from longseq.tasks.variants.request import VariantRequest
    from longseq.tasks.variants.run import VariantRun, score_variants

_HOMES = {
    "AlleleScore": "answers",
    "Answer": "answers",
    "VariantAnswers": "answers",
    "VariantRequest": "request",
    "VariantRun": "run",
    "score_variants": "run",
}

__all__ = ["AlleleScore", "Answer", "VariantAnswers", "VariantRequest", "VariantRun", "score_variants"]

__getattr__ = fetching(__name__, _HOMES)
