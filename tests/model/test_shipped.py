"""What ships is small, whole, and has learned something."""

from pathlib import Path

import numpy as np
from safetensors import safe_open

from longseq.formats import read
from longseq.model import load
from longseq.model.checkpoint import PRETRAINED, shipped
from longseq.streaming import Surprisal

DATA = Path(__file__).parents[2] / "data"


def test_every_shipped_model_is_small_and_whole():
    assert "dna" in shipped()
    for name in shipped():
        checkpoint = load(name)
        weights = PRETRAINED / name / "model.safetensors"
        assert weights.stat().st_size <= 12 * 2**20
        with safe_open(weights, "pt") as file:
            assert {file.get_slice(key).get_dtype() for key in file.keys()} <= {"BF16", "F16"}  # noqa: SIM118
        assert checkpoint.card.startswith("# ")


def test_the_default_model_knows_more_than_a_coin():
    """A phage it was not trained on costs less than the two bits of a guess, the first thousand bases too."""
    (letters,) = ((b"".join(record.pieces))[:20_000] for record in read(DATA / "T4.gbff.gz"))
    reader = Surprisal(load())()
    bits = np.concatenate([reader.push(letters), reader.finish()])
    assert len(bits) == 20_000
    assert np.nanmean(bits) < 2 and np.nanmean(bits[:1000]) < 2
