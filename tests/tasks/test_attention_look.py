"""What is said of attention heads: how much of the softmax they keep, how far they reach, how long they remember."""

import json
import math

import numpy as np
import pytest
import torch

from longseq.cli import main
from longseq.results.attention import AttentionLook, HeadLook, shown
from longseq.tasks.attention import half_lives, overlap, reach


def test_overlap_is_the_share_of_weight_in_common():
    one = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    assert overlap(one, one) == 1 and overlap(one, one.flip(1)) == 0.5
    assert overlap(-one, one) is None


def test_reach_is_the_mean_distance_of_what_is_read():
    assert reach(torch.eye(5)) == 0 and reach(torch.eye(5).roll(-1, 1)) == pytest.approx((4 * 1 + 4) / 5)
    assert reach(torch.tensor([[0.0, 0, 0], [0, 0, 0], [-1.0, 0, 1.0]])) == 1


def test_after_a_half_life_half_is_left():
    decay = torch.tensor([[-0.1, 0.0], [-0.3, 0.0]])  # (T, K)
    short, long = half_lives(decay)
    assert math.exp(short * -0.2) == pytest.approx(0.5, rel=1e-6)
    assert long == math.inf and half_lives(None) == [math.inf]


def head(layer, number, shared):
    return HeadLook(layer=layer, head=number, mixer="linear", overlap=shared, reach=1.0, half_life=[9.0])


@pytest.mark.parametrize(
    ("shares", "asked", "found"),
    [
        ([0.1, 0.9, 0.5, 0.2, 0.6], [], ["2.1", "3.1", "1.1"]),
        ([0.1, 0.9, 0.5, 0.2], ["4.1", "1.1", "4.1"], ["4.1", "1.1"]),
        ([None] * 5, [], ["1.1", "3.1", "5.1"]),
        ([0.4], [], ["1.1"]),
    ],
)
def test_which_heads_are_shown(shares, asked, found):
    heads = [head(layer, 1, share) for layer, share in enumerate(shares, 1)]
    none = {"weights": {}, "softmax": {}, "without": ()}
    look = AttentionLook(model="m", sha256="", beside="softmax", tokens=["a"], read=1, heads=heads, **none)
    assert [head.name for head in shown(look, asked)] == found


def test_the_shipped_model_on_a_stretch_of_a_phage(tmp_path, capsys):
    out = tmp_path / "o"
    asked = ["attention", "dna", "data/T4.gbff.gz", "--region", "NC_000866.4:101-112", "--plots", "svg"]
    assert main([*asked, "--tokens", "8", "--head", "2.1", "--out", str(out), "--json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((out / "attention.json").read_text()) and document["read"] == 12
    assert (len(document["tokens"]), len(document["heads"])) == (8, 20)
    weights = np.load(out / "weights.npy")
    assert weights.shape == (5, 4, 8, 8)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-4)
    assert sorted(path.name for path in (out / "plots").iterdir()) == ["attention.svg", "memory.svg", "overlap.svg"]
    assert b"head 2.1, gated" in (out / "plots" / "attention.svg").read_bytes()
    page = (out / "attention.html").read_text()
    assert page.index("2.1") < page.index("1.1</td>") and "softmax of the same queries and keys" in page


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["dna"], 2, "give one of them"),
        (["dna", "--text", "ACGT", "--region", "c:1-2"], 2, "--region is of a FILE"),
        (["dna", "--text", "ACGT", "--head", "7.1"], 2, "--head: expected one of 1.1, "),
        (["dna", "--text", ""], 1, "expected a text of one token or more"),
        (["dna", "--text", "ACGT", "--plots", "svg"], 2, "--plots needs --out DIR"),
        (["dna", "README.md"], 1, "DNA"),
        (["text", "--text", "A lamp.", "--teacher", "nowhere"], 1, "nowhere: expected a directory"),
    ],
)
def test_what_is_refused(argv, code, said, capsys):
    assert main(["attention", *argv, "-q"]) == code
    assert said in capsys.readouterr().err
