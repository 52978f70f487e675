"""The benchmark: what its yardsticks compute, and that its figures belong together. Nothing here asserts a speed."""

import os
import statistics

import pytest
import torch
from torch.nn import functional as F

from longseq.errors import ConfigError, UsageError
from longseq.model import ModelConfig
from longseq.report.bench import bench_text
from longseq.tasks.bench.config import LONGEST_STEP, BenchConfig
from longseq.tasks.bench.machine import Matmul
from longseq.tasks.bench.measure import bench, ratio
from longseq.tasks.bench.memory import MemoryMeter
from longseq.tasks.bench.references import encoder, reads_whole
from longseq.tasks.bench.worker import Worker, WorkerDiedError

MODEL = ModelConfig(width=16, layers=2, heads=2)


def ids(length, seed=0):
    return torch.randint(4, (1, length), generator=torch.Generator().manual_seed(seed))


# What the references compute.


@pytest.mark.parametrize("name", ["none", "gru-stack", "linear"])
def test_what_is_read_by_chunks_reads_as_a_whole(name):
    model, tokens = encoder(name, MODEL, 50), ids(50)
    whole, _ = model(tokens)
    state, parts = None, []
    for chunk in tokens.split(16, 1):
        y, state = model(chunk, state)
        parts.append(y)
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=1e-5)
    assert state.seen.tolist() == [50] and not reads_whole(name)


@pytest.mark.parametrize(("name", "causal"), [("none", True), ("softmax-bare", True), ("softmax-both", False)])
def test_who_sees_what(name, causal):
    model, tokens = encoder(name, MODEL, 20), ids(20)
    other = tokens.clone()
    other[0, -1] = (other[0, -1] + 1) % 4
    same = torch.equal(model(tokens)[0][:, :-1], model(other)[0][:, :-1])
    assert same == causal


def test_softmax_both_is_the_formula():
    layer = encoder("softmax-both", MODEL, 9).layers[0].mixer
    x = torch.randn(1, 9, 16)
    q, k, v = (part.view(9, 2, 8) for part in layer.project(x)[0].chunk(3, -1))
    weights = torch.einsum("thk,shk->hts", q, k).div(8**0.5).softmax(-1)
    expected = F.linear(torch.einsum("hts,shv->thv", weights, v).reshape(9, 16), layer.output.weight)
    torch.testing.assert_close(layer(x)[0][0], expected, atol=1e-5, rtol=1e-5)


def test_the_bound_is_attention_without_its_reading():
    layer = encoder("none", MODEL, 9).layers[0].mixer
    x = torch.randn(1, 9, 16)
    torch.testing.assert_close(layer(x)[0], layer.output(F.linear(x, layer.project.weight[32:])))
    assert layer.project.weight.shape == (48, 16)


# Rows.


@pytest.fixture(scope="module")
def found():
    mixers = ("linear", "softmax", "softmax-both", "gru-stack")
    config = BenchConfig(model=MODEL, mixers=mixers, lengths=(40, 90), chunk=32, repeats=2, train=True, shortest=0.0)
    return bench(config, command="the command")


def test_a_row_for_each_mixer_and_length(found):
    names = ["none", "linear", "softmax", "softmax-both", "gru-stack"]
    cells = [(row.train, row.length, row.mixer) for row in found.rows]
    assert cells == [(train, length, name) for train in (False, True) for length in (40, 90) for name in names]
    assert found.skipped == [] and found.run.command == "the command"
    assert {row.mixer: row.visibility for row in found.rows if not row.train}["softmax-both"] == "whole"


def test_softmax_and_training_steps_take_the_whole_length(found):
    for row in found.rows:
        assert row.chunk == (None if row.train or row.mixer.startswith("softmax") else 32)


def test_models_are_of_one_size(found):
    sizes = {row.mixer: row.parameters for row in found.rows if not row.train}
    blocks = 2 * (4 * 16 * 16 + 3 * 16 * MODEL.inner_width + 2 * 16) + 16  # attention, feed-forward, norms
    assert sizes["none"] == sizes["linear"] == sizes["softmax"] == sizes["softmax-both"] == blocks
    assert sizes["gru-stack"] == 2 * (6 * 16 * 16 + 6 * 16)


def test_figures_belong_together(found):
    (rate,) = found.machine.matmul
    bounds = {(row.train, row.length): row for row in found.rows if row.mixer == "none"}
    for row in found.rows:
        assert 1 <= len(row.seconds) <= 2 and min(row.seconds) > 0 and row.threads == 1
        assert row.tokens_per_s == pytest.approx(row.length / statistics.median(row.seconds))
        bound = bounds[row.train, row.length].seconds
        shares = [b / s for b, s in zip(bound, row.seconds, strict=True)]
        assert row.share_of_bound == pytest.approx(statistics.median(shares))
        work = (6 if row.train else 2) * row.parameters * row.tokens_per_s
        assert row.share_of_matmul == pytest.approx(work / (rate.gflops_fp32 * 1e9))
        assert row.peak_mb is None or 0 <= row.peak_mb < 500


def test_a_document_of_json(found):
    document = found.to_json()
    assert document["schema"] == "longseq.bench/1" and document["run"]["command"] == "the command"
    assert document["machine"]["matmul_gflops_fp32"] == found.machine.matmul[0].gflops_fp32
    assert {"mixer", "length", "tokens_per_s", "peak_mb", "train", "threads"} <= document["rows"][0].keys()
    assert document["config"]["model"]["width"] == 16 and document["config"]["lengths"] == (40, 90)


