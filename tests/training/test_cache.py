"""Laws of what runs share: made once, whole or not there, and nothing is written where it is."""

import os
import threading

import numpy as np
import pytest

from longseq.config import from_mapping
from longseq.errors import UsageError
from longseq.training import TrainConfig, train
from longseq.training.cache import made


def tree(folder):
    return sorted((str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_made_once(tmp_path):
    calls = []

    def make(aside):
        calls.append(aside)
        (aside / "x").write_text("whole")

    first = made("abc", tmp_path / "a" / "b", make)
    assert made("abc", tmp_path / "a" / "b", make) == first == tmp_path / "a" / "b" / "abc"
    assert len(calls) == 1 and (first / "x").read_text() == "whole"
    assert made("abc", tmp_path / "other", make, look=tmp_path / "a" / "b") == first
    assert not (tmp_path / "other").exists()
    assert made("new", tmp_path / "other", make, look=tmp_path / "a" / "b") == tmp_path / "other" / "new"


def test_two_that_make_it_at_once(tmp_path):
    """Both find nothing and make it; the first one's stays, and both have it."""
    both, found = threading.Barrier(2), []

    def work(name):
        def make(aside):
            both.wait(10)
            (aside / "x").write_text(name * 1000)
            (aside / "y").write_text(name * 1000)

        found.append(made("abc", tmp_path, make))

    threads = [threading.Thread(target=work, args=(name,)) for name in "pq"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [tmp_path / "abc"] * 2
    assert (tmp_path / "abc" / "x").read_text() == (tmp_path / "abc" / "y").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["abc"]


def test_one_that_was_given_up_is_not_used(tmp_path):
    def fail(aside):
        (aside / "x").write_text("ha")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made("abc", tmp_path, fail)
    assert not list(tmp_path.iterdir())
    (tmp_path / ".abc.12345678").mkdir()  # of a process that was killed
    (tmp_path / ".abc.12345678" / "x").write_text("ha")
    target = made("abc", tmp_path, lambda aside: (aside / "x").write_text("whole"))
    assert (target / "x").read_text() == "whole"


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made: Not a directory"):
        made("abc", tmp_path / "file" / "cache", lambda aside: None)


@pytest.fixture
def settings(tmp_path):
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(0).integers(0, 4, 2000)].tobytes()
    (tmp_path / "g.fa").write_bytes(b">a\n" + letters + b"\n")

    def make(**data):
        return from_mapping(
            TrainConfig,
            {
                "inputs": [str(tmp_path / "g.fa")],
                "steps": 2,
                "batch": 64,
                "device": "cpu",
                "threads": 1,
                "model": {"width": 16, "layers": 1, "heads": 2},
                "data": {"window": 32, **data},
            },
        )

    return make


def test_runs_share_a_cache(settings, tmp_path):
    cache = tmp_path / "cache"
    train(settings(cache=str(cache)), tmp_path / "dry", dry_run=True)
    assert not cache.exists()
    train(settings(cache=str(cache)), tmp_path / "one")
    assert not (tmp_path / "one" / "data").exists()
    os.chmod(cache, 0o555)
    before = tree(cache)
    train(settings(cache=str(cache)), tmp_path / "two")
    train(settings(cache=str(cache)), tmp_path / "dry", dry_run=True)
    assert tree(cache) == before
    train(settings(), tmp_path / "alone")
    models = [(tmp_path / run / "model" / "model.safetensors").read_bytes() for run in ("one", "two", "alone")]
    assert models[0] == models[1] == models[2]
    train(settings(cache=str(tmp_path / "moved"), leakage=0.9), tmp_path / "one", resume=True)
    assert [path.name for path in (tmp_path / "moved").iterdir()] == [path.name for path in cache.iterdir()]
