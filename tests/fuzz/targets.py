"""Every reader under fuzzing, by name."""

from __future__ import annotations

from fuzzed_models import MODELS
from fuzzed_sequences import SEQUENCES
from fuzzed_settings import SETTINGS
from fuzzed_states import STATES
from fuzzing import Target

TARGETS: dict[str, Target] = {target.name: target for target in (*SEQUENCES, *SETTINGS, *MODELS, *STATES)}
