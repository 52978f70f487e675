"""Small tokenizers of every kind, trained on a few lines written here."""

import functools

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

LINES = [
    "The river's edge isn't far; we'll walk there, they'd said, before the bell rings at 12:30 or 1,250 times.",
    "Sequences    of any length   pass through\n\n\nthe same state,\tchunk after chunk.\r\nNothing is held twice...",
    "def fold(chunks):\n    state = start\n    for chunk in chunks:\n        state = step(state, chunk)\n    return",
    "\u6cb3\u6d41\u7ecf\u8fc7\u6751\u5e84\uff0c\u5b69\u5b50\u4eec\u5728\u6865\u4e0a\u5531\u6b4c\u3002\u6211\u4eec\u8d70\u5230\u6cb3\u8fb9\u770b\u6c34\u3002"
    * 3,
    "cafe\u0301 na\u00efve re\u0301sume\u0301 Stra\u00dfe \u0130stanbul a\u0323\u0302 o\u0308 \ufb01ne \u00bd",
    "\U0001f600 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7 ok",
    "ACGTTGCAACGTACGGATTACAGATTACA ACACACACACACACAC AAAAAAAAAAAAAAAA TTTTTTTT GGGCCC",
]

CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
"""A pattern with more look-ahead than GPT-2's, as many published tokenizers use."""


def _byte_level(pre_tokenizer=None, trim=True):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim)
    trainer = trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"]
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def _word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.train_from_iterator(LINES, trainer)
    ends = [("[CLS]", 1), ("[SEP]", 2)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ends)
    return tokenizer


def _unigram(scheme="always", normalizer=None):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    trainer = trainers.UnigramTrainer(vocab_size=220, special_tokens=["<unk>", "<s>"], unk_token="<unk>")
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def _no_pretokenizer():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    special = ["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=500, special_tokens=special))
    return tokenizer


def _cl100k():
    split = pre_tokenizers.Split(Regex(CL100K), "isolated")
    return _byte_level(pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)]), trim=False)


def _with_added_tokens():
    tokenizer = _byte_level()
    tokenizer.add_tokens(["walk there", "\u6cb3\u8fb9\u770b", AddedToken("state", single_word=True), "    "])
    tokenizer.add_tokens([AddedToken("river", lstrip=True), AddedToken("bell", rstrip=True)])
    return tokenizer


def _prefix_after_added_tokens():
    """What lies between two added tokens is a text of its own, so pairs of spaces decide where a prefix stands."""
    tokenizer = _changed(_word_piece(), normalizers.Prepend("\u2581"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_tokens([AddedToken("  ", normalized=False)])
    return tokenizer


BUILDERS = {
    "byte-level": _byte_level,
    "word-piece": _word_piece,
    "unigram": _unigram,
    "byte-level, prefix space": lambda: _byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "byte-level, cl100k": _cl100k,
    "byte-level, added tokens": _with_added_tokens,
    "bpe without pre-tokenizer": _no_pretokenizer,
    "word-piece, prefix after added tokens": _prefix_after_added_tokens,
    "unigram, first": lambda: _unigram("first"),
    "unigram, nfkc": lambda: _unigram("always", normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])),
    "unigram, nfc": lambda: _unigram("first", normalizers.Sequence([normalizers.NFD(), normalizers.NFC()])),
    "word-piece, spaces folded": lambda: _changed(
        _word_piece(), normalizers.Sequence([normalizers.Replace(Regex(" {2,}"), " "), normalizers.BertNormalizer()])
    ),
}


def _changed(tokenizer, normalizer):
    tokenizer.normalizer = normalizer
    return tokenizer


@functools.cache
def _json(kind):
    return BUILDERS[kind]().to_str()


def trained(kind):
    """A fresh copy of the tokenizer of that kind, trained once a test process."""
    return Tokenizer.from_str(_json(kind))
