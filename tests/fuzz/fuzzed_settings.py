"""Readers of tokenizers and of settings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bundles import bundle, parts, unpack
from fuzzing import Target
from told import JSON, described

from longseq import tokens
from longseq.config import load as load_settings
from longseq.config import to_toml
from longseq.records import Alphabet
from longseq.tasks.convert.settings import Settings
from longseq.tasks.convert.source import Source
from longseq.tasks.convert.work import Begun
from longseq.tasks.extract.config import ExtractConfig
from longseq.tasks.tokenizer import describe as describe_tokenizer
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import check
from longseq.tokens.subwords import kmers, pieces
from longseq.tokens.train.config import Learning
from longseq.tokens.word_pieces import word_pieces
from longseq.training.config import TrainConfig

RUNS = (("A", 90), ("ac", 20), (" ", 30), ("7", 20), ("\n", 9))


TEXT = "It's the cafe\u0301 of 3.14   \n\n\u4e2d\u6587 [SEP] x_x AAAA" + "ab " * 40


def _tokenizers() -> list[bytes]:
    folder = Path(tempfile.mkdtemp())
    for name, one in {
        "letters": DnaTokenizer(),
        "kmers": kmers(2, Alphabet()),
        "pieces": pieces([("A", "C"), ("AC", "G"), ("T", "T")], Alphabet(ambiguity="N")),
    }.items():
        one.save(folder / name)
    made = [path.read_bytes() for path in sorted(folder.iterdir())]
    return made + [json.dumps(one, separators=(",", ":")).encode() for one in foreign()]


def foreign() -> list[dict]:
    """Tokenizers of documents, each with other parts."""
    words = {word: i for i, word in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "b", "##b", "ab", "it", "s"])}
    special = [
        {
            "id": i,
            "content": name,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for i, name in enumerate(["[UNK]", "[CLS]", "[SEP]"])
    ]
    bare = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special}
    split = {"type": "Split", "pattern": {"Regex": r"\s+|[^\s]{1,3}"}, "behavior": "Isolated", "invert": False}
    template = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": [i], "tokens": [name]} for i, name in ((1, "[CLS]"), (2, "[SEP]"))
        },
    }
    bert = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    return [
        {
            **bare,
            "normalizer": bert,
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": words,
            },
        },
        {
            **bare,
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "NFC"},
                    {"type": "Lowercase"},
                    {"type": "Replace", "pattern": {"Regex": "a+b"}, "content": "x"},
                    {"type": "Prepend", "prepend": "_"},
                ],
            },
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    split,
                    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
                ],
            },
            "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": "[UNK]",
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": words,
                "merges": [["a", "b"]],
            },
        },
        {
            **bare,
            "normalizer": {"type": "NFKC"},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
            "post_processor": template,
            "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"},
            "model": {
                "type": "Unigram",
                "unk_id": 0,
                "vocab": [["[UNK]", 0.0], ["[CLS]", 0.0], ["[SEP]", 0.0], ["\u2581", -2.0], ["a", -3.5]],
                "byte_fallback": False,
            },
        },
        {
            **bare,
            "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": None,
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
        },
    ]


def short(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """With less text to try a tokenizer on at load: the same code, a hundred times as often."""

    def shortly(path: Path) -> None:
        before = check.RUNS, check.TIMES
        check.RUNS, check.TIMES = RUNS, 1
        try:
            read(path)
        finally:
            check.RUNS, check.TIMES = before

    return shortly


def _tokenizer(path: Path) -> None:
    found = tokens.load(path)
    if isinstance(found, DnaTokenizer):
        ids = found.encode(b"ACGTNacgtnRYACGT")[0]
    else:
        ids = found.encode(TEXT if hasattr(found, "ends") else b"ACGTNNACGTACGRYT")  # type: ignore[arg-type]
        _ = (getattr(found, "ends", None), getattr(found, "end", None), getattr(found, "unknown", None))
    assert not len(ids) or int(ids.max()) < found.vocabulary
    found.decode(np.asarray(ids))
    describe_tokenizer(str(path))


def vocabularies() -> list[bytes]:
    words = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n"
    settings = b'{"do_lower_case": true, "strip_accents": null, "tokenize_chinese_chars": false}'
    return [bundle({"vocab.txt": words, "tokenizer_config.json": settings})]


def _vocabulary(path: Path) -> None:
    found = word_pieces(path / "vocab.txt")
    found.encode(TEXT)
    _ = found.ends


KINDS = {b"extract": ExtractConfig, b"[source]": Begun, b"min_frequency": Learning}


def _settings(path: Path) -> None:
    text = path.read_bytes()
    kind = next((kind for word, kind in KINDS.items() if word in text), TrainConfig)
    described(path)
    to_toml(load_settings(kind, path))  # type: ignore[arg-type]


def _all_settings() -> list[bytes]:
    return [
        to_toml(TrainConfig(inputs=("a.fa",), steps=3, start="dna", trackers=("tensorboard",))).encode(),
        to_toml(ExtractConfig(inputs=("a.jsonl",))).encode(),
        to_toml(Begun(source=Source(model="m"), settings=Settings())).encode(),
        to_toml(Learning(unit="words")).encode(),
    ]


def _assigned(path: Path) -> None:
    lines = path.read_bytes().decode(errors="surrogateescape").split("\0")
    to_toml(load_settings(TrainConfig, None, lines))


def _assignments() -> list[bytes]:
    return [
        b"steps=3\0optimiser.rate=1e-3\0model.pattern=['linear', \"gated\"]\0inputs=[\"a\", 'b']",
        b"model.width=64\0device = cpu\0data.both_strands=false\0labels.column=x",
        b"steps=0x10\0minutes=1_0.5\0data.seed=1\0start=x\0model={width=8, heads=2}",
    ]


TOKENIZER = (
    b'"type"',
    b'"Regex"',
    b'"String"',
    b'"Precompiled"',
    b'"precompiled_charsmap"',
    b'"Split"',
    b'"Sequence"',
    b'"normalizers"',
    b'"(a+)+$"',
    b'"(?=a*)*"',
    b'"\\\\s*"',
    b'"Removed"',
    b'"MergedWithNext"',
    b'"Contiguous"',
    b'"Strip"',
    b'"NFKD"',
    b'"Nmt"',
    b'"Unigram"',
    b'"BPE"',
    b'"byte_fallback"',
    b"4294967295",
    b'"<0x41>"',
    b'"Digits"',
    b'"Punctuation"',
)


TOML = (
    b"nan",
    b"inf",
    b"-inf",
    b"0x",
    b"1_0",
    b"[[",
    b"]]",
    b"=",
    b"'''",
    b'"""',
    b"[model]",
    b"1979-05-27T07:32:00Z",
    b".a",
    b"\\u0000",
    b"9" * 64,
    b"true",
    b"{",
    b"}",
    b"model.width=",
    b"4294967296",
    b"-1",
)


SETTINGS = (
    Target(
        name="tokenizer",
        examples=40,
        file="tokenizer.json",
        read=short(_tokenizer),
        words=JSON + TOKENIZER,
        made=_tokenizers,
    ),
    Target(
        name="vocabulary",
        examples=100,
        file="vocab.txt",
        read=short(_vocabulary),
        words=JSON,
        made=vocabularies,
        lay=lambda folder, data: unpack(folder / "model", parts(data)),
    ),
    Target(name="settings", examples=150, file="run.toml", read=_settings, words=TOML, made=_all_settings),
    Target(name="assignments", examples=180, file="set.txt", read=_assigned, words=(*TOML, b"\x00"), made=_assignments),
)
