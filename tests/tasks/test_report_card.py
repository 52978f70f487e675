"""The report card of a conversion: each figure beside the same in plain lines, on a tiny BERT and its linear form."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from teachers import HEADS, LAYERS, WIDTH, bert, bert_tensors, write_bert

from longseq.errors import CheckpointError, ConfigError, InputError, OutputExistsError
from longseq.model import load, save
from longseq.model.headed import VectorModel
from longseq.results.conversion import STREAMED, TEACHER, WHOLE
from longseq.tasks.convert import Source, convert
from longseq.tasks.convert.card import CardConfig, Labelled, measured, report_card
from longseq.tasks.convert.card.agreement import lengths, retrieval, task
from longseq.tasks.convert.card.layers import layers
from longseq.tasks.convert.card.readings import firsts, segments
from longseq.tasks.convert.card.texts import read_labelled, read_texts, teacher_of

SEGMENT = 40
TEXTS = [
    "abc de f",
    "jihgf edcba",
    "a b c d e f g h i j",
    "facade bead cafe",
    "hijab had a jig",
    *("abcdefghij " * n for n in (1, 3, 9, 8)),
    "deface a cadge he hid behead",
]
QUICK = CardConfig(budget=0, longest=160)


def tensors():
    places = torch.randn(SEGMENT, WIDTH, generator=torch.Generator().manual_seed(1))
    return bert_tensors() | {"embeddings.position_embeddings.weight": places}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`bert`, its `teacher`, and `student`: elu + 1 in the place of softmax, all else the same."""
    folder = tmp_path_factory.mktemp("card")
    write_bert(folder / "bert", tensors(), max_position_embeddings=SEGMENT)
    convert(Source(model=str(folder / "bert")), folder / "teacher")
    teacher = load(folder / "teacher")
    student = VectorModel(replace(teacher.config, pattern=("linear",), across=True, feature_map="elu+1"))
    student.load_state_dict(teacher.model.state_dict())
    save(folder / "student", student, teacher.tokenizer)
    return folder


@pytest.fixture
def teacher(folder):
    return load(folder / "teacher")


@pytest.fixture
def student(folder):
    return load(folder / "student")


@pytest.fixture
def rows(teacher):
    return segments(teacher, TEXTS, 100)


