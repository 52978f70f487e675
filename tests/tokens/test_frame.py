"""Special tokens around segments: what stands between them is what stood there without."""

import numpy as np
import pytest
from trained_tokenizers import LINES

from longseq.errors import CheckpointError, ConfigError
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.word_pieces import word_pieces

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "river", "##s", "the", ",", ".", "run", "##ning"]
TEXT = "The rivers, running [SEP] the river. " * 7


@pytest.fixture
def words(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return word_pieces(tmp_path / "vocab.txt")


def walked(tokenizer, pieces, size):
    chunks = list(tokenizer.chunks(iter(pieces), size))
    return np.concatenate([c.ids for c in chunks]), np.concatenate([c.offsets for c in chunks]), chunks


@pytest.mark.parametrize("segment", [3, 5, 16, 1000])
@pytest.mark.parametrize("size", [1, 4, 512])
def test_frames_however_the_text_is_cut(words, segment, size):
    plain, offsets, _ = walked(words, [TEXT], 1 << 20)
    inside = segment - 2
    wanted, places = [], []
    for start in range(0, len(plain), inside):
        part = offsets[start : start + inside]
        wanted += [2, *plain[start : start + inside], 3]
        places += [[part[0, 0]] * 2, *part.tolist(), [part[-1, 1]] * 2]
    for window, step in ((8192, len(TEXT)), (32, 3)):
        framed = StreamTokenizer(words._engine.with_special(()), window=window, overlap=8).framed(2, 3, segment)
        ids, found, chunks = walked(framed, [TEXT[i : i + step] for i in range(0, len(TEXT), step)], size)
        assert ids.tolist() == wanted and found.tolist() == places
        assert [c.start for c in chunks[1:]] == [c.end for c in chunks[:-1]] and chunks[-1].end == len(TEXT)
        assert all(len(c.ids) == size for c in chunks[:-1])


def test_a_text_without_tokens_has_no_frame(words):
    framed = words.framed(2, 3, 8)
    assert [len(c.ids) for c in framed.chunks(iter(["  \n"]), 8)] == [0]
    assert list(framed.chunks(iter([]), 8)) == []
    assert framed.encode("the").tolist() == [2, 7, 3] and words.encode("the").tolist() == [7]


def test_what_stands_around_a_text(words):
    assert words.ends == (2, 3)
    from tokenizers import Tokenizer, models, processors

    cases = [
        (processors.TemplateProcessing("<s> $A </s>", None, [("<s>", 4), ("</s>", 6)]), (4, 6)),
        (processors.TemplateProcessing("$A </s>", None, [("</s>", 6)]), None),
        (processors.RobertaProcessing(("</s>", 6), ("<s>", 4)), (4, 6)),
        (processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)), (2, 3)),
    ]
    for processor, wanted in cases:
        tokenizer = Tokenizer(models.WordLevel({"x": 0}, "x"))
        tokenizer.post_processor = processor
        assert StreamTokenizer(tokenizer).ends == wanted
    tokenizer = Tokenizer(models.WordLevel({"x": 0}, "x"))
    assert StreamTokenizer(tokenizer).ends is None
    tokenizer.add_special_tokens(["<s>", "</s>"])
    assert StreamTokenizer(tokenizer).ends == (1, 2)


def test_words_of_a_list(tmp_path, words):
    from tokenizers import BertWordPieceTokenizer

    oracle = BertWordPieceTokenizer(str(tmp_path / "vocab.txt"))
    for line in [*LINES, TEXT.replace("[SEP]", "")]:
        assert words.encode(line).tolist() == oracle.encode(line, add_special_tokens=False).ids
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert word_pieces(tmp_path / "vocab.txt").encode("The the").tolist() == [1, 7]
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\nthe\n")
    with pytest.raises(CheckpointError, match=r"vocab.txt: expected the word \[SEP\], found none"):
        word_pieces(tmp_path / "vocab.txt")
    with pytest.raises(CheckpointError, match="expected a word a line"):
        word_pieces(tmp_path / "none.txt")


def test_a_segment_holds_a_token(words):
    with pytest.raises(ConfigError, match=r"segment: expected >= 3 tokens, two special ones included, found 2"):
        words.framed(2, 3, 2)
