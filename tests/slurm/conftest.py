"""The cluster of the tests here: one for all of them."""

import pytest
from cluster import Cluster


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster
