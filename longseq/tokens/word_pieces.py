"""The tokenizer of a BERT that has its words in a `vocab.txt`, one a line, and no `tokenizer.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longseq.errors import CheckpointError
from longseq.formats.jsonfile import LONGEST, read_json

if TYPE_CHECKING:
    from longseq.tokens.stream import StreamTokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def word_pieces(file: Path) -> StreamTokenizer:
    """WordPiece (Wu et al. 2016) over the words of `file`, with what a `tokenizer_config.json` beside it says of case,
    accents and Chinese characters.

    Raises:
        CheckpointError: no such list of words, or none with [UNK], [CLS] and [SEP].
    """
    from tokenizers import Tokenizer

    from longseq.tokens.stream import StreamTokenizer
    from longseq.tokens.stream.engine import guarded

    try:
        with open(file, "rb") as stream:
            data = stream.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise ValueError(f"more than {LONGEST:,} bytes")
        words = {line: i for i, line in enumerate(data.decode().split("\n")[:-1])}
        settings = file.with_name("tokenizer_config.json")
        said = read_json(settings, most=1 << 20) if settings.is_file() else {}
    except (OSError, ValueError) as error:
        raise CheckpointError(where=str(file), expected="a word a line", found=str(error)) from None
    if not isinstance(said, dict):
        raise CheckpointError(where=str(settings), expected="a JSON object", found=type(said).__name__)
    for name in ("[UNK]", "[CLS]", "[SEP]"):
        if name not in words:
            raise CheckpointError(where=str(file), expected=f"the word {name}", found="none")
    added = [_special(name, words[name]) for name in SPECIAL if name in words]
    spec: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": said.get("tokenize_chinese_chars", True),
            "strip_accents": said.get("strip_accents"),
            "lowercase": said.get("do_lower_case", True),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "BertProcessing",
            "sep": ["[SEP]", words["[SEP]"]],
            "cls": ["[CLS]", words["[CLS]"]],
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": words,
        },
    }
    with guarded(str(file)):
        return StreamTokenizer(Tokenizer.from_str(json.dumps(spec)))


def _special(name: str, number: int) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": name, **plain, "special": True}
