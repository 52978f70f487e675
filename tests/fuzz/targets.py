"""Every reader under fuzzing, by name."""

from __future__ import annotations

from fuzzed_sequences import SEQUENCES
from fuzzing import Target

TARGETS: dict[str, Target] = {target.name: target for target in SEQUENCES}
