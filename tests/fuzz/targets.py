"""Every reader under fuzzing, by name."""

from __future__ import annotations

from fuzzed_documents import DOCUMENTS
from fuzzed_intervals import INTERVALS
from fuzzed_models import MODELS
from fuzzed_sequences import SEQUENCES
from fuzzed_settings import SETTINGS
from fuzzed_states import STATES
from fuzzed_summaries import SUMMARIES
from fuzzing import Target

_ALL = (*SEQUENCES, *INTERVALS, *DOCUMENTS, *SUMMARIES, *SETTINGS, *MODELS, *STATES)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
