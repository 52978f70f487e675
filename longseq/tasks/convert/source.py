"""What is converted: a trained Transformer and its tokenizer, whoever wrote them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longseq import tokens
from longseq.config import require
from longseq.errors import CheckpointError, UsageError
from longseq.formats.jsonfile import read_json
from longseq.model import Checkpoint, Model, load
from longseq.model.beside import LONGEST
from longseq.model.checkpoint import SCHEMA, shipped
from longseq.model.teachers import Shape, read_directory, read_torch_encoder
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.word_pieces import word_pieces
from longseq.training.documents import AnyTokenizer

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
class Original:
    """A trained Transformer as it was read."""

    kind: str
    """bert, roberta, distilbert, nn.TransformerEncoder or longseq."""
    name: str
    """Of its directory or file."""
    model: Model
    """With softmax mixers, in evaluation mode, float32."""
    tokenizer: AnyTokenizer
    """Without special tokens around segments."""
    special: tuple[str, ...] = ()
    """Those tokens."""
    left: tuple[str, ...] = ()
    """Tensors of its files that no hidden vector depends on, and that are left out."""
    checkpoint: Checkpoint | None = None
    """Where it is one of ours."""

    def facts(self) -> dict[str, Any]:
        """Of the model card."""
        special = {"special tokens": " and ".join(self.special)} if self.special else {}
        return special | {
            "converted from": f"{self.kind}, {self.name}",
            "left out": ", ".join(self.left) or "nothing",
        }


def read_original(source: Source) -> Original:
    """The Transformer of `source`, whose weights are one to one with the files'.

    Raises:
        CheckpointError: a model or tokenizer that cannot be read, is not supported, or do not fit each other.
        UsageError, ConfigError: settings that do not fit the model, or are missing.
    """
    path = Path(source.model)
    if source.model in shipped() or (path.is_dir() and _is_ours(path)):
        return _ours(source)
    if path.is_dir():
        return _directory(source, path)
    if not path.is_file():
        raise CheckpointError(where=str(path), expected="a directory or a safetensors file", found="nothing there")
    return _file(source, path)


def same_tokens(one: AnyTokenizer, other: AnyTokenizer) -> bool:
    """Whether both read documents as the same ids."""
    return isinstance(one, StreamTokenizer) and isinstance(other, StreamTokenizer) and one.digest() == other.digest()


def require_other(out: str | Path, model: str | Path) -> None:
    """Raise UsageError where what is written to `out` would replace the model that is read."""
    if str(model) in shipped():
        return
    written, read = Path(out).resolve(), Path(model).resolve()
    if read in (written, written / "model.safetensors"):
        raise UsageError("holds the model that is read", where=str(out), remedy="give --out another directory")


def _is_ours(path: Path) -> bool:
    try:
        facts = read_json(path / "config.json", most=LONGEST)
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and facts.get("schema") == SCHEMA


def _ours(source: Source) -> Original:
    given = [f"--{name}" for name in ("tokenizer", "segment") if getattr(source, name) is not None]
    if source.teacher != Shape():
        given.append("teacher.*")
    if given:
        raise UsageError(
            "a checkpoint of ours has its shape, segment and tokenizer in it",
            where=source.model,
            remedy=f"leave {given[0]} away",
        )
    found = load(source.model)
    if set(found.config.pattern) != {"softmax"}:
        raise CheckpointError(
            where=source.model,
            expected="softmax mixers alone",
            found=", ".join(dict.fromkeys(found.config.pattern)),
            remedy="the memory of a model that is linear already is opened by --open-memory",
        )
    return Original(
        kind=OURS, name=Path(source.model).name, model=found.model, tokenizer=found.tokenizer, checkpoint=found
    )


def _directory(source: Source, path: Path) -> Original:
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
    _require_fit(tokenizer, teacher.model.config.vocabulary, source.tokenizer or str(path))
    names = {token["id"]: token["content"] for token in tokenizer.spec["added_tokens"]}
    special = tuple(names.get(end, str(end)) for end in ends)
    return Original(
        kind=teacher.kind,
        name=path.name,
        model=teacher.model,
        tokenizer=tokenizer,
        special=special,
        left=teacher.left,
    )


def _file(source: Source, path: Path) -> Original:
    teacher = read_torch_encoder(path, source.teacher, source.segment)
    if source.tokenizer is None:
        raise UsageError(
            "the tokenizer of a file of weights is missing", where=source.model, remedy="--tokenizer FILE names it"
        )
    tokenizer = _tokenizer(source, path.parent)
    _require_fit(tokenizer, teacher.model.config.vocabulary, source.tokenizer)
    return Original(kind=teacher.kind, name=path.name, model=teacher.model, tokenizer=tokenizer, left=teacher.left)


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