def mixed(x, layer, linear):
    """What attention of the BERT makes of x (T, D) before its norm, and the weights (H, T, T)."""
    found = tensors()

    def apply(name, x):
        name = f"encoder.layer.{layer}.attention.{name}"
        return x @ found[f"{name}.weight"].T + found[f"{name}.bias"]

    q, k, v = (
        apply(f"self.{name}", x).unflatten(-1, (HEADS, -1)).transpose(0, 1) for name in ("query", "key", "value")
    )
    if linear:
        phi = [torch.where(t > 0, t + 1, t.exp()) for t in (q, k)]
        weights = phi[0] @ phi[1].mT
        weights = weights / weights.sum(-1, keepdim=True)
    else:
        weights = (q @ k.mT / (WIDTH // HEADS) ** 0.5).softmax(-1)
    return apply("output.dense", (weights @ v).transpose(0, 1).flatten(1)), weights


def inputs(ids):
    """What the first layer of the BERT is fed for ids (T,)."""
    found = tensors()
    x = found["embeddings.word_embeddings.weight"][ids] + found["embeddings.token_type_embeddings.weight"][0]
    x = x + found["embeddings.position_embeddings.weight"][: len(ids)]
    name = "embeddings.LayerNorm"
    return torch.nn.functional.layer_norm(x, (WIDTH,), found[f"{name}.weight"], found[f"{name}.bias"], 1e-12)


def test_segments_are_those_that_the_teacher_reads(teacher, rows):
    assert rows.shape[1] == SEGMENT and set(rows[:, 0]) == {2} and set(rows[:, -1]) == {3}
    inside = rows[:, 1:-1].ravel()
    whole = teacher.tokenizer.framed(2, 3, 10_000).encode("\n\n".join(TEXTS))[1:-1]
    assert inside.tolist() == whole[: len(inside)].tolist() and 0 <= len(whole) - len(inside) < SEGMENT - 2


def test_transfer_error_and_entropy_of_the_first_layer(teacher, student, rows):
    found = layers(teacher, student, rows, {})
    error = squares = 0.0
    entropy = []
    for ids in rows:
        x = inputs(torch.from_numpy(ids))
        wanted, weights = mixed(x, 0, linear=False)
        error += (mixed(x, 0, linear=True)[0] - wanted).square().sum().item()
        squares += wanted.square().sum().item()
        entropy.append(-(weights * weights.log()).sum(-1).mean(-1))
    assert [row.layer for row in found] == list(range(1, LAYERS + 1))
    assert found[0].transfer_error == pytest.approx(error / squares, rel=1e-4)
    assert found[0].entropy == pytest.approx(torch.stack(entropy).mean(0).tolist(), rel=1e-4)


def test_a_model_beside_itself_loses_nothing(teacher, rows):
    for row in layers(teacher, teacher, rows, {"swap": [0.5] * LAYERS, "distil": [0.25] * LAYERS}):
        assert row.transfer_error < 1e-12 and row.hidden == pytest.approx(1) and list(row.stages) == ["swap", "distil"]
    assert all(row.pooled.value == pytest.approx(1) for row in lengths(teacher, teacher, rows, QUICK)[0])
    near = retrieval(teacher, teacher, TEXTS, QUICK)
    assert near.cosine.value == pytest.approx(1) == near.spearman and near.neighbour.value == 1 and near.apart < 0.999


def test_a_head_is_spiky_where_it_looks_at_few(teacher, student, rows):
    before = layers(teacher, student, rows, {})[0].spiky
    with torch.no_grad():
        project = teacher.model.encoder.layers[0].mixer.project
        project.weight[: 2 * WIDTH].mul_(30)  # sharper in both heads
        assert before == [] and layers(teacher, student, rows, {})[0].spiky == [1, 2]
        project.weight[: 2 * WIDTH].zero_()
        project.bias[: 2 * WIDTH].zero_()
    assert layers(teacher, student, rows, {})[0].entropy == pytest.approx([math.log(SEGMENT)] * HEADS)


def test_agreement_by_length_is_that_of_texts_so_long(teacher, student, rows):
    found, skipped = lengths(teacher, student, rows, QUICK)
    whole = len(rows) * SEGMENT
    assert [row.tokens for row in found] == [16, 32, 40, *(n for n in (80, 160) if n <= whole)]
    assert [row.what for row in skipped] == [f"agreement at {n} tokens" for n in (80, 160) if n > whole]
    ids = torch.from_numpy(np.concatenate([rows[:, :15], rows[:, -1:]], 1))
    with torch.no_grad():
        ours, theirs = student.model(ids)[0], bert(tensors(), ids)
    cosine = torch.nn.functional.cosine_similarity
    assert found[0].texts == len(rows)
    assert found[0].pooled.value == pytest.approx(cosine(ours.mean(1), theirs.mean(1), dim=-1).mean().item(), abs=1e-5)
    assert found[0].token.value == pytest.approx(cosine(ours, theirs, dim=-1).mean().item(), abs=1e-5)


def test_beyond_a_segment_the_teacher_reads_in_windows(teacher, student, rows):
    row = next(row for row in lengths(teacher, student, rows, replace(QUICK, documents=1))[0] if row.tokens == 80)
    with torch.no_grad():
        ours = student.model(torch.from_numpy(rows[:2]).reshape(1, -1))[0][0]
        theirs = bert(tensors(), torch.from_numpy(rows[:2])).flatten(0, 1)
    cosine = torch.nn.functional.cosine_similarity
    assert row.texts == 1
    assert row.pooled.value == pytest.approx(cosine(ours.mean(0), theirs.mean(0), dim=-1).item(), abs=1e-5)
    assert row.token.value == pytest.approx(cosine(ours, theirs, dim=-1).mean().item(), abs=1e-5)


def test_texts_are_compared_by_the_means_of_their_first_segments(teacher, student):
    near = retrieval(teacher, student, TEXTS, replace(QUICK, texts=len(TEXTS)))
    with torch.no_grad():
        some = [torch.from_numpy(ids)[None] for ids in firsts(teacher, TEXTS)]
        theirs = torch.stack([bert(tensors(), ids)[0].mean(0) for ids in some])
        ours = torch.stack([student.model(ids)[0][0].mean(0) for ids in some])
    cosine = torch.nn.functional.cosine_similarity
    pairs = [cosine(theirs[i], theirs[j], dim=0).item() for i in range(len(some)) for j in range(i)]
    assert max(len(ids[0]) for ids in some) == SEGMENT and near.texts == len(TEXTS)
    assert near.cosine.value == pytest.approx(cosine(ours, theirs).mean().item(), abs=1e-5)
    assert near.apart == pytest.approx(sum(pairs) / len(pairs), abs=1e-5)
    assert near.cosine.low < near.cosine.value < near.cosine.high


def test_few_texts_are_compared_by_their_paragraphs(teacher, student):
    text = "\n \n".join(["a b c d", "too few", "abc de f g", "hij a bead a cafe"])
    assert retrieval(teacher, student, [text], QUICK).texts == 3
    assert retrieval(teacher, student, ["a b c d"], QUICK) is None


def test_classes_are_told_in_the_same_folds(teacher, student):
    draw = np.random.default_rng(0)
    texts = ["".join(draw.choice(list(letters), 6)) for letters in ("abc", "hij") for _ in range(20)]
    given = Labelled(file="toy.tsv", texts=texts, labels=["first"] * 20 + ["second"] * 20)
    found = task(teacher, student, given, QUICK)
    assert (found.texts, found.classes, found.frequent) == (40, 2, 0.5)
    assert found.accuracy["teacher"] > 0.9 and found.accuracy["student"] > 0.9
    assert found.difference.value == pytest.approx(found.accuracy["student"] - found.accuracy["teacher"])
    assert task(teacher, teacher, given, QUICK).difference == replace(found.difference, value=0, low=0, high=0)
    lone = replace(given, texts=[*texts, "deface"], labels=[*given.labels, "third"])
    assert task(teacher, student, lone, QUICK) == found  # a class of one text is nothing to tell
    with pytest.raises(InputError, match="two classes or more, of two texts each, found 'first'"):
        task(teacher, student, replace(given, labels=["first"] * 40), QUICK)


def test_the_files_of_a_report(teacher, student, tmp_path):
    config = CardConfig(longest=80, lengths=(40, 160), rounds=1, shortest=0, conversation=100, turn=5)
    found = report_card(teacher, student, TEXTS, tmp_path, config=config, command="longseq convert a --out <b>")
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["schema"] == "longseq.conversion/1" and told["student"]["mixers"] == ["linear"]
    rows = {(row["reader"], row["length"]): row for row in told["speed"]["rows"]}
    assert set(rows) == {(reader, n) for reader in (STREAMED, WHOLE, TEACHER) for n in (40, 160)}
    assert all(row["tokens_per_s"] > 0 and len(row["seconds"]) == 1 for row in rows.values())
    expected = rows[TEACHER, 160]["seconds"][0] / rows[STREAMED, 160]["seconds"][0]
    assert told["speed"]["times_as_fast"]["160"] == pytest.approx(expected)
    turn = found.speed.latency
    assert (turn.conversation, turn.turn, len(turn.kept)) == (100, 5, 1) and turn.share > 0
    page = (tmp_path / "report.html").read_text()
    assert "longseq convert a --out &lt;b&gt;" in page
    assert re.findall('<figure id="(.*?)"', page) == ["agreement", "speed", "memory"]
    assert not any(word in re.sub("<script.*?</script>", "", page, flags=re.S) for word in ("http:", "https:", "url("))
    with pytest.raises(OutputExistsError):
        report_card(teacher, student, TEXTS, tmp_path, config=QUICK)
    assert json.loads((tmp_path / "report.json").read_text()) == told


def test_what_cannot_be_measured_is_said(teacher, student):
    found = measured(teacher, student, ["abc"], QUICK)
    assert (found.layers, found.lengths, found.retrieval, found.speed) == ([], [], None, None)
    assert [row.what for row in found.skipped] == ["layers and lengths", "retrieval", "speed, memory and latency"]
    config = CardConfig(longest=40, lengths=(1 << 20,), rounds=1, shortest=0, budget=1e-3, conversation=40, turn=3)
    found = measured(teacher, student, TEXTS, config)
    assert found.speed.rows == [] and found.speed.crossover is None and found.speed.latency.share > 0
    assert "speed at 1,048,576 tokens" in [row.what for row in found.skipped]


def test_only_a_teacher_and_its_student(teacher, student, tmp_path):
    with pytest.raises(CheckpointError, match="expected softmax mixers in segments"):
        measured(student, student, TEXTS, QUICK)
    other = VectorModel(replace(student.config, layers=1))
    save(tmp_path / "other", other, student.tokenizer)
    with pytest.raises(CheckpointError, match=f"expected model.layers {LAYERS}"):
        measured(teacher, load(tmp_path / "other"), TEXTS, QUICK)


def test_texts_and_labels_of_files(tmp_path):
    (tmp_path / "a.txt").write_text("abc de")
    (tmp_path / "b.jsonl").write_text(
        '{"text": "first", "label": "x"}\n{"text": " "}\n{"text": "second", "label": 2}\n'
    )
    assert read_texts([str(tmp_path)]) == ["abc de", "first", "second"]
    with pytest.raises(InputError, match="expected two classes or more, of two texts each, found none"):
        read_labelled(str(tmp_path / "b.jsonl"))
    with open(tmp_path / "b.jsonl", "a") as file:
        file.write('{"text": "third", "label": "x"}\n{"text": "fourth", "label": "2"}\n')
    found = read_labelled(str(tmp_path / "b.jsonl"))
    assert (found.texts, found.labels) == (["first", "second", "third", "fourth"], ["x", "2", "x", "2"])
    with pytest.raises(InputError, match="a column 'kind'"):
        read_labelled(str(tmp_path / "b.jsonl"), "kind")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(InputError, match="expected a text, found none"):
        read_texts([str(tmp_path / "empty.txt")])


def test_the_teacher_is_read_as_the_student_is(folder, student):
    with teacher_of(Source(model=str(folder / "bert")), student) as found:
        assert found.config.segment == SEGMENT and found.name == str(folder / "bert")
        assert found.sha256 == load(folder / "teacher").sha256
    short = replace(student.config, segment=20)
    with teacher_of(Source(model=str(folder / "bert")), replace(student, model=VectorModel(short))) as found:
        assert found.config.segment == 20


@pytest.mark.parametrize("bad", [{"texts": 1}, {"turn": 2}, {"budget": -1}, {"lengths": (0,)}, {"rounds": 0}])
def test_settings_that_cannot_be(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        CardConfig(**bad)
