"""Known truth of per-base readings: a planted surprise stands at its base on both strands, and the readings of a record
and of its reverse complement mirror each other."""

import random

import numpy as np
import pytest
import torch

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.records import reverse_complement
from longseq.tokens import DnaTokenizer

LENGTHS = (1, 3, 63, 64, 65, 400, 8192, 8193, 9001)
CHUNKS = (2048, 257, 96)
ODDS = 6.0
ROUNDING = 1e-5
"""Bits."""


def letters(length, seed):
    """Bases, codes, both cases, and a run of N."""
    text = random.Random(seed).choices("ACGTACGTACGTacgtRYN", k=length)
    if length > 300:
        text[100:290] = "N" * 190
    return "".join(text).encode()


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A model that has learned nothing."""
    folder = tmp_path_factory.mktemp("drawn") / "m"
    model = LanguageModel(ModelConfig(width=16, heads=2, layers=2))
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(3))
    save(folder, model, DnaTokenizer())
    return folder


@pytest.fixture(scope="module")
def at_rich(tmp_path_factory):
    """A model that expects A or T after anything: its tokens all look alike, so hidden vectors say nothing of them."""
    folder = tmp_path_factory.mktemp("rich") / "m"
    model = LanguageModel(ModelConfig(width=16, heads=2, layers=1))
    with torch.no_grad():
        model.encoder.embedding.weight[:] = model.encoder.embedding.weight[0]
        hidden = model.encoder(torch.zeros(1, 50, dtype=torch.long))[0][0, -1]
        likely = torch.tensor([1.0, -1, -1, 1, *[-1] * (len(model.head.score.weight) - 4)])
        model.head.score.weight[:] = ODDS * likely[:, None] * hidden / (hidden @ hidden)
    save(folder, model, DnaTokenizer())
    return folder


def tracks(folder, model, records, *options):
    """Bits of each record, forward and of the other strand, at the places of its bases."""
    folder.mkdir()
    (folder / "in.fa").write_bytes(b"".join(b">r%d\n%b\n" % (i, text) for i, text in enumerate(records)))
    arguments = [str(folder / "in.fa"), "--out", str(folder / "out"), "--track", "--strands", "both"]
    assert main(["score", "--model", str(model), *arguments, *map(str, options)]) == 0
    found = np.split(
        np.load(folder / "out" / "bits.npy"), np.cumsum(np.repeat([len(text) for text in records], 2))[:-1]
    )
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.mark.parametrize("chunk", [*CHUNKS[:2], pytest.param(CHUNKS[2], marks=pytest.mark.slow)])
def test_a_record_and_its_reverse_complement_mirror_each_other(drawn, tmp_path, chunk):
    """To the bit where both are read in the same chunks, to rounding where they are not."""
    records = [letters(length, seed) for seed, length in enumerate(LENGTHS)]
    turned = [reverse_complement(text) for text in records]
    one = tracks(tmp_path / "one", drawn, records, "--chunk", chunk)
    other = tracks(tmp_path / "other", drawn, turned, "--chunk", chunk)
    for (forward, reverse), (again, back) in zip(one, other, strict=True):
        assert forward.tobytes() == back[::-1].tobytes() and reverse.tobytes() == again[::-1].tobytes()
    whole = tracks(tmp_path / "whole", drawn, turned, "--chunk", 1 << 14)
    for text, (forward, reverse), (again, back) in zip(records, one, whole, strict=True):
        np.testing.assert_allclose(forward, back[::-1], rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(reverse, again[::-1], rtol=0, atol=ROUNDING)
        known = np.isin(np.frombuffer(text.upper(), np.uint8), list(b"ACGT"))
        assert np.array_equal(np.isfinite(forward), known) and np.array_equal(np.isfinite(reverse), known)


def plant(background, length, at, run_of_n):
    text = bytearray(background(length))
    text[at] = ord("C")
    if run_of_n:
        text[at + 7 : at + 7 + run_of_n] = b"N" * run_of_n
    return bytes(text)


PLACES = [(60, 1, 0), (300, 40, 0), (400, 200, 70), (9000, 8991, 0), (9000, 300, 600)]


def test_a_planted_surprise_peaks_at_its_base_on_both_strands(at_rich, tmp_path):
    draw = random.Random(5)
    records = [
        plant(lambda n: bytes(draw.choices(b"AT", k=n)), length, at, run_of_n) for length, at, run_of_n in PLACES
    ]
    for (_, at, _), strands in zip(PLACES, tracks(tmp_path / "x", at_rich, records, "--chunk", 500), strict=True):
        for bits in strands:
            assert np.nanargmax(bits) == at and bits[at] > 2 * np.nanmax(np.delete(bits, at))


def test_the_shipped_model_is_surprised_at_the_base_that_breaks_a_run(tmp_path):
    """C among A on one strand, G among T on the other."""
    places = PLACES[1:4]
    records = [plant(lambda n: b"A" * n, length, at, 0) for length, at, _ in places]
    for (_, at, _), strands in zip(places, tracks(tmp_path / "x", "dna", records), strict=True):
        for bits in strands:
            assert np.argmax(bits) == at


def test_a_change_of_one_base_is_seen_from_it_on_and_not_before(tmp_path):
    """Readings of either strand differ first at the very base."""
    text = b"".join(random.Random(1).choices([b"ACG", b"TTA", b"GAT"], k=400))
    for at in (0, 400, 1199):
        other = text[:at] + bytes([b"ACGT"[(b"ACGT".index(text[at]) + 1) % 4]]) + text[at + 1 :]
        (one, two) = tracks(tmp_path / str(at), "dna", [text, other])
        forward, reverse = (np.flatnonzero(abs(a - b) > ROUNDING) for a, b in zip(one, two, strict=True))
        assert forward.min() == at == reverse.max()
