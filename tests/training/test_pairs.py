"""Laws of pairs: only targets weigh, padding weighs nothing, answers come from the state alone, groups stay whole."""

import json
import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.config import from_mapping
from longseq.errors import ConfigError, InputError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.model.mixers import MIXERS
from longseq.records import Record
from longseq.tasks.generate import Generator, Sampling
from longseq.tokens.train import Learning, learn
from longseq.tokens.writable import writable
from longseq.training import TrainConfig, train
from longseq.training.device import accelerator
from longseq.training.objective import NextTokenLoss
from longseq.training.pairs import PairRows, greedy, prepare
from longseq.training.tasks.pairs import PairTask

SMALL = {"width": 16, "layers": 1, "heads": 2, "vocabulary": 15}
PAIRS = [(f"{a}+{b}", str(a + b)) for a in range(9) for b in range(9)]


def table(path, pairs=PAIRS, header="source\ttarget"):
    path.write_text("\n".join([header, *("\t".join(pair) for pair in pairs)]) + "\n")
    return str(path)


def config(inputs, **changes):
    tree = {"inputs": [inputs], "task": "seq2seq", "device": "cpu", "threads": 1, "batch": 80, "steps": 6}
    tree |= {"model": dict(SMALL), "data": {"window": 16}, "pairs": {}, "optimiser": {"rate": 1e-2}}
    tree |= {"evaluation": {"every": 3}, "checkpoint": {"every": 3}}
    for key, value in changes.items():
        section, _, name = key.rpartition("__")
        (tree[section] if section else tree)[name] = value
    return from_mapping(TrainConfig, tree)


def task_of(tmp_path, pairs=PAIRS, header="source\ttarget", **changes):
    made = config(table(tmp_path / "p.tsv", pairs, header), **changes)
    return PairTask(made, prepare(made, tmp_path / "data"))


def text_of(task, ids):
    return task.tokenizer.decode(np.asarray(ids))


def rows_of(task, rows, numbers=None):
    """Source, target and weights of rows, as the ids say."""
    batch = rows.batch(range(rows.passages) if numbers is None else numbers)
    separator, end = task.tokenizer.separator, task.tokenizer.end
    for ids, weight in zip(batch.ids.tolist(), batch.weight.tolist(), strict=True):
        middle, last = ids.index(separator), ids.index(end)
        yield text_of(task, ids[:middle]), text_of(task, ids[middle + 1 : last]), (middle, last, weight)


def test_rows_are_the_pairs_and_only_targets_weigh(tmp_path):
    task = task_of(tmp_path)
    found = []
    for rows in (task.train, task.held_out):
        for source, target, (middle, last, weight) in rows_of(task, rows):
            found.append((source, target))
            assert weight == [float(middle < i <= last) for i in range(len(weight))]
    assert sorted(found) == sorted(PAIRS)
    assert task.bases == sum(len(target) + 1 for _, target, _ in rows_of(task, task.train))


@settings(max_examples=25, deadline=None)
@given(batch=st.integers(1, 200), epoch=st.integers(0, 3), seed=st.integers(0, 3))
def test_every_epoch_reads_each_pair_once(tmp_path_factory, batch, epoch, seed):
    task = _once(tmp_path_factory)
    rows = PairRows(task.pairs, np.arange(40), batch=batch, seed=seed)
    numbers = range(epoch * 40, (epoch + 1) * 40)
    lines = [rows.places(number)[0].record for number in numbers]
    assert sorted(lines) == sorted(task.pairs.where(i) for i in range(40))
    again = PairRows(task.pairs, np.arange(40), batch=batch, seed=seed)
    assert np.array_equal(again.batch([numbers[7]]).ids, rows.batch([numbers[7]]).ids)


_TASKS = []


def _once(tmp_path_factory):
    if not _TASKS:
        _TASKS.append(task_of(tmp_path_factory.mktemp("once")))
    return _TASKS[0]


def model_of(task, mixer, dtype=torch.float64):
    model = LanguageModel(ModelConfig(**SMALL, pattern=(mixer,), attention_window=4)).to(dtype).eval()
    torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(1))
    return model


