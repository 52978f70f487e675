"""Shared by tests of faults: a warm process, the commands, and trials of them."""

import os

import pytest
from disturbed_commands import commands
from disturbed_runs import Fresh, Warm
from fault_trials import Trials


def pytest_collection_modifyitems(items):
    if not os.path.isdir("/proc/self/task"):
        for item in items:
            if "/tests/faults/" in str(item.path):
                item.add_marker(pytest.mark.skip("processes are disturbed as Linux does it"))


@pytest.fixture(scope="session")
def warm():
    process = Warm()
    yield process
    process.close()


@pytest.fixture(scope="session")
def fresh():
    return Fresh()


@pytest.fixture(scope="session")
def given(tmp_path_factory):
    """The commands, by name."""
    return commands(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="session")
def trials(warm, given, tmp_path_factory):
    return Trials(warm, given, tmp_path_factory.mktemp("trials"))


@pytest.fixture
def learning(given, tmp_path_factory):
    """Trials of commands that train as well."""
    process = Warm("learning")
    yield Trials(process, given, tmp_path_factory.mktemp("learning"))
    process.close()
