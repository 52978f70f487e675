"""Shared by all tests: one compute thread, so that test processes side by side do not wait for one another; and no
network, neither for a test nor for what it starts."""

import offline_guard
import pytest

offline_guard.refuse()
offline_guard.environment()


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    import torch

    torch.set_num_threads(1)
