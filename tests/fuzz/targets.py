"""Every reader under fuzzing, by name."""

from __future__ import annotations

from fuzzed_documents import DOCUMENTS
from fuzzed_sequences import SEQUENCES
from fuzzed_summaries import SUMMARIES
from fuzzing import Target

TARGETS: dict[str, Target] = {target.name: target for target in (*SEQUENCES, *DOCUMENTS, *SUMMARIES)}
