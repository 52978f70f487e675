"""A disk that fills up, by a real limit on the size of files: what stood before it stays good, and the run goes on."""

import resource

import pytest
from processes import genome, lines, settings, weights

from longseq.cli import main
from longseq.config import from_mapping, to_toml
from longseq.errors import LongseqError
from longseq.log import NullProgress
from longseq.training import TrainConfig, train


@pytest.fixture
def limit():
    """A call after which no file grows beyond so many bytes, until it is called without any."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def call(size=None):
        resource.setrlimit(resource.RLIMIT_FSIZE, before if size is None else (size, before[1]))

    yield call
    call()


class Filling(NullProgress):
    """Fills the disk once so many steps are done."""

    def __init__(self, steps, fill):
        self.left, self.fill = steps, fill

    def advance(self, amount, **facts):
        self.left -= "memory" in facts
        if self.left == 0:
            self.fill()


@pytest.fixture
def config(tmp_path):
    tree = settings(genome(tmp_path / "genome.fa"), steps=12, checkpoint__every=5, evaluation__every=0)
    return from_mapping(TrainConfig, tree)


@pytest.mark.parametrize(("steps", "room", "said"), [
    (6, lambda run: 20_000, "checkpoints/step-00000010"),
    (6, lambda run: (run / "metrics.jsonl").stat().st_size + 20, "metrics.jsonl"),
    (9, lambda run: (run / "metrics.jsonl").stat().st_size + 20, "metrics.jsonl"),
], ids=["checkpoint", "journal", "journal before a checkpoint"])  # fmt: skip
def test_what_was_saved_is_good_and_the_run_goes_on(config, tmp_path, limit, steps, room, said):
    run = tmp_path / "run"
    with pytest.raises(LongseqError, match=rf"{said}: cannot be written: File too large; make room, .* --resume"):
        train(config, run, progress=Filling(steps, lambda: limit(room(run))))
    limit()
    assert {p.name for p in (run / "checkpoints").iterdir()} == {"latest", "step-00000005"}
    assert (run / "checkpoints" / "latest").read_text() == "step-00000005\n"
    train(config, run, resume=True)
    train(config, tmp_path / "undisturbed")
    assert lines(run) == lines(tmp_path / "undisturbed") and weights(run) == weights(tmp_path / "undisturbed")


@pytest.mark.parametrize("room", [100, 2_000, 20_000], ids=["settings", "data", "checkpoint"])
def test_no_room_from_the_start(config, tmp_path, limit, capsys, room):
    """As a person meets it; the same command does it all once there is room."""
    (tmp_path / "run.toml").write_text(to_toml(config))
    words = ["train", "--config", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run"), "--resume"]
    limit(room)
    assert main(words) == 1
    limit()
    said = capsys.readouterr().err.splitlines()[-1]
    assert "File too large" in said and "make room" in said
    assert main(words) == 0
