"""Vectors of windows against the hidden states of the whole record, and the windows that stand for others."""

import numpy as np
import pytest
import torch
from dna_oracles import drawn, record

from longseq.results.findings import VectorBlock
from longseq.streaming import Surprisal
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tasks.summarize.hidden import representatives


@pytest.mark.parametrize("strands", ["forward", "both"])
def test_vectors_are_means_of_hidden_states(tiny, strands):
    long, short = drawn(8_990, 6) + b"N" * 700 + drawn(311, 7), drawn(45, 8)  # windows full, half, of a base, of none
    records, got = [record(long, list(range(0, 10_000, 777)), id="long"), record(short, id="short")], []
    for summary in summarize_records(
        records, window=500, surprisal=Surprisal(tiny), strands=strands, extras=Extras(vectors=True)
    ):
        got += [(summary.row.id, *one) for block in summary.vectors.blocks() for one in zip(*block, strict=True)]

    def hidden(letters):
        ids = torch.from_numpy(tiny.tokenizer.encode(letters)[0].astype(np.int64))[None]
        with torch.no_grad():
            return tiny.model.encoder(ids)[0][0].numpy()

    def complement(letters):
        return letters[::-1].translate(bytes.maketrans(b"ACGTN", b"TGCAN"))

    for name, letters in (("long", long), ("short", short)):
        read = [hidden(letters)]
        if strands == "both":
            read.append(hidden(complement(letters))[::-1])
        assert [int(start) for of, start, _, _ in got if of == name] == [*range(0, len(letters), 500)]
        for _, start, end, vector in (one for one in got if one[0] == name):
            known = np.array([x != 78 for x in letters[start:end]])
            if not known.any():
                assert np.isnan(vector).all() and start == 9_000
                continue
            mean = np.mean([part[start:end][known].mean(axis=0) for part in read], axis=0)
            assert np.abs(vector - mean).max() < 1e-5


def test_representatives_are_the_middles_of_the_kinds():
    chance = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], [60, 30, 10])
    vectors = (np.eye(3)[kinds] * 20 + chance.normal(size=(100, 3))).astype(np.float32)
    start = 100 * np.arange(100)

    def blocks():
        for first in range(0, 100, 33):
            part = slice(first, first + 33)
            yield VectorBlock(start[part], start[part] + 100, vectors[part])

    found = representatives(blocks, 100, 3)
    assert [one.share for one in found] == [0.6, 0.3, 0.1]
    assert [kinds[one.start // 100] for one in found] == [0, 1, 2] and all(one.end == one.start + 100 for one in found)
    assert representatives(blocks, 7, 3) == ()


def test_equal_windows_have_one_representative():
    blocks = lambda: iter([VectorBlock(np.arange(9), np.arange(9) + 1, np.ones((9, 4), np.float32))])  # noqa: E731
    assert [one.share for one in representatives(blocks, 9, 3)] == [1.0]


def test_windows_of_few_bases_stand_for_nothing(tiny):
    letters = b"".join(drawn(500, seed) if seed % 2 else b"N" * 400 + drawn(100, seed) for seed in range(20))
    extras = Extras(vectors=True, representatives=10)
    (summary,) = summarize_records([record(letters)], window=500, surprisal=Surprisal(tiny), extras=extras)
    full = {500 * i for i in range(1, 20, 2)}
    assert {one.start for one in summary.row.findings.representatives} == full
    assert sum(one.share for one in summary.row.findings.representatives) == pytest.approx(1)
