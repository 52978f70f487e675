"""Laws of class probabilities: what the whole record gives, whatever the cuts; strands mirror; memory stays."""

import numpy as np
import pytest
import torch

from longseq.errors import AlphabetError, CheckpointError, ConfigError
from longseq.model import Checkpoint, HeadConfig, LanguageModel, ModelConfig, TokenModel
from longseq.records import reverse_complement
from longseq.streaming.class_lanes import classified
from longseq.streaming.classes import ClassReader
from longseq.tokens import DnaTokenizer

TOKENIZER = DnaTokenizer()
LABELS = ("none", "exon+", "exon-", "loop")
SWAPPED = [0, 2, 1, 3]


def checkpoint(visibility="causal", task="annotate", labels=LABELS):
    mixers = {"causal": ("gated",), "both": ("gated",), "segment": ("linear",)}[visibility]
    segment = {"segment": 16} if visibility == "segment" else {}
    config = ModelConfig(
        vocabulary=TOKENIZER.vocabulary, width=16, layers=1, heads=2, pattern=mixers, visibility=visibility, **segment
    )
    if task == "next":
        model = LanguageModel(config)
    else:
        complement = torch.from_numpy(TOKENIZER.complement(np.arange(config.vocabulary)).astype(np.int64))
        model = TokenModel(config, HeadConfig(task=task, outputs=len(labels)), labels, complement)
        with torch.no_grad():
            model.head.weight.mul_(8)  # far from equal probabilities
    return Checkpoint(name="m", path=None, model=model.eval(), tokenizer=TOKENIZER, labels=labels, sha256="0")


def record(length, seed=0):
    return np.random.default_rng(seed).choice(np.frombuffer(b"ACGTacgtNR", np.uint8), length).tobytes()


def read(reader, letters, cut=37):
    found = list(reader(letters[i : i + cut] for i in range(0, len(letters), cut)))
    assert b"".join(TOKENIZER.decode(ids) for ids, _ in found) == letters.upper()
    return np.concatenate([probabilities for _, probabilities in found])


def whole(model, letters):
    """The definition: the model at once, over the record and over its reverse complement."""

    def one(text):
        with torch.no_grad():
            return model(torch.from_numpy(TOKENIZER.encode(text)[0].astype(np.int64))[None])[0][0].softmax(-1).numpy()

    return (one(letters) + one(reverse_complement(letters))[::-1][:, SWAPPED]) / 2


@pytest.mark.parametrize("visibility", ["causal", "segment", "both"])
def test_any_chunk_gives_what_the_whole_record_gives(visibility):
    found, letters = checkpoint(visibility), record(150)
    wanted = whole(found.model, letters)
    assert wanted.max() > 0.5 and np.abs(wanted[:, 1] - wanted[:, 2]).max() > 0.1
    for chunk in (16, 48, 160, None):
        probabilities = read(ClassReader(found, chunk=chunk), letters)
        assert probabilities.dtype == np.float32 and np.abs(probabilities - wanted).max() <= 2e-6


@pytest.mark.parametrize("visibility", ["causal", "segment", "both"])
def test_strands_mirror_to_the_bit(visibility):
    reader, letters = ClassReader(checkpoint(visibility), chunk=32), record(150)
    other = read(reader, reverse_complement(letters), cut=50)
    assert np.array_equal(other[::-1][:, SWAPPED], read(reader, letters))


def test_a_record_without_letters_has_no_readings():
    reader = ClassReader(checkpoint())
    assert list(reader([])) == list(reader([b""])) == []


def test_no_call_of_the_model_grows_with_the_record(monkeypatch):
    found = checkpoint("both")
    reader, sizes = ClassReader(found, chunk=16), []
    forward = found.model.encoder.forward
    monkeypatch.setattr(found.model.encoder, "forward", lambda ids, *a: sizes.append(ids.shape[1]) or forward(ids, *a))
    for piece in reader([record(100)]):
        assert len(piece.ids) <= 16
    assert max(sizes) == 16 and sum(sizes) == 2 * 100  # two passes, not four


def test_what_cannot_be_read_is_refused_at_once():
    with pytest.raises(
        CheckpointError, match="expected a model to classify each base, found a model to score the next"
    ):
        ClassReader(checkpoint(task="next"))
    with pytest.raises(CheckpointError, match="train --task annotate"):
        ClassReader(checkpoint(task="masked"))
    with pytest.raises(ConfigError, match=r"chunk: expected a multiple of model\.segment \(16\), found 20"):
        ClassReader(checkpoint("segment"), chunk=20)
    with pytest.raises(ConfigError, match="precision"):
        ClassReader(checkpoint(), precision="int8")


@pytest.mark.parametrize("visibility", ["causal", "segment", "both"])
def test_side_by_side_each_record_is_what_it_is_alone_and_mirrors(visibility):
    reader = ClassReader(checkpoint(visibility), chunk=512)  # eight lanes of the shortest
    letters = [record(n, seed=n) for n in (150, 1, 0, 9000, 70, 300, 40, 8192, 33)]

    def together(texts):
        found = {}
        for key, parts in classified(reader, ((i, [text[:50], text[50:]]) for i, text in enumerate(texts))):
            found[key] = np.concatenate([np.zeros((0, 4), np.float32), *(p for _, p in parts)])
        assert list(found) == list(range(len(texts)))
        return list(found.values())

    found = together(letters)
    mirrored = together([reverse_complement(text) for text in reversed(letters)])[::-1]  # other neighbours too
    for text, one, other in zip(letters, found, mirrored, strict=True):
        assert len(one) == len(text) and np.array_equal(other[::-1][:, SWAPPED], one)
        assert not len(text) or np.abs(one - read(reader, text)).max() <= 2e-6


def test_a_bad_record_is_an_error_of_its_own():
    reader, found = ClassReader(checkpoint()), []
    for key, parts in classified(reader, [("a", [b"ACGT"]), ("b", [b"AC!"]), ("c", [b"A", b"C"])]):
        try:
            found.append((key, sum(len(ids) for ids, _ in parts)))
        except AlphabetError as error:
            found.append((key, "'!'" in str(error)))
    assert found == [("a", 4), ("b", True), ("c", 2)]