@pytest.mark.parametrize("mixer", MIXERS)
def test_padding_changes_neither_loss_nor_gradient(tmp_path, mixer):
    task = task_of(tmp_path, [("1", "12"), ("1234+5", "9"), ("2+2", "4321")], pairs__held_out=0)
    model = model_of(task, mixer)
    loss = NextTokenLoss(model)

    def found(*batches, pad=0):
        model.zero_grad()
        total = 0.0
        for batch in batches:
            ids, weight = (torch.from_numpy(np.pad(x, ((0, 0), (0, pad)))) for x in (batch.ids, batch.weight))
            nats = loss(ids, weight.double())[0]
            nats.backward()
            total += nats.item()
        return total, torch.cat([p.grad.flatten() for p in model.parameters()])

    alone, gradient = found(*(task.train.batch([n]) for n in range(3)))
    for pad in (0, 5):
        total, other = found(task.train.batch(range(3)), pad=pad)
        assert total == pytest.approx(alone, rel=1e-12)
        assert torch.allclose(other, gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mixer", MIXERS)
def test_answers_are_the_likeliest_tokens_one_after_the_other(tmp_path, mixer):
    task = task_of(tmp_path)
    model, end = model_of(task, mixer), task.tokenizer.end
    sources = ["1+1", "3", "8+", "12+345"]
    ids = [[*task.tokenizer.encode(source), task.tokenizer.separator] for source in sources]
    allowed = torch.from_numpy(writable(task.tokenizer, 15))
    padded = torch.zeros(4, max(map(len, ids)), dtype=torch.long)
    mask = torch.zeros(padded.shape, dtype=torch.bool)
    for row, one in enumerate(ids):
        padded[row, : len(one)], mask[row, : len(one)] = torch.tensor(one), True
    said = greedy(model, padded, mask, allowed, end, 6).tolist()
    for one, answer in zip(ids, said, strict=True):
        whole = list(one)
        for token in answer:
            if whole[-1] == end:
                assert token == end
                continue
            logits = model(torch.tensor([[*whole, 0]]))[0][0, -1]
            assert token == int(logits.masked_fill(~allowed, -math.inf).argmax())
            whole.append(token)


def test_figures_are_those_of_the_definition(tmp_path):
    task = task_of(tmp_path, steps=120, optimiser__rate=3e-2, evaluation__every=0)
    train(task.config, tmp_path / "run")
    model = load(tmp_path / "run" / "model").model
    figures = task.evaluate(NextTokenLoss(model), accelerator(task.config, tmp_path), lanes=5, stop=lambda: False)
    frequent = Counter(target for _, target, _ in rows_of(task, task.train))
    most = max(frequent.values())
    nats = tokens = exact = 0
    for n in range(task.held_out.passages):
        batch = task.held_out.batch([n])
        ids, asked = torch.from_numpy(batch.ids), torch.from_numpy(batch.weight[0]) > 0
        logs = model(ids)[0][0].detach().log_softmax(-1)[asked]
        truth = ids[0][asked]
        nats, tokens = nats - logs.gather(1, truth[:, None]).sum().item(), tokens + len(truth)
        # The likeliest tokens are the target exactly where each of them is, after the target's own beginning.
        exact += bool((logs.masked_fill(~torch.from_numpy(task._allowed), -math.inf).argmax(1) == truth).all())
    held = [target for _, target, _ in rows_of(task, task.held_out)]
    assert (figures["pairs"], figures["tokens"]) == (len(held), tokens)
    assert figures["bits_per_target_token"] == pytest.approx(nats / math.log(2) / tokens, rel=1e-5)
    assert 0 < figures["exact_match"] == exact / len(held)
    same = sum(target == max(frequent, key=frequent.get) for target in held) / len(held)
    assert figures["null_exact_match"] == same or list(frequent.values()).count(most) > 1
    letters = Counter(letter for _, target, _ in rows_of(task, task.train) for letter in [*target, None])
    seen = {i for i in range(15) if task._allowed[i]}
    total = sum(letters.values()) + len(seen)
    bits = [-math.log2((letters[x] + 1) / total) for target in held for x in [*target, None]]
    assert figures["null_bits_per_target_token"] == pytest.approx(sum(bits) / len(bits))


def test_a_model_learns_and_answers(tmp_path):
    things = ["sea", "house", "lamp", "rock", "tide", "boat"]
    pairs = [(f"{colour} {thing}", f"{thing} {thing}") for colour in ("red", "blue", "old", "far") for thing in things]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"en": a, "fr": b}) + "\n" for a, b in pairs))
    made = config(str(tmp_path / "p.jsonl"), pairs__source="en", pairs__target="fr", pairs__unit="words", steps=60)
    outcome = train(made, tmp_path / "run")
    assert outcome.figures["exact_match"] == 1 > outcome.figures["null_exact_match"]
    assert outcome.held_out.startswith("100.00% of ")
    checkpoint = load(tmp_path / "run" / "model")
    for source, target in pairs[:6]:
        generator = Generator(checkpoint, Sampling(temperature=0))
        assert generator.ask(source) == 3
        assert "".join(token.text for token in generator.tokens(9)) == target and generator.ended
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "| task | seq2seq" in card and "| separator and end | ids 1 and 0 |" in card


def test_a_source_is_never_on_both_sides(tmp_path):
    pairs = [(f"{i % 20}", f"{i}") for i in range(100)]
    task = task_of(tmp_path, pairs, pairs__held_out=0.2)
    learned, held = ({source for source, _, _ in rows_of(task, rows)} for rows in (task.train, task.held_out))
    assert not learned & held and len(held) == 4
    assert task.rule == "20 of 100 pairs"


