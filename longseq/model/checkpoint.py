"""The checkpoint directory: config.json, tokenizer.json, model.safetensors, labels.json, a model card.

Complete without a network; nothing in it is a pickle. `training/`, where a run keeps what it needs to go on, is never
read here and may be deleted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save as to_bytes

from longseq import tokens
from longseq.config import from_mapping, to_mapping
from longseq.errors import AlphabetError, CheckpointError, ConfigError, meant
from longseq.formats.atomic import output_directory
from longseq.formats.jsonfile import read_json
from longseq.log import count
from longseq.model.adapter import weights
from longseq.model.beside import LONGEST
from longseq.model.calibration import FILE as CALIBRATION
from longseq.model.calibration import Calibration, write_calibration
from longseq.model.config import ModelConfig
from longseq.model.head_config import HeadConfig
from longseq.model.headed import Model, build
from longseq.model.held_out import HELD_OUT, write_figures
from longseq.model.language import LanguageModel
from longseq.model.range import FILE as RANGE
from longseq.model.tensors import filled
from longseq.results.conversion import HTML, JSON
from longseq.tokens import DnaTokenizer

if TYPE_CHECKING:
    from longseq.tokens.stream import StreamTokenizer
    from longseq.tokens.subwords import DnaSubwords

SCHEMA = "longseq.checkpoint/1"
PRETRAINED = Path(__file__).parent / "pretrained"
FILES = ("config.json", "tokenizer.json", "model.safetensors")
OF_WEIGHTS = ("labels.json", CALIBRATION, HELD_OUT, RANGE, JSON, HTML)
"""Files that are not always written, and are of the weights beside them alone."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A loaded checkpoint directory."""

    name: str
    """As the user named it: a shipped name or a directory."""
    path: Path
    model: Model
    """In evaluation mode, float32."""
    tokenizer: DnaTokenizer | DnaSubwords | StreamTokenizer
    labels: tuple[str, ...] | None
    """Names of classes or numbers, in order of the scores of a head that has any."""
    sha256: str
    """Digest of configuration, tokenizer and weights."""
    soft_masked: float | None = None
    """Share of the letters learned from that were in lower case; None where nobody said."""

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    @property
    def card(self) -> str:
        """The model card, Markdown; empty where there is none."""
        file = self.path / "README.md"
        return file.read_bytes().decode(errors="replace") if file.is_file() else ""

    def language_model(self) -> LanguageModel:
        """The model, where it is one that scores the next token.

        Raises:
            CheckpointError: it answers something else.
        """
        if not isinstance(self.model, LanguageModel):
            raise CheckpointError(
                where=self.name,
                expected="a language model",
                found=f"a model to {self.model.head_config.answers}",
                remedy="of DNA, dna is one; longseq train INPUT makes others",
            )
        return self.model

    @property
    def parameters(self) -> int:
        """Trained numbers."""
        return sum(p.numel() for p in self.model.parameters())


def shipped() -> list[str]:
    """Names of the checkpoints that come with the package."""
    if not PRETRAINED.is_dir():
        return []
    return sorted(p.name for p in PRETRAINED.iterdir() if (p / "config.json").is_file())


def locate(name: str | Path) -> Path:
    """The directory of a shipped name, or `name` itself when it is one.

    A shipped name means the shipped model, even beside a folder of that name, which may hold sequences; that folder is
    `./dna`.

    Raises:
        CheckpointError: neither; the shipped names are listed.
    """
    if str(name) in shipped():
        return PRETRAINED / str(name)
    path = Path(name)
    if not path.is_dir():
        near, known = meant(str(name), shipped()), ", ".join(shipped()) or "none"
        raise CheckpointError(
            where=str(name),
            expected="a checkpoint directory or a shipped name",
            found="a file" if path.exists() else "nothing there",
            remedy=" ".join(filter(None, (near, f"shipped: {known}; `longseq train` makes one"))),
        )
    for file in FILES:
        if not (path / file).is_file():
            raise CheckpointError(
                where=str(path), expected=" ".join(FILES), found=f"no {file}", remedy="is this a checkpoint directory?"
            )
    return path


def digest(path: Path) -> str:
    """sha256 over the three files that decide what a model computes."""
    return hashlib.sha256(b"".join(_sha256(path / file) for file in FILES)).hexdigest()


def _sha256(file: Path) -> bytes:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def read_config(path: Path) -> dict[str, Any]:
    """`config.json` as it stands, its schema checked."""
    file = path / "config.json"
    try:
        found: dict[str, Any] = read_json(file, most=LONGEST)
    except (OSError, ValueError) as error:
        raise CheckpointError(where=str(file), expected="JSON", found=str(error)) from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise CheckpointError(where=str(file), expected=f"schema {SCHEMA}", found=repr(schema))
    return found


