"""Laws of windows that grow: which width at which step, how much was read, and that runs go on as they were."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import finish, genome, lines, settings, start

from longseq.config import from_mapping, load
from longseq.errors import ConfigError
from longseq.records import Record
from longseq.tokens import DnaTokenizer
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig, train, trial
from longseq.training.documents import prepare as prepare_words
from longseq.training.steps import Stage, Steps, stages
from longseq.training.store import prepare
from longseq.training.tasks import make
from longseq.training.tasks.documents import fitted, tokenizer_of
from longseq.training.windows import Windows


class Counted:
    """A source of `tokens` tokens in passages of at most `carry` windows, as many as a document of `longest` takes."""

    def __init__(self, tokens, width, carry, longest):
        self.tokens, self.width, self.most, self.longest = tokens, width, carry, longest
        self.carry = min(carry, -(-longest // width))
        self.passages = -(-tokens // (width * self.carry))

    def at(self, width):
        return Counted(self.tokens, width, self.most, self.longest)


@st.composite
def runs(draw):
    shortest = draw(st.integers(2, 64))
    window = draw(st.integers(shortest + 1, 1000))
    config = from_mapping(TrainConfig, {
        "batch": draw(st.integers(window, 5000)),
        "data": {"window": window, "grow": draw(st.integers(1, 300)), "shortest": shortest},
    })  # fmt: skip
    source = Counted(draw(st.integers(1, 10**6)), window, draw(st.integers(1, 40)), draw(st.integers(1, 5000)))
    return config, source, draw(st.integers(1, 9))


@given(runs())
def test_widths_double_at_the_ends_of_passages(run):
    config, source, lanes = run
    found = stages(source, config, lanes)
    assert found[0].first == 0 and found[-1].source is source
    doubled = [config.data.shortest << n for n in range(10)]
    widths = [stage.source.width for stage in found]
    assert widths == sorted(set(widths)) and set(widths[:-1]) <= set(doubled)
    if config.data.grow >= 10 and source.most == 1:  # no passage is so long that a width is passed over
        assert widths[:-1] == [width for width in doubled if width < source.width]
    for before, after in itertools.pairwise(found):
        assert after.first > before.first and (after.first - before.first) % before.source.carry == 0
    longest = max(stage.source.carry for stage in found)
    assert config.data.grow <= found[-1].first < config.data.grow + longest
    for stage in found:
        tokens = stage.size * stage.source.width
        assert config.batch - stage.source.width < tokens <= config.batch or stage.size == lanes


@given(runs(), st.integers(0, 700))
def test_epochs_are_tokens_read_by_tokens(run, step):
    """Of whole passages; counted step by step."""
    config, source, lanes = run
    steps = Steps(stages(source, config, lanes))
    read = 0.0
    for s in range(step):
        stage = max((stage for stage in steps.stages if stage.first <= s), key=lambda stage: stage.first)
        read += stage.size / (stage.source.carry * stage.source.passages)
    assert steps.epochs(step) == pytest.approx(read)
    if step:
        assert steps.until(read * (1 - 1e-9)) == step
        assert steps.until(read * (1 + 1e-9)) == step + 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, draw = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    genome(path / "genome.fa")
    (path / "docs").mkdir()
    texts = [" ".join(draw.choice(["lamp", "tide", "boat"], draw.integers(5, 400))) for _ in range(20)]
    for i, text in enumerate(texts):
        (path / "docs" / f"{i:02d}.txt").write_text(text)
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter(texts))
    learn([record], Learning(vocabulary=262)).tokenizer.save(path / "tokenizer.json")
    return path


def test_a_step_reads_the_same_at_any_time(folder):
    """Every process a part of the same windows; places and batches agree."""
    store = prepare([str(folder / "genome.fa")], folder / "store", DnaTokenizer())
    config = from_mapping(TrainConfig, {"batch": 256, "data": {"window": 64, "carry": 3, "grow": 20, "shortest": 8}})
    windows = Windows(store, store.stretches, config.data)
    found = stages(windows, config, 2)
    assert [(s.first, s.source.width, s.size) for s in found] == [(0, 8, 32), (6, 16, 16), (15, 32, 8), (21, 64, 4)]
    steps = Steps(found)
    forwards = {s: steps.batch(s) for s in range(30)}
    for s in reversed(range(30)):
        again = Steps(stages(windows, config, 2)).batch(s)
        np.testing.assert_array_equal(again.ids, forwards[s].ids)
        assert forwards[s].ids.size == 256 and steps.fresh(s) == (s % 3 == 0)
        parts = [Steps(found, rank, 2).batch(s).ids for rank in range(2)]
        np.testing.assert_array_equal(np.stack(parts, 1).reshape(forwards[s].ids.shape), forwards[s].ids)
        for row, places in zip(forwards[s].weight, steps.places(s), strict=True):
            assert sum(place["end"] - place["start"] for place in places) == row.sum()  # there is no N in it


GROWING = {
    "data__grow": 6,
    "data__shortest": 16,
    "steps": 8,
    "model__layers": 1,
    "model__pattern": ["gated"],
    "checkpoint__every": 2,
    "checkpoint__keep": 9,
}
"""Passages of three windows: 16 tokens, 32 from step 4, 64 from step 7."""
KINDS = {
    "next": {},
    "documents": {"data__tokenizer": "tokenizer.json", "data__held_out": 0.2},
    "masked": {"task": "masked", "model__visibility": "both", "data__carry": 1},
}


def grown(folder, kind, **changes):
    given = GROWING | KINDS[kind] | changes
    if "data__tokenizer" in given:
        given["data__tokenizer"] = str(folder / given["data__tokenizer"])
    return settings(str(folder / ("docs" if kind == "documents" else "genome.fa")), **given)


@pytest.mark.parametrize("kind", KINDS)
def test_resumed_at_any_step_is_undisturbed(folder, tmp_path, kind):
    """Inside a passage of short windows, and where the width changes."""
    config = from_mapping(TrainConfig, grown(folder, kind))
    train(config, tmp_path / "whole")
    whole = lines(tmp_path / "whole")
    (tmp_path / "whole").rename(tmp_path / "again")
    for step in (2, 6):
        (tmp_path / "again" / "checkpoints" / "latest").write_text(f"step-{step:08d}\n")
        train(config, tmp_path / "again", resume=True)
        assert lines(tmp_path / "again") == whole
    epochs = [line["epoch"] for line in whole if "epoch" in line]
    assert epochs == sorted(epochs) and len(epochs) == 8


@pytest.mark.slow
def test_processes_are_as_one(folder, tmp_path):
    """Rows shared out, or slices of each, over all widths."""
    ways = {"documents": {}, "time": {"processes__sequence": 2}}
    jobs = [
        {
            "settings": grown(folder, "documents" if way == "documents" else "next", **changes),
            "out": str(tmp_path / way),
        }
        for way, changes in ways.items()
    ]
    assert finish(*start(2, jobs, tmp_path)) == [[""] * 2] * 2
    for kind in ("next", "documents"):
        train(from_mapping(TrainConfig, grown(folder, kind)), tmp_path / f"{kind} alone")
    for way in ways:
        wanted = lines(tmp_path / ("documents alone" if way == "documents" else "next alone"))
        for ours, theirs in zip(lines(tmp_path / way), wanted, strict=True):
            assert ours == pytest.approx(theirs, rel=1e-5)


def test_epochs_end_a_run_that_grows(folder, tmp_path):
    plans = []
    config = from_mapping(TrainConfig, grown(folder, "next", steps=None, epochs=2.0, checkpoint__every=0))
    train(config, tmp_path / "run", announce=plans.append)
    last = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()][-2:]
    assert last[0]["step"] == plans[0].steps and 2 <= last[0]["epoch"] < 2.1
    assert "windows: 16 tokens, 32 from step 4, 64 from step 7" in plans[0].lines()
    train(replace(config, epochs=0.1), tmp_path / "short", dry_run=True, announce=plans.append)
    assert "warning: the run ends before its windows are of 64 tokens (data.grow)" in plans[1].lines()


def test_the_plan_counts_tokens_of_rows_that_differ(folder, tmp_path):
    """On average over the steps that it looks at, in windows that have grown; the widest of them is tried."""
    plans, config = (
        [],
        from_mapping(TrainConfig, grown(folder, "documents", data__carry=1, data__window=512, batch=1024)),
    )
    train(config, tmp_path / "run", dry_run=True, announce=plans.append)
    store = prepare_words([str(folder / "docs")], folder / "words", tokenizer_of(config))
    train_source = make(fitted(config, store.tokenizer), store).train
    steps = Steps(stages(train_source, config, 1))
    sizes = [steps.batch(s).ids.size for s in range(steps.grown.first, steps.grown.first + trial.LOOKED)]
    assert plans[0].batch == round(np.mean(sizes)) < max(sizes)


BAD = [
    (["data.grow=-1"], "data.grow: expected >= 0"),
    (["data.grow=9", "data.shortest=1"], "data.shortest: expected >= 2"),
    (["data.grow=9", "data.window=64"], r"below data.window \(64\)"),
    (["data.grow=9", "steps=9"], r"below steps \(9\)"),
    (["data.grow=9", "processes.sequence=65"], r"at most data.shortest \(64\)"),
    (["data.grow=9", "task=classify", "labels.file=l.tsv"], "0 to classify"),
    (
        ["data.grow=9", "data.carry=2", "task=masked", "model.visibility=segment", 'model.pattern=["linear"]',
         "model.convolution=0", "model.segment=128"],
        "data.shortest: expected a multiple of model.segment",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("assignments", "message"), BAD)
def test_windows_that_cannot_grow(assignments, message):
    with pytest.raises(ConfigError, match=message):
        load(TrainConfig, None, assignments)


def test_one_stage_where_nothing_grows():
    source = Counted(1000, 64, 2, 1000)
    steps = Steps(stages(source, from_mapping(TrainConfig, {"batch": 4096}), 3))
    assert steps.stages == [Stage(0, source, 64)] and steps.said() == "" and steps.carries
