"""Seeds of every reader, changed blindly for a moment; and what once broke one."""

import tempfile
from itertools import count
from pathlib import Path

import pytest
from fuzzing import changed
from hypothesis import HealthCheck, Phase, given, settings
from targets import TARGETS

MOMENT = 2.0
"""Seconds for each reader."""


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read_and_what_once_broke_is_refused(name, tmp_path):
    target = TARGETS[name]
    for path in target.kept("seeds"):
        target.read(target.lay(tmp_path, path.read_bytes()) if target.lay else path)
    for path in target.kept("found"):
        target.trial(tmp_path, path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_changed_seeds(name, tmp_path):
    target, seeds, number = TARGETS[name], TARGETS[name].seeds(), count()
    slowest = max(target.trial(tmp_path, seed) for seed in seeds)

    # The same changes at every run: what is new is looked for by guided.py, not by whoever changes something else.
    @settings(
        max_examples=max(20, min(1000, int(MOMENT / (slowest + 0.001)))),
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(changed(target, seeds))
    def holds(data):
        with tempfile.TemporaryDirectory(dir=tmp_path, prefix=f"{next(number)}-") as folder:
            target.trial(Path(folder), data)

    holds()
