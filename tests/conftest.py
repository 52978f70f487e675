"""Shared by all tests: one compute thread, so that test processes side by side do not wait for one another."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    import torch

    torch.set_num_threads(1)
