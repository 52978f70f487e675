"""Every reader under fuzzing, by name."""

from __future__ import annotations

from fuzzing import Target
from fuzzed_sequences import SEQUENCES

TARGETS: dict[str, Target] = {target.name: target for target in SEQUENCES}
