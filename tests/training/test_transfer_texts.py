"""What is read to learn from a teacher: segments and sentences, those excluded left out, each as often as it should."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from teachers import VOCABULARY
from transfer import text, write_texts

from longseq.errors import InputError
from longseq.tokens.sentences import sentences
from longseq.tokens.word_pieces import word_pieces
from longseq.training.transfer import prepare, read_excluded
from longseq.training.transfer.bundles import Bundles, padded
from longseq.training.transfer.excluded import Excluded
from longseq.training.transfer.stages import split

SEGMENT = 12


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    file = tmp_path_factory.mktemp("words") / "vocab.txt"
    file.write_text("\n".join([*VOCABULARY, "."]) + "\n")
    return word_pieces(file).framed(2, 3, SEGMENT)


@pytest.fixture(scope="module")
def texts(tmp_path_factory, tokenizer):
    folder = tmp_path_factory.mktemp("texts")
    return prepare([str(write_texts(folder / "texts.jsonl"))], folder / "cache", tokenizer, SEGMENT)


def rows(found, which):
    return [found.ids(i).tolist() for i in np.flatnonzero(which)]


def documents(seed=0):
    draw = random.Random(seed)
    return [text(draw, draw.randint(1, 6)) for _ in range(30)]


def test_rows_are_what_the_model_reads_of_a_document_and_of_a_sentence(texts, tokenizer):
    pieces, spoken = [], []
    for document in documents():
        ids = tokenizer.encode(document).tolist()
        pieces += [ids[i : i + SEGMENT] for i in range(0, len(ids), SEGMENT)]
        for sentence in sentences([document]):
            ids = tokenizer.encode(sentence.text).tolist()
            spoken += [ids[i : i + SEGMENT] for i in range(0, len(ids), SEGMENT)]
    assert rows(texts, ~texts.sentence) == pieces and rows(texts, texts.sentence) == spoken
    assert all(row[0] == 2 and row[-1] == 3 for row in pieces + spoken)
    name, start, end = texts.place(1)
    assert name == "d0" and documents()[0][start:end].strip()


@pytest.mark.parametrize("kind", ["jsonl", "lines"])
def test_a_text_with_an_excluded_sentence_is_not_read(texts, tokenizer, tmp_path, kind):
    """Neither the sentence nor a segment that a part of it lies in; what is left is as it was."""
    out = [next(sentences([document])).text for document in documents()[:5]]
    file = tmp_path / f"out.{kind}"
    spaced = [sentence.replace(" ", "  ") for sentence in out]
    file.write_text("\n".join(map(json.dumps, ({"text": t} for t in spaced)) if kind == "jsonl" else spaced) + "\n")
    write_texts(tmp_path / "texts.jsonl")
    found = prepare(
        [str(tmp_path / "texts.jsonl")], tmp_path / "cache", tokenizer, SEGMENT, excluded=read_excluded([str(file)])
    )
    banned = {tuple(tokenizer.encode(sentence).tolist()[1:-1]) for sentence in out}
    for row in rows(found, found.lengths > 0):
        inside = tuple(row[1:-1])
        assert inside not in banned
    begins = {tuple(tokenizer.encode(document).tolist()[:SEGMENT]) for document in documents()[:5]}
    assert not begins & {tuple(row) for row in rows(found, ~found.sentence)}
    left = len(texts.lengths) - len(found.lengths)
    assert left >= 10 and found.excluded <= left and "left out that are excluded" in found.notes()[0]
    known = {tuple(row) for row in rows(texts, texts.lengths > 0)}
    assert {tuple(row) for row in rows(found, found.lengths > 0)} < known


def test_documents_are_excluded_by_id(tokenizer, tmp_path):
    (tmp_path / "ids.csv").write_text("id\nd3\nd7\n")
    write_texts(tmp_path / "texts.jsonl")
    excluded = read_excluded([str(tmp_path / "ids.csv")])
    assert excluded == Excluded(ids=frozenset({"d3", "d7"}))
    found = prepare([str(tmp_path / "texts.jsonl")], tmp_path, tokenizer, SEGMENT, excluded=excluded)
    assert not {"d3", "d7"} & {found.place(i)[0] for i in range(len(found.lengths))}
    other = prepare(
        [str(tmp_path / "texts.jsonl")], tmp_path, tokenizer, SEGMENT, excluded=Excluded(ids=frozenset("x"))
    )
    assert other.notes() == ["note: nothing is left out: no text is excluded, or holds a sentence that is"]
    assert prepare([str(tmp_path / "texts.jsonl")], tmp_path, tokenizer, SEGMENT).notes() == []


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("none.csv", "a,b\n1,2\n", "expected a column text, or id, found neither"),
        ("ids.csv", "id,n\n,1\n", "expected ids to leave out, found none"),
        ("empty.txt", "\n \n", "expected texts to leave out, found none"),
        ("bytes.txt", b"abc \xff\xfe", "expected UTF-8 text"),
    ],
)
def test_what_names_no_text(tmp_path, name, content, problem):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=problem):
        read_excluded([str(tmp_path / name)])


def test_texts_that_are_none(tokenizer, tmp_path):
    (tmp_path / "dna.fa").write_text(">chr1\n" + "ACGT" * 40 + "\n")
    with pytest.raises(InputError, match=r"expected documents, which data\.tokenizer is for, found dna"):
        prepare([str(tmp_path / "dna.fa")], tmp_path / "cache", tokenizer, SEGMENT)
    (tmp_path / "blank.txt").write_text(" \n \n")
    with pytest.raises(InputError, match="expected texts to learn from, found none"):
        prepare([str(tmp_path / "blank.txt")], tmp_path / "cache", tokenizer, SEGMENT)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_an_epoch_reads_segments_once_and_the_share_of_sentences(texts, share):
    source = Bundles(texts, np.arange(len(texts.lengths)), batch=40, sentences=share, seed=1)
    batches = [source.batch([number]) for number in range(source.passages)]
    assert all(batch.ids.size <= 40 or len(batch.ids) == 1 for batch in batches)
    seen = Counter(tuple(ids) for batch in batches for ids in unpadded(batch))
    segments, spoken = (Counter(map(tuple, rows(texts, texts.sentence == kind))) for kind in (False, True))
    if share == 1:
        assert seen == spoken
        return
    assert segments <= seen and set(seen - segments) <= set(spoken)
    beside = sum(len(row) * times for row, times in (seen - segments).items())
    assert abs(beside / sum(len(row) * times for row, times in seen.items()) - share) < 0.08


def unpadded(batch):
    inside = np.ones(batch.ids.shape, bool) if batch.mask is None else batch.mask
    assert np.array_equal(inside, batch.weight > 0) and not batch.ids[~inside].any()
    return [ids[some].tolist() for ids, some in zip(batch.ids, inside, strict=True)]


def test_steps_are_the_same_whenever_they_are_asked_for(texts):
    """And others in another epoch, or by another seed."""
    every = np.arange(len(texts.lengths))
    one, two = (Bundles(texts, every, batch=60, sentences=0.5, seed=seed) for seed in (1, 1))
    asked = range(2 * one.passages)
    first = [one.batch([n]).ids for n in asked]
    again = {n: two.batch([n]).ids for n in reversed(asked)}
    assert all(np.array_equal(ids, again[n]) for n, ids in enumerate(first))
    assert any(not np.array_equal(first[n], first[n + one.passages]) for n in range(one.passages))
    other = Bundles(texts, every, batch=60, sentences=0.5, seed=2)
    assert any(not np.array_equal(ids, other.batch([n]).ids) for n, ids in enumerate(first))
    assert all(place.record.startswith("d") and place.end > place.start for place in one.places(0, 0))


def test_padding_is_masked(texts):
    batch = padded(texts, np.array([0, int(texts.lengths.argmin())]))
    assert batch.tokens == texts.lengths[0] + texts.lengths.min() == batch.mask.sum()
    assert padded(texts, np.array([0, 0])).mask is None


def test_whole_documents_are_held_out(texts, tokenizer, tmp_path):
    learned, held = split(texts, 0.2, 0)
    assert sorted([*learned, *held]) == list(range(len(texts.lengths)))
    assert not set(texts.document[learned]) & set(texts.document[held])
    assert 0.05 < texts.lengths[held].sum() / texts.lengths.sum() <= 0.2
    assert not len(split(texts, 0.0, 0)[1])
    write_texts(tmp_path / "one.jsonl", documents=1)
    (tmp_path / "one.txt").write_text("\n".join(documents()))
    one = prepare([str(tmp_path / "one.txt")], tmp_path, tokenizer, SEGMENT)
    learned, held = split(one, 0.2, 0)
    for kind in (False, True):
        mine = [rows[one.sentence[rows] == kind] for rows in (learned, held)]
        assert mine[0].max() < mine[1].min() and len(mine[1]) == round(0.2 * (one.sentence == kind).sum())
    for share, learned_of_all in ((0.999, [1, 1]), (1e-6, [(one.sentence == kind).sum() - 1 for kind in (0, 1)])):
        learned, held = split(one, share, 0)
        assert len(held) and np.bincount(one.sentence[learned]).tolist() == learned_of_all


def test_a_document_longer_than_the_share_is_not_held_out(tokenizer, tmp_path):
    """A book beside a note, and two books: what is held out is a small part of them, whatever is drawn first."""
    long, other = " ".join(documents()), " ".join(documents(1))
    for name, texts in (("note", [long, "abc def ."]), ("books", [long, other])):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts)))
        found = prepare([str(file)], tmp_path, tokenizer, SEGMENT)
        for seed in range(6):
            learned, held = split(found, 0.1, seed)
            assert 0 < found.lengths[held].sum() < 0.15 * found.lengths.sum()
            assert len(learned) + len(held) == len(found.lengths)
