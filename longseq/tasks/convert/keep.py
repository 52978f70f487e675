"""A trained softmax Transformer as a checkpoint that gives the same vectors: its mixer is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longseq import tokens
from longseq.config import require
from longseq.errors import CheckpointError, UsageError
from longseq.formats.atomic import free_directory
from longseq.model import Model, load, save
from longseq.model.calibration import read_calibration
from longseq.model.checkpoint import SCHEMA, shipped
from longseq.model.teachers import Shape, read_directory, read_torch_encoder
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.word_pieces import word_pieces

OURS = "longseq"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A trained Transformer, and what its files do not say of it."""

    model: str
    """A directory of transformers with BERT, RoBERTa or DistilBERT, a safetensors file with an
    `nn.TransformerEncoder`, or a softmax checkpoint of ours."""
    tokenizer: str | None = None
    """A tokenizer.json; None: that of the directory, or its vocab.txt."""
    segment: int | None = None
    """Tokens read at once, special ones included; None: as many as it has positions."""
    teacher: Shape = field(default_factory=Shape)
    """Of a file: the shape of its encoder."""

    def __post_init__(self):
        require(self.segment is None or self.segment >= 3, "segment", self.segment, ">= 3 tokens")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `--set` says."""

    teacher: Shape = field(default_factory=Shape)


@dataclass(frozen=True)
class Converted:
    """What a conversion gave."""

    kind: str
    """bert, roberta, distilbert, nn.TransformerEncoder or longseq."""
    model: Model
    special: tuple[str, ...]
    """The special tokens around each segment."""
    left: tuple[str, ...]
    """Tensors of the teacher that no hidden vector depends on, and that are left out."""


def convert(source: Source, out: str | Path, *, force: bool = False) -> Converted:
    """Write the checkpoint `out` of the Transformer of `source`, weights one to one.

    A text is read in segments, each with the teacher's special tokens around it and positions of its own: up to a
    segment's length hidden vectors equal the teacher's, and beyond it those of the teacher in windows.

    Raises:
        CheckpointError: a model or tokenizer that cannot be read, is not supported, or do not fit each other.
        UsageError, ConfigError: settings that do not fit the model, or are missing.
        OutputExistsError: `out` stands already and `force` is off.
    """
    free_directory(out, force=force)
    path = Path(source.model)
    if source.model in shipped() or (path.is_dir() and _is_ours(path)):
        return _ours(source, out, force)
    if path.is_dir():
        return _directory(source, path, out, force)
    if not path.is_file():
        raise CheckpointError(where=str(path), expected="a directory or a safetensors file", found="nothing there")
    return _file(source, path, out, force)


def _is_ours(path: Path) -> bool:
    try:
        facts = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and facts.get("schema") == SCHEMA


def _ours(source: Source, out: str | Path, force: bool) -> Converted:
    given = [name for name in ("tokenizer", "segment") if getattr(source, name) is not None]
    if given:
        raise UsageError(f"a checkpoint of ours has a {given[0]} of its own", where=source.model)
    found = load(source.model)
    if set(found.config.pattern) != {"softmax"}:
        raise CheckpointError(
            where=source.model, expected="softmax mixers alone", found=", ".join(dict.fromkeys(found.config.pattern))
        )
    save(
        out,
        found.model,
        found.tokenizer,
        labels=found.labels,
        card=found.card,
        calibration=read_calibration(found.path, found.sha256),
        soft_masked=found.soft_masked,
        force=force,
    )
    return Converted(OURS, found.model, (), ())


def _directory(source: Source, path: Path, out: str | Path, force: bool) -> Converted:
    if source.teacher != Shape():
        raise UsageError("a directory has its shape in config.json", where=source.model, remedy="leave teacher.* away")
    tokenizer = _tokenizer(source, path)
    ends = tokenizer.ends
    if ends is None:
        raise CheckpointError(
            where=source.tokenizer or str(path),
            expected="a tokenizer with a special token in front of a text and one behind",
            found="neither a post_processor that says so nor [CLS] and [SEP], or <s> and </s>",
        )
    teacher = read_directory(path, ends, source.segment)
    config = teacher.model.config
    _require_fit(tokenizer, config.vocabulary, source.tokenizer or str(path))
    names = {token["id"]: token["content"] for token in tokenizer.spec["added_tokens"]}
    special = tuple(names.get(end, str(end)) for end in ends)
    facts = {"special tokens": " and ".join(special), **_facts(source, teacher.kind, config.segment, teacher.left)}
    save(out, teacher.model, tokenizer, card=facts, force=force)
    return Converted(teacher.kind, teacher.model, special, teacher.left)


def _file(source: Source, path: Path, out: str | Path, force: bool) -> Converted:
    teacher = read_torch_encoder(path, source.teacher, source.segment)
    if source.tokenizer is None:
        raise UsageError(
            "the tokenizer of a file of weights is missing", where=source.model, remedy="--tokenizer FILE names it"
        )
    tokenizer = _tokenizer(source, path.parent)
    config = teacher.model.config
    _require_fit(tokenizer, config.vocabulary, source.tokenizer)
    save(out, teacher.model, tokenizer, card=_facts(source, teacher.kind, config.segment, teacher.left), force=force)
    return Converted(teacher.kind, teacher.model, (), teacher.left)


def _tokenizer(source: Source, path: Path) -> StreamTokenizer:
    file = Path(source.tokenizer) if source.tokenizer is not None else path / "tokenizer.json"
    if source.tokenizer is None and not file.is_file():
        if not (path / "vocab.txt").is_file():
            raise CheckpointError(
                where=str(path),
                expected="tokenizer.json or vocab.txt",
                found="neither",
                remedy="--tokenizer FILE names one; transformers' save_pretrained of a fast tokenizer writes it",
            )
        return word_pieces(path / "vocab.txt")
    found = tokens.load(file)
    if not isinstance(found, StreamTokenizer):
        raise CheckpointError(where=str(file), expected="a tokenizer of documents", found="one of DNA")
    return found


def _require_fit(tokenizer: StreamTokenizer, vocabulary: int, where: str) -> None:
    if tokenizer.vocabulary > vocabulary:
        raise CheckpointError(
            where=where,
            expected=f"at most {vocabulary:,} token ids, as many as the model has embeddings",
            found=f"a tokenizer with {tokenizer.vocabulary:,}",
        )


def _facts(source: Source, kind: str, segment: int, left: tuple[str, ...]) -> Mapping[str, Any]:
    """Of the model card."""
    return {
        "converted from": f"{kind}, {Path(source.model).name}",
        "mixer": "softmax, as it was trained: vectors of a text within a segment are those of the original model",
        "segment": f"{segment} tokens, each read by itself with positions of its own",
        "left out": ", ".join(left) or "nothing",
    }
