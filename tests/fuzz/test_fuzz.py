"""Seeds of every reader, changed blindly for a moment; and what once broke one."""

import tempfile
from pathlib import Path

import pytest
from fuzzing import changed
from hypothesis import HealthCheck, Phase, given, settings
from targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read_and_what_once_broke_is_refused(name, tmp_path):
    target = TARGETS[name]
    for seed in target.seeds():
        target.read(target.laid(tmp_path, seed))
    for path in target.kept("found"):
        target.trial(tmp_path, path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_changed_seeds(name, tmp_path):
    target, seeds = TARGETS[name], TARGETS[name].seeds()
    for seed in seeds:
        target.read(target.laid(tmp_path, seed))  # imports what is imported when it is wanted

    # The same changes at every run: what is new is looked for by guided.py, not by whoever changes something else.
    @settings(
        max_examples=target.examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(changed(target, seeds))
    def holds(data):
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            target.trial(Path(folder), data)

    holds()