def test_text_has_a_table_for_each_length(found):
    lines = bench_text(found).splitlines()
    assert [line for line in lines if line.endswith(" tokens")] == [
        "inference, 40 tokens",
        "inference, 90 tokens",
        "training step, 40 tokens",
        "training step, 90 tokens",
    ]
    assert sum(line.split()[:1] == ["linear"] for line in lines) == 4
    assert any(line.startswith("softmax-both  scaled_dot_product_attention") for line in lines)


def test_ratios_are_of_one_round():
    assert ratio([2.0, 40.0, 6.0], [1.0, 10.0, 2.0]) == 3.0


def test_bfloat16_and_the_faster_of_two_thread_counts():
    found = bench(
        BenchConfig(model=MODEL, mixers=("linear",), lengths=(32,), repeats=1, threads=(1, 2), precision="bf16")
    )
    assert [rate.threads for rate in found.machine.matmul] == [1, 2]
    assert all(row.precision == "bf16" and row.threads in (1, 2) for row in found.rows)
    known = found.machine.matmul[0].gflops_bf16 is not None
    assert all((row.share_of_matmul is not None) == known for row in found.rows)


def test_what_takes_too_long_is_said():
    # Attention over these takes minutes, what is linear in the length less than the six seconds of its share.
    config = BenchConfig(
        model=MODEL, mixers=("softmax",), lengths=(LONGEST_STEP + 1,), train=True, budget=12.0, repeats=1
    )
    found = bench(config)
    assert [(row.mixer, row.train, row.share_of_bound) for row in found.rows] == [("none", False, 1.0)]
    inference, *training = found.skipped
    assert inference.mixer == "softmax" and inference.out_of_time and inference.estimated_seconds > 6
    assert inference.reason.startswith("a pass takes about ")
    assert [row.mixer for row in training] == ["none", "softmax"] and not any(row.out_of_time for row in training)
    assert all(row.reason == "training steps are measured up to 131,072 tokens" for row in training)
    text = bench_text(found)
    assert text.count("not measured: softmax, ") == 2 and "--budget SECONDS" in text


def test_without_time_nothing_is_measured():
    found = bench(BenchConfig(model=MODEL, mixers=("linear",), lengths=(32, 32), budget=1e-3))
    assert found.rows == [] and [row.mixer for row in found.skipped] == ["none", "linear"]  # each length once
    assert all(row.out_of_time and row.reason == "no time is left" for row in found.skipped)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mixers": ("lineal",)}, "mixers: expected one of linear, "),
        ({"mixers": ()}, "mixers: expected at least one"),
        ({"lengths": (0,)}, "lengths: expected >= 1"),
        ({"threads": ()}, "threads: expected at least one"),
        ({"chunk": 0}, "chunk: expected >= 1 token"),
        ({"repeats": 0}, "repeats: expected >= 1"),
        ({"budget": 0.0}, "budget: expected > 0 seconds"),
        ({"budget": float("nan")}, "budget: expected > 0 seconds, and a finite number, found nan"),
        ({"budget": float("inf")}, "budget: expected > 0 seconds, and a finite number, found inf"),
        ({"shortest": float("inf")}, "shortest: expected >= 0 seconds, and a finite number, found inf"),
        ({"model": ModelConfig(width=6, heads=2)}, "an even number of channels a head"),
        ({"model": ModelConfig(visibility="both")}, "model.visibility"),
    ],
)
def test_bad_settings(settings, said):
    with pytest.raises(ConfigError, match=said):
        BenchConfig(**settings)


def test_a_device_that_is_not_there():
    with pytest.raises(UsageError, match="a usable device 'nowhere'"):
        bench(BenchConfig(model=MODEL, mixers=("linear",), lengths=(32,), device="nowhere"))


# Children, memory and matrix products.


class Thing:
    """What a child holds in these tests."""

    def __init__(self, failing=False):
        if failing:
            raise UsageError("cannot be made")

    def grown_mb(self, mib: int) -> float:
        meter = MemoryMeter(torch.device("cpu"))
        torch.ones(mib << 18).sum()  # float32
        return meter.peak_mb()

    def die(self) -> None:
        os._exit(7)

    def want(self, text: str) -> None:
        raise RuntimeError(text)


def test_memory_is_that_of_the_work_alone():
    with Worker(Thing) as worker:
        assert 60 <= worker.ask("grown_mb", 64) <= 80
        assert worker.ask("grown_mb", 8) < 20  # what was given back counts no more


def test_a_child_that_ends_or_has_no_memory_is_told_from_a_fault():
    with Worker(Thing) as worker:
        with pytest.raises(RuntimeError, match="a fault"):
            worker.ask("want", "a fault")
        with pytest.raises(WorkerDiedError, match="out of memory"):
            worker.ask("want", "CUDA out of memory.")
        with pytest.raises(WorkerDiedError, match=r"exit code 7"):
            worker.ask("die")
    with Worker(Thing, True) as worker, pytest.raises(UsageError, match="cannot be made"):
        worker.ask("grown_mb", 1)


def test_what_a_product_costs():
    product = Matmul("float32", "cpu", size=64)
    product._seconds = lambda: 2.0
    assert product.gflops(1) == pytest.approx(2 * 64**3 / 2.0 / 1e9)
