"""Short records that a model reads side by side have the summaries that each has alone, and failures stay their own."""

import random

import pytest
from dna_oracles import record

from longseq.errors import InputError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.streaming import Surprisal
from longseq.tasks.summarize.dna import summarize_records
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(folder, LanguageModel(ModelConfig(width=16, heads=2, layers=1)), DnaTokenizer())
    return Surprisal(load(folder), chunk=512)


def letters(length):
    return "".join(random.Random(length).choices("ACGTACGTN", k=length)).encode()


@pytest.mark.parametrize("strands", ["both", "forward"])
def test_together_is_alone(model, strands):
    lengths = [200, 10, 0, 9000, 64, 300, 8192, 70, 71]
    options = {"window": 100, "surprisal": model, "strands": strands}
    together = list(summarize_records([record(letters(n), id=str(n)) for n in lengths], **options))
    assert [summary.row.id for summary in together] == [str(n) for n in lengths]
    for length, found in zip(lengths, together, strict=True):
        (alone,) = summarize_records([record(letters(length), id=str(length))], **options)
        assert found.row == alone.row and found.regions == alone.regions
        for name in ("bits", "bits_forward", "bits_reverse"):
            assert getattr(found.windows, name).tobytes() == getattr(alone.windows, name).tobytes()


def test_a_bad_record_among_many(model):
    def fails():
        yield b"ACGT" * 10
        raise InputError("a fault")

    bad = record(b"", id="bad")
    bad.pieces = fails()
    failed = []
    found = summarize_records(
        [record(b"ACGT" * 9, id="a"), bad, record(b"ACGT" * 5, id="b")],
        surprisal=model,
        on_failure=lambda record, error: failed.append((record.id, str(error))),
    )
    assert [summary.row.id for summary in found] == ["a", "b"]
    assert failed == [("bad", "a fault")]
