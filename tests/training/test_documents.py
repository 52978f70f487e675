"""Laws of documents: stored as the whole text's tokens; passages tile them; no document knows of another."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.errors import InputError
from longseq.log import NullProgress
from longseq.model import ModelConfig
from longseq.records import Alphabet, Record
from longseq.tokens.subwords import kmers
from longseq.tokens.train import Learning, learn
from longseq.training import TrainConfig
from longseq.training.config import DataConfig
from longseq.training.device import accelerator
from longseq.training.documents import Documents, prepare, write
from longseq.training.objective import NextTokenLoss
from longseq.training.passages import Passages
from longseq.training.split import split
from longseq.training.tasks.documents import DocumentTask

WORDS = [
    "the",
    "keeper",
    "lit",
    "the",
    "lamp",
    "burned",
    "until",
    "dawn;",
    "caf\u00e9",
    "\u6cb3\u6d41",
    "\U0001f600",
    "",
]


def text(length, seed=0):
    return " ".join(np.random.default_rng(seed).choice(WORDS, length).tolist())


def record(letters, block=50, name="d"):
    kind = "dna" if isinstance(letters, bytes) else "document"
    blocks = iter([letters[i : i + block] for i in range(0, len(letters), block)])
    return Record(id=name, kind=kind, source="x", index=0, pieces=blocks)


@pytest.fixture(scope="module")
def tokenizer():
    return learn([record(text(3000))], Learning(vocabulary=300)).tokenizer


@pytest.fixture(scope="module")
def store_of(tmp_path_factory, tokenizer):
    def build(letters, block=50, by=None):
        directory = tmp_path_factory.mktemp("store")
        records = [record(one, block, f"d{i}") for i, one in enumerate(letters)]
        write(records, directory, by or tokenizer, NullProgress())
        return Documents(directory, by or tokenizer)

    return build


def ids_of(tokenizer, letters):
    parts = [chunk.ids for chunk in tokenizer.chunks(iter([letters]), 10**6)]
    end = [] if isinstance(letters, bytes) or not letters else [[tokenizer.end]]
    return np.concatenate([np.zeros(0, int), *parts, *end]).astype(int)


@pytest.mark.parametrize("block", [1, 17, 10**6])
def test_the_store_holds_the_tokens_of_each_whole_document(store_of, tokenizer, block):
    texts = [text(200), "", "  \n", text(3, 1) + "  ", "\U0001f600"]
    store = store_of(texts, block)
    assert store.records["letters"] == [len(one) for one in texts]
    wanted = [ids_of(tokenizer, one) for one in texts]
    assert store.records["tokens"] == [len(ids) for ids in wanted]
    assert np.array_equal(store.read(0, sum(map(len, wanted))), np.concatenate(wanted))
    for record, offset, length in zip(
        store.stretches.record, store.stretches.offset, store.stretches.length, strict=True
    ):
        letters = store.letters(int(offset), int(offset + length))
        assert letters.sum() == len(texts[record])
        words = tokenizer.decode(store.read(int(offset), int(offset + length))[:-1])
        assert words == texts[record]


def test_any_part_is_read(store_of):
    words = kmers(2, Alphabet())
    letters = np.random.default_rng(0).choice(list(b"ACGT"), 131_149).astype(np.uint8).tobytes()
    store = store_of([letters[:1001], letters[1001:]], 5000, words)
    ids = np.concatenate([words.encode(letters[:1001]), words.encode(letters[1001:])])
    assert np.array_equal(store.read(65_531, 65_541), ids[65_531:65_541])
    assert store.letters(0, len(ids)).sum() == len(letters)


DATA = DataConfig(window=16, carry=2)


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 90), min_size=1, max_size=12),
    window=st.sampled_from([2, 16, 64]),
    carry=st.integers(1, 3),
    rows=st.integers(1, 5),
    epoch=st.integers(0, 2),
    shuffle=st.booleans(),
)
def test_passages_tile_each_document_once_an_epoch(store_of, lengths, window, carry, rows, epoch, shuffle):
    store = _stored(store_of)
    stretches = store.stretches._replace(
        record=np.arange(len(lengths), dtype=np.int32),
        start=np.zeros(len(lengths), np.int64),
        length=np.array(lengths, np.int64),
        offset=np.cumsum([0, *lengths[:-1]]),
    )
    passages = Passages(
        store, stretches, DataConfig(window=window, carry=carry), np.ones(300, bool), rows * window, shuffle=shuffle
    )
    seen, unscored, letters = np.zeros(sum(lengths), int), 0, 0
    for number in range(epoch * passages.passages, (epoch + 1) * passages.passages):
        before = None
        for phase in range(passages.carry):
            stretch, start, end, opens = passages._window(number, phase)
            assert before in (None, start) or start == end  # windows of a passage follow one another
            before = end
            batch = passages.batch([number], phase)
            offset = int(stretches.offset[stretch])
            assert np.array_equal(batch.ids[0, : end - start], store.read(offset + start, offset + end))
            skipped = int(not opens and end > start)
            assert batch.weight.sum() == end - start - skipped and batch.weight[0, end - start :].sum() == 0
            assert not skipped or (batch.weight[0, 0] == 0 and phase == 0 and start > 0)
            seen[offset + start : offset + end] += 1
            unscored += skipped
            letters += passages.letters(number, phase)
    assert (seen == 1).all()
    assert unscored == passages.passages - len(lengths)  # one a passage but for the first of each document
    assert letters <= store.letters(0, sum(lengths)).sum()
    assert unscored or letters == store.letters(0, sum(lengths)).sum()


def _stored(store_of, made={}):  # noqa: B006 - made once
    if not made:
        made["store"] = store_of([text(2000)])
    return made["store"]


def test_rows_of_a_step_are_of_like_length(store_of):
    rng = np.random.default_rng(0)
    store = store_of([text(int(n), i) for i, n in enumerate(rng.integers(1, 300, 200))])
    passages = Passages(store, store.stretches, DataConfig(window=1024), np.ones(300, bool), 8 * 1024)
    rows = 8 * 1024 // passages.width
    padded = sum(passages.batch(range(at, min(at + rows, 200)), 0).ids.size for at in range(0, 200, rows))
    assert padded < 1.35 * store.stretches.bases
    drawn = [[passages._window(number, 0)[0] for number in range(200)] for _ in range(2)]
    assert drawn[0] == drawn[1] and sorted(drawn[0]) == list(range(200)) != drawn[0]
    assert [passages._window(number, 0)[0] for number in range(200, 400)] != drawn[0]


def test_places_are_letters_of_the_document(store_of, tokenizer):
    texts = [text(50), text(80, 1)]
    store = store_of(texts)
    passages = Passages(store, store.stretches, DATA, np.ones(300, bool), 32)
    for number in range(passages.passages):
        for phase in range(passages.carry):
            batch = passages.batch([number], phase)
            stretch, start, end, _ = passages._window(number, phase)
            if end == start:
                assert passages.places(number, phase) == []
                continue
            (place,) = passages.places(number, phase)
            ids = batch.ids[0, : end - start]
            found = tokenizer.decode(ids[ids != tokenizer.end])
            if "\ufffd" not in found:
                assert place.record == f"d{stretch}" and texts[stretch][place.start : place.end] == found


@pytest.fixture(scope="module")
def task(store_of, tokenizer):
    store = store_of([text(int(n), i) for i, n in enumerate([30, 200, 5, 90, 60, 1, 150, 12])])
    config = TrainConfig(
        device="cpu",
        batch=64,
        data=DataConfig(window=16, carry=2, held_out=0.4),
        model=ModelConfig(width=16, layers=2, heads=2, pattern=("gated", "gru"), vocabulary=300),
    )
    return DocumentTask(config, store)


def alone(model, ids):
    """Nats of each token of one passage read by itself."""
    with torch.no_grad():
        logits, _ = model(torch.from_numpy(ids)[None])
    return torch.nn.functional.cross_entropy(logits[0], torch.from_numpy(ids), reduction="none").numpy()


def test_no_document_knows_of_another(task):
    """The loss of a step is the sum over its passages, each read alone from an empty state."""
    model = task.model().double()
    objective, rows = NextTokenLoss(model), range(5)
    state, nats = None, 0.0
    for phase in range(task.train.carry):
        batch = task.train.batch(rows, phase)
        with torch.no_grad():
            loss, _, state = objective(torch.from_numpy(batch.ids), torch.from_numpy(batch.weight), state)
        nats += loss.item()
    wanted = 0.0
    for number in rows:
        windows = [task.train._window(number, phase) for phase in range(task.train.carry)]
        offset = int(task.split.train.offset[windows[0][0]])
        first, last = windows[0][1], windows[-1][2]
        costs = alone(model, task.store.read(offset + first, offset + last).astype(np.int64))
        wanted += costs[0 if windows[0][3] else 1 :].sum()
    assert nats == pytest.approx(wanted, rel=1e-6)


def test_bits_a_character_are_those_of_the_definition(task):
    model = task.model()
    found = task.evaluate(NextTokenLoss(model), accelerator(task.config), lanes=3, stop=lambda: False)
    train, held = task.split.train, task.split.held_out
    span, nats, tokens, letters, null = 32, 0.0, 0, 0, 0.0
    counts = np.ones(300)
    for offset, length in zip(train.offset, train.length, strict=True):
        counts += np.bincount(task.store.read(int(offset), int(offset + length)), minlength=300)
    for offset, length in zip(held.offset, held.length, strict=True):
        for start in range(0, int(length), span):
            first, last = int(offset) + start, int(offset) + min(start + span, int(length))
            ids = task.store.read(first, last).astype(np.int64)
            scored = slice(1 if start else 0, None)
            nats += alone(model, ids)[scored].sum()
            null -= np.log2(counts / counts.sum())[ids[scored]].sum()
            tokens += len(ids[scored])
            letters += task.store.letters(first, last)[scored].sum()
    assert (found["tokens"], found["characters"]) == (tokens, letters)
    assert found["bits_per_token"] == pytest.approx(nats / math.log(2) / tokens, rel=1e-5)
    assert found["bits_per_character"] == pytest.approx(nats / math.log(2) / letters, rel=1e-5)
    assert found["null_bits_per_character"] == pytest.approx(null / letters)
    assert "bits per character held out" in task.said(found)
    assert task.evaluate(NextTokenLoss(model), accelerator(task.config), lanes=3, stop=lambda: True) is None


def test_held_out_documents_are_whole_or_the_end_of_each(store_of):
    many = store_of([text(20, i) for i in range(40)])
    parts = split(many, DataConfig(held_out=0.1), "tokens")
    assert not set(parts.train.record) & set(parts.held_out.record) and "of 40 records" in parts.rule
    one = store_of([text(400)])
    parts = split(one, DataConfig(held_out=0.1), "tokens")
    assert parts.rule.endswith(f"of the record, {parts.held_out.bases:,} tokens") and parts.held_out.start[0] > 0
    held = Passages(one, parts.held_out, DataConfig(window=64), np.ones(300, bool), 1, shuffle=False)
    assert held.batch([0], 0).weight[0, 0] == 0  # it begins inside a document


def test_files_and_folders(tmp_path, tokenizer):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.txt").write_text(text(20))
    (tmp_path / "docs" / "a.jsonl").write_text('{"text": "one lamp"}\n{"text": "two lamps"}\n')
    store = prepare([str(tmp_path / "docs")], tmp_path / "data", tokenizer)
    assert list(store.records["id"]) == ["a:1", "a:2", "b.txt"]
    assert prepare([str(tmp_path / "docs")], tmp_path / "data", tokenizer).digest == store.digest
    (tmp_path / "docs" / "b.txt").write_text(text(21))
    assert prepare([str(tmp_path / "docs")], tmp_path / "data", tokenizer).digest != store.digest
    (tmp_path / "g.fa").write_text(">g\nACGT\n")
    with pytest.raises(InputError, match=r"expected documents, which data\.tokenizer is for, found dna"):
        prepare([str(tmp_path / "g.fa")], tmp_path / "data", tokenizer)
    with pytest.raises(InputError, match=r"expected DNA, which data\.tokenizer is for, found document"):
        prepare([str(tmp_path / "docs")], tmp_path / "data", kmers(2, Alphabet()))
    (tmp_path / "empty.jsonl").write_text('{"text": ""}\n')
    with pytest.raises(InputError, match="expected letters to learn from, found none"):
        prepare([str(tmp_path / "empty.jsonl")], tmp_path / "data", tokenizer)
