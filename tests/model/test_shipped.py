"""What ships is small, whole, and has learned something."""

import math
from pathlib import Path

import numpy as np
import torch
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


def ids(checkpoint, text):
    return torch.from_numpy(checkpoint.tokenizer.encode(text).astype(np.int64))[None]


def test_the_text_model_knows_english_and_chinese():
    """Sentences that were written for this test cost less than a guess among the pieces by far: 13 bits each."""
    checkpoint = load("text")
    for text, most in (
        ("The council met on Tuesday to decide whether the old bridge should be repaired or replaced.", 3.5),
        ("今天天气很好，我们去公园散步，然后在图书馆看书。", 12.0),
        ("春風吹落花，明月照人家。", 9.0),
    ):
        with torch.no_grad():
            nats, _, _ = checkpoint.language_model().loss(ids(checkpoint, text))
        assert float(nats) / math.log(2) / len(text) < most


def test_sentences_on_one_matter_are_near_each_other():
    checkpoint = load("text")
    pairs = [
        (
            "The patients were treated with an antibody for two weeks.",
            "Cells of the immune system respond to infection.",
        ),
        ("She walked to the church with her sister.", "His mother was very fond of dancing at the ball."),
        ("明月照高樓，思君不見君。", "孤舟泊江上，秋水连天碧。"),
    ]
    with torch.no_grad():
        vectors = [checkpoint.model.encoder(ids(checkpoint, text))[0][0].mean(0) for pair in pairs for text in pair]
    rows = torch.stack(vectors) - torch.stack(vectors).mean(0)
    near = torch.nn.functional.cosine_similarity(rows[:, None], rows[None], dim=2).fill_diagonal_(-2).argmax(1).tolist()
    assert near[:2] == [1, 0] and near[4:] == [5, 4]
