"""longseq: genomes and long documents through linear attention, in constant memory.

    import longseq
    longseq.summarize("genome.fa.gz")
    for record in longseq.read("genome.fa.gz"): ...
    checkpoint = longseq.load("dna")

`summarize`, `classify`, `annotate`, `embed`, `score` and `score_variants` do what the commands of these names do, and
give `Results`: walked one by one, shown in a notebook, or a data frame in one call. `load` and `read` open models and
files, `stream` gives hidden vectors along a record, `Surprisal` the bits of each base.

Names are fetched when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longseq.lazy import fetching

__version__ = "0.1.0"

if TYPE_CHECKING:
    from longseq.api.annotate import Annotation, Annotations, Feature, annotate
    from longseq.api.classify import Classification, Classifications, classify
    from longseq.api.embed import Embeddings, embed
    from longseq.api.results import Results
    from longseq.api.score import RecordScore, Scores, VariantScores, score, score_variants
    from longseq.api.stream import stream
    from longseq.api.summarize import Summaries, summarize
    from longseq.errors import LongseqError
    from longseq.formats import read
    from longseq.model import Checkpoint, load
    from longseq.records import Record
    from longseq.results.dna import RecordSummary
    from longseq.results.document import DocumentSummary
    from longseq.streaming import Passage, Stream, Surprisal

_HOMES = {
    "Annotation": "api.annotate",
    "Annotations": "api.annotate",
    "Checkpoint": "model",
    "Classification": "api.classify",
    "Classifications": "api.classify",
    "DocumentSummary": "results.document",
    "Embeddings": "api.embed",
    "Feature": "api.annotate",
    "LongseqError": "errors",
    "Passage": "streaming",
    "Record": "records",
    "RecordScore": "api.score",
    "RecordSummary": "results.dna",
    "Results": "api.results",
    "Scores": "api.score",
    "Stream": "streaming",
    "Summaries": "api.summarize",
    "Surprisal": "streaming",
    "VariantScores": "api.score",
    "annotate": "api.annotate",
    "classify": "api.classify",
    "embed": "api.embed",
    "load": "model",
    "read": "formats",
    "score": "api.score",
    "score_variants": "api.score",
    "stream": "api.stream",
    "summarize": "api.summarize",
}

__all__ = [
    "Annotation",
    "Annotations",
    "Checkpoint",
    "Classification",
    "Classifications",
    "DocumentSummary",
    "Embeddings",
    "Feature",
    "LongseqError",
    "Passage",
    "Record",
    "RecordScore",
    "RecordSummary",
    "Results",
    "Scores",
    "Stream",
    "Summaries",
    "Surprisal",
    "VariantScores",
    "__version__",
    "annotate",
    "classify",
    "embed",
    "load",
    "read",
    "score",
    "score_variants",
    "stream",
    "summarize",
]

__getattr__ = fetching(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