def load(name: str | Path = "dna", device: str | torch.device = "cpu") -> Checkpoint:
    """Load a shipped checkpoint or a directory.

    Args:
        name: "dna", "genes", "text", or a directory that a training or a conversion left; "./dna" is a folder here.
        device: "cpu", "cuda", "cuda:1".

    Returns:
        The model in evaluation mode, float32, its tokenizer and what is known of it.

    Raises:
        CheckpointError: not a checkpoint, of another schema, tensors that are missing, of another shape or not finite.
        AlphabetError: the tokenizer is not the one the weights were trained with.
    """
    path = locate(name)
    facts = read_config(path)
    try:
        config = from_mapping(ModelConfig, facts.get("model", {}), "model.")
        head = from_mapping(HeadConfig, facts["head"], "head.") if "head" in facts else None
    except ConfigError as error:
        raise CheckpointError(str(error), where=str(path / "config.json")) from None
    tokenizer = tokens.load(path / "tokenizer.json")
    found = _sha256(path / "tokenizer.json").hex()
    if found != facts.get("tokenizer_sha256"):
        raise AlphabetError(
            where=str(path / "tokenizer.json"),
            expected=f"the tokenizer this model was trained with ({str(facts.get('tokenizer_sha256'))[:12]})",
            found=f"another ({found[:12]})",
            remedy="restore the tokenizer.json that belongs to these weights",
        )
    if tokenizer.vocabulary > config.vocabulary:
        raise AlphabetError(
            where=str(path),
            expected=f"at most {config.vocabulary} token ids",
            found=f"a tokenizer with {tokenizer.vocabulary}",
        )
    if config.frame:
        from longseq.tokens.stream import StreamTokenizer  # the library behind it is slow to import

        if not isinstance(tokenizer, StreamTokenizer):
            raise CheckpointError(
                where=str(path), expected="a tokenizer of documents (model.frame)", found="one of DNA"
            )
        tokenizer = tokenizer.framed(config.frame[0], config.frame[1], config.segment)
    labels = _labels(path / "labels.json")
    model = filled(lambda: build(config, head, labels or (), tokenizer), path / "model.safetensors", config.layers)
    return Checkpoint(
        name=str(name),
        path=path,
        model=model.eval().to(device),
        tokenizer=tokenizer,
        labels=labels,
        sha256=digest(path),
        soft_masked=facts.get("soft_masked"),
    )


def _labels(file: Path) -> tuple[str, ...] | None:
    if not file.is_file():
        return None
    try:
        found = read_json(file)
        json.dumps(found, ensure_ascii=False).encode()  # no half of a surrogate pair, which no output can spell
    except (OSError, ValueError) as error:
        raise CheckpointError(where=str(file), expected="JSON", found=str(error)) from None
    if not isinstance(found, list) or not all(isinstance(label, str) for label in found):
        raise CheckpointError(where=str(file), expected="a list of class names", found="other JSON")
    return tuple(found)


def save(
    directory: str | Path,
    model: Model,
    tokenizer: DnaTokenizer | DnaSubwords | StreamTokenizer,
    *,
    labels: Sequence[str] | None = None,
    card: Mapping[str, object] | str = "",
    dtype: torch.dtype = torch.float32,
    calibration: Calibration | None = None,
    figures: Mapping[str, float] | None = None,
    soft_masked: float | None = None,
    force: bool = False,
) -> None:
    """Write a checkpoint directory, whole or not at all.

    What adapters learned is added to the weights beneath. `card` is the model card, or facts for its table; `dtype` is
    that of the stored weights, `soft_masked` the share of the letters learned from that were in lower case.

    Raises:
        OutputExistsError: it stands already and `force` is off.
    """
    from longseq import __version__

    head = None if isinstance(model, LanguageModel) else model.head_config
    if labels is None and not isinstance(model, LanguageModel):
        labels = model.labels or None
    with output_directory(directory, force=force, replaces=OF_WEIGHTS) as aside:
        tokenizer.save(aside / "tokenizer.json")
        config: dict[str, object] = {
            "schema": SCHEMA,
            "longseq": __version__,
            "model": to_mapping(model.config),
            "tokenizer_sha256": _sha256(aside / "tokenizer.json").hex(),
        }
        if soft_masked is not None:
            config["soft_masked"] = soft_masked
        if head is not None:
            config["head"] = to_mapping(head)
        (aside / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        # A parameter is one tensor of its own on disk, whatever it shared in memory.
        tensors = {
            name: tensor.detach().to("cpu", dtype).contiguous().clone() for name, tensor in weights(model).items()
        }
        # Written by us: of a full disk safetensors says no OSError.
        (aside / "model.safetensors").write_bytes(to_bytes(tensors, metadata={"format": "pt"}))
        if labels is not None:
            (aside / "labels.json").write_text(json.dumps(list(labels), ensure_ascii=False) + "\n", encoding="utf-8")
        if calibration is not None:
            write_calibration(aside, calibration, digest(aside))
        if figures:
            write_figures(aside, figures, digest(aside))
        page = card or _card(model, {}) if isinstance(card, str) else _card(model, card)
        (aside / "README.md").write_text(page, encoding="utf-8")


def _card(model: Model, facts: Mapping[str, object]) -> str:
    config = model.config
    parameters = sum(p.numel() for p in model.parameters())
    what = "causal language model" if isinstance(model, LanguageModel) else f"model to {model.head_config.answers}"
    lines = [
        "# Model card",
        "",
        f"A longseq {what}: {parameters:,} parameters, {count(config.layers, 'layer')} of "
        f"{' and '.join(config.pattern)} mixers, {config.width} channels, {config.heads} attention heads.",
        "",
    ]
    if facts:
        rows = (f"| {name} | {_in_a_cell(value)} |" for name, value in facts.items())
        lines += ["| fact | value |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _in_a_cell(value: object) -> str:
    """A fact, names of files among them, as text of Markdown."""
    return " ".join(str(value).splitlines()).replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
