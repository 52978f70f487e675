"""Whether a record is like what its model was tried on."""

import numpy as np
import pytest
from dna_oracles import drawn, record

from longseq.errors import CheckpointError, InputError
from longseq.model.range import TrainingRange, read_range, write_range
from longseq.streaming import Surprisal
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.novelty import measure_range, novelty

KNOWN = TrainingRange(window=1_000, windows=50, quantiles=(0.005, 0.995), gc=(40, 60), bits=(1.8, 2.0), of="test")


def windows_of(gc: float, bits: float, count: int = 20, size: int = 1_000):
    strong = round(size * gc / 200)
    return np.tile([size // 2 - strong, strong, strong, size // 2 - strong], (count, 1)), np.full(count, bits)


@pytest.mark.parametrize(
    ("gc", "bits", "flag"), [(50, 1.9, "in range"), (70, 1.9, "out of range"), (50, 2.2, "out of range")]
)
def test_novelty_is_told_by_gc_and_bits(gc, bits, flag):
    for size in (1_000, 100):
        assert novelty(*windows_of(gc, bits, 20, size), size, KNOWN) == (flag, float(flag == "out of range"))


def test_novelty_is_unknown_without_a_range_or_a_window():
    assert novelty(*windows_of(50, 1.9), 1_000, None) == ("unknown", None)
    assert novelty(*windows_of(50, np.nan), 1_000, KNOWN) == ("unknown", None)
    assert novelty(np.zeros((0, 4)), np.zeros(0), 1_000, KNOWN) == ("unknown", None)


def test_a_measured_range_holds_what_it_was_measured_on_and_stays_with_its_weights(tiny, tmp_path, caplog):
    surprisal = Surprisal(tiny)
    found = measure_range(surprisal, [record(drawn(30_000, 9))], of="random", window=500, last=0.5)
    assert found.windows == 30 and found.gc[0] < 50 < found.gc[1] and found.bits[0] < found.bits[1]
    write_range(tmp_path, found, tiny.sha256)
    assert read_range(tmp_path, tiny.sha256) == found and read_range(tmp_path / "none", "") is None
    assert read_range(tmp_path, "other") is None and "other weights" in caplog.text
    options = {"window": 500, "surprisal": surprisal, "extras": Extras(training_range=found)}
    same, other = summarize_records([record(drawn(8_000, 10)), record(b"AC" * 4_000)], **options)
    assert same.row.findings.novelty == "in range" and other.row.findings.novelty == "out of range"
    (tmp_path / "range.json").write_text('{"model_sha256": "x", "window": 0}')
    with pytest.raises(CheckpointError, match="training range"):
        read_range(tmp_path, "x")
    with pytest.raises(InputError, match="20 windows"):
        measure_range(surprisal, [record(drawn(3_000))], of="few", window=500)