def test_groups_are_held_out_by_name(tmp_path):
    pairs = [(f"{i}", f"{i}", "test" if i % 3 else "train") for i in range(30)]
    header = "source\ttarget\tsplit"
    task = task_of(tmp_path, pairs, header, pairs__group="split", pairs__held_out_groups=["test"])
    assert {int(source) % 3 for source, _, _ in rows_of(task, task.train)} == {0}
    with pytest.raises(ConfigError, match=r"pairs.held_out_groups: expected groups of 'split', found 'dev'"):
        task_of(tmp_path, pairs, header, pairs__group="split", pairs__held_out_groups=["dev"])
    with pytest.raises(InputError, match="some pairs left to learn from"):
        task_of(tmp_path, pairs, header, pairs__group="split", pairs__held_out_groups=["test", "train"])


def test_resume_is_exact(tmp_path):
    file = table(tmp_path / "p.tsv")
    even = {"rate": 1e-2, "warmup": 0, "floor": 1}  # the rate would follow the number of steps asked for

    def after(steps, out, **options):
        train(config(file, steps=steps, optimiser=even), tmp_path / out, **options)
        return (tmp_path / out / "model" / "model.safetensors").read_bytes()

    whole = after(9, "whole")
    assert after(4, "parts") != whole
    assert after(9, "parts", resume=True) == whole
    with pytest.raises(ConfigError, match=r"pairs.held_out"):
        train(config(file, steps=9, pairs__held_out=0.3), tmp_path / "parts", resume=True)


def test_from_a_language_model(tmp_path):
    text = " ".join("".join(pair) for pair in PAIRS)
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter([text]))
    tokenizer = learn([record], Learning(vocabulary=270)).tokenizer
    model = LanguageModel(ModelConfig(**SMALL | {"vocabulary": 270}))
    save(tmp_path / "lm", model, tokenizer)
    given = {"start": str(tmp_path / "lm"), "data__tokenizer": str(tmp_path / "lm" / "tokenizer.json")}
    train(config(table(tmp_path / "p.tsv"), steps=1, optimiser__rate=1e-9, **given), tmp_path / "run")
    found = load(tmp_path / "run" / "model")
    assert found.tokenizer.separator == 270 and found.tokenizer.end == tokenizer.end
    for name, known in model.state_dict().items():
        now = found.model.state_dict()[name]
        assert torch.allclose(now[: len(known)], known, atol=1e-6)
        if len(now) > len(known):
            assert torch.allclose(now[270], known.mean(0), atol=1e-6)
    again = Record(id="x", kind="document", source="x", index=0, pieces=iter([text]))
    learn([again], Learning(vocabulary=265)).tokenizer.save(tmp_path / "other.json")
    given["data__tokenizer"] = str(tmp_path / "other.json")
    with pytest.raises(ConfigError, match="start: expected a model that reads the same tokens"):
        train(config(table(tmp_path / "p.tsv"), **given), tmp_path / "other")


@pytest.mark.parametrize(
    ("pairs", "changes", "message"),
    [
        ([("1", "2"), ("", "3")], {}, r"p.tsv:3: expected text in 'source', found nothing"),
        ([("1", "2"), ("3", "")], {}, r"p.tsv:3: expected text in 'target', found nothing"),
        (PAIRS, {"pairs__target": "answer"}, r"p.tsv: expected a column 'answer', found the columns source, target"),
        ([("1", "2"), ("1" * 9, "2" * 6)], {}, r"p.tsv:3: expected at most data.window \(16\) tokens.*found 17"),
        ([("1" * 9, "2" * 6)] * 2, {"pairs__longer": "skip"}, r"data.window: expected pairs that fit"),
        ([("1", "2"), ("1", "3")], {}, "expected two sources, or two groups .* found one"),
        (PAIRS, {"data__carry": 2}, "data.carry: expected 1 window to seq2seq"),
        (PAIRS, {"pairs__target": "source"}, "pairs.target: expected another name"),
        (PAIRS, {"model__visibility": "both"}, "model.visibility: expected 'causal'"),
    ],
)
def test_what_cannot_be_learned_from_is_said(tmp_path, pairs, changes, message):
    with pytest.raises((InputError, ConfigError), match=message):
        train(config(table(tmp_path / "p.tsv", pairs), **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_pairs_that_are_too_long_can_be_left_out(tmp_path):
    task = task_of(tmp_path, [*PAIRS, ("1" * 20, "2"), ("3" * 20, "4")], pairs__longer="skip", pairs__held_out=0)
    assert task.train.passages == len(PAIRS) and task.held_out is None
    assert "warning: 2 pairs of more than 16 tokens (data.window) left out" in task.notes()
    assert any(note.startswith("warning: nothing is held out") for note in task.notes())


def test_lines_that_are_no_pairs(tmp_path):
    file = tmp_path / "p.jsonl"
    for text, message in (
        ('{"source": "1"}', r"p.jsonl:2: expected text in 'target', found nothing"),
        ("[1]", r"p.jsonl:2: expected a JSON object"),
        ("{", r"p.jsonl:2: expected a JSON object on one line"),
    ):
        file.write_text(f'{{"source": "1", "target": "2"}}\n{text}\n')
        with pytest.raises(InputError, match=message):
            prepare(config(str(file)), tmp_path / "data")
    with pytest.raises(InputError, match="expected pairs to learn from, found none"):
        prepare(config(table(tmp_path / "none.tsv", [])), tmp_path / "data")
