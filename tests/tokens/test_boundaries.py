"""Words among tokens: what stands between white space, for every way in which tokenizers write it."""

import re

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from longseq.records import Record
from longseq.tokens.boundaries import Boundaries
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.train import Learning, learn

TEXT = "The keeper  lit\nthe lamp, burned\r\n\r\nuntil dawn; caf\u00e9.\tWe kept it lit, and the tide came in"


def learned(**options):
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter([TEXT * 3]))
    return learn([record], Learning(vocabulary=300, **options)).tokenizer


def trained(model, trainer, pre):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre
    tokenizer.train_from_iterator([TEXT] * 3, trainer)
    return StreamTokenizer(tokenizer)


def wordpiece():
    alphabet = sorted(set(TEXT))
    trainer = trainers.WordPieceTrainer(vocab_size=70, special_tokens=["[UNK]"], initial_alphabet=alphabet)
    return trained(models.WordPiece(unk_token="[UNK]"), trainer, pre_tokenizers.BertPreTokenizer())


def unigram():
    trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=["<unk>"], unk_token="<unk>")
    return trained(models.Unigram(), trainer, pre_tokenizers.Metaspace())


def suffixed():
    trainer = trainers.BpeTrainer(vocab_size=70, end_of_word_suffix="</w>", special_tokens=["[UNK]"])
    return trained(models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"), trainer, pre_tokenizers.WhitespaceSplit())


WITH_SPACE, BARE, APART = r"\s*\S+", r"\S+", r"\w+|[^\w\s]"


@pytest.mark.parametrize(("make", "pattern"), [
    (learned, WITH_SPACE),
    (lambda: learned(unit="characters", min_frequency=1), WITH_SPACE),
    (lambda: learned(unit="words", min_frequency=1), BARE),
    (wordpiece, APART),
    (suffixed, BARE),
])  # fmt: skip
def test_words_are_what_stands_between_white_space(make, pattern):
    tokenizer = make()
    (chunk,) = tokenizer.chunks(iter([TEXT]), 10**6)
    found = chunk.offsets[Boundaries(tokenizer).starts(chunk.ids), 0].tolist()
    assert found == [match.start() for match in re.finditer(pattern, TEXT)]
    assert len(found) < len(chunk.ids) or pattern == BARE


def test_sentencepiece_marks_blanks():
    tokenizer = unigram()
    (chunk,) = tokenizer.chunks(iter(["the lamp lit the tide"]), 10**6)
    starts = Boundaries(tokenizer).starts(chunk.ids)
    pieces = [tokenizer.spec["model"]["vocab"][i][0] for i in chunk.ids]
    words = "".join(("|" if start else "") + piece for start, piece in zip(starts, pieces, strict=True))
    assert words == "|\u2581the|\u2581lamp|\u2581lit|\u2581the|\u2581tide"


def test_a_part_of_a_text_begins_with_a_word():
    tokenizer = learned()
    (chunk,) = tokenizer.chunks(iter([TEXT]), 10**6)
    boundaries = Boundaries(tokenizer)
    whole = boundaries.starts(chunk.ids)
    for cut in range(1, len(whole)):
        part = boundaries.starts(chunk.ids[cut:])
        assert part[0] and np.array_equal(part[1:], whole[cut + 1 :])
    assert boundaries.starts(chunk.ids[:0]).tolist() == []
