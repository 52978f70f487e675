"""Readers of models: checkpoints, extractors, teachers."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

import torch
from bundles import apart, bundle, folder_of, owned, parts, tensors, unpack
from fuzzed_settings import foreign, short, vocabularies
from fuzzing import Target
from safetensors.torch import save as to_bytes
from told import JSON, described

from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.model.calibration import Calibration, read_calibration
from longseq.model.extractor import Extractor, ExtractorConfig, load_extractor, save_extractor
from longseq.model.headed import HeadConfig, RecordModel, TokenModel
from longseq.model.held_out import read_figures
from longseq.model.range import TrainingRange, read_range, write_range
from longseq.tasks.convert.source import Source, read_original
from longseq.tokens import DnaTokenizer


@cache
def tiny(task: str | None = None) -> Path:
    """A checkpoint of a few hundred numbers."""
    folder = Path(tempfile.mkdtemp()) / "model"
    config = ModelConfig(width=4, heads=2, layers=1, feedforward_width=4, pattern=("gated" if task else "linear",))
    head = None if task is None else HeadConfig(task=task, outputs=2)  # type: ignore[arg-type]
    labels = ("a", "b")
    model = (
        LanguageModel(config)
        if head is None
        else (TokenModel if task == "annotate" else RecordModel)(config, head, labels)
    )
    calibration = None if task is None else Calibration(temperature=1.5, in_range_above=0.25, records=7)
    save(folder, model, DnaTokenizer(), card="# A model\n", calibration=calibration, figures={"bits": 1.9})
    if task is None:
        found = TrainingRange(window=9, windows=3, quantiles=(0.1, 0.9), gc=(20.0, 70.5), bits=(1.5, 2.0), of="a phage")
        write_range(folder, found, load(folder).sha256)
    return folder


def _checkpoints() -> list[bytes]:
    made = [folder_of(tiny(task)) for task in (None, "classify", "annotate")]
    return [*made, *map(opened, made)]


def opened(data: bytes) -> bytes:
    """With the JSON of the weights as a part of its own."""
    files = parts(data)
    weights = parts(apart(files.pop("model.safetensors")))
    return bundle({**files, "model.head": weights["head"], "model.body": weights["body"]})


def _checkpoint(path: Path) -> None:
    found = load(path)
    read_calibration(path, found.sha256)
    read_range(path, found.sha256)
    read_figures(path, found.sha256)
    with torch.inference_mode():
        ids = torch.arange(12)[None] % found.tokenizer.vocabulary
        found.model(ids)
    described(path)


def _lay_checkpoint(folder: Path, data: bytes) -> Path:
    return unpack(folder / "model", owned(parts(data)))


def _extractors() -> list[bytes]:
    made = []
    for states, layers in ((0, 1), (3, 0)):
        folder = Path(tempfile.mkdtemp())
        config = ExtractorConfig(traits=("length", "place"), states=states, layers=layers, width=4, heads=1)
        save_extractor(folder, Extractor(config), "# card\n")
        made.append(folder_of(folder))
    return made + [opened(one) for one in made]


def _extractor(path: Path) -> None:
    found = load_extractor(path)
    traits = torch.zeros(3, len(found.config.traits))
    states = torch.zeros(3, found.config.states) if found.config.states else None
    with torch.inference_mode():
        found.worth(found(traits, states))


def _lay_extractor(folder: Path, data: bytes) -> Path:
    files = parts(data)
    if "model.head" in files:
        files["model.safetensors"] = tensors(
            bundle({"head": files.pop("model.head"), "body": files.pop("model.body", b"")})
        )
    return unpack(folder / "model", files)


def _bert() -> tuple[dict, dict[str, torch.Tensor]]:
    width, inner, words, places = 4, 4, 12, 4
    facts = {
        "model_type": "bert",
        "hidden_size": width,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": inner,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": places,
        "vocab_size": words,
        "pad_token_id": 0,
    }
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, width),
        "embeddings.position_embeddings.weight": (places, width),
        "embeddings.LayerNorm.weight": (width,),
        "encoder.layer.0.intermediate.dense.weight": (inner, width),
        "encoder.layer.0.output.dense.weight": (width, inner),
        "encoder.layer.0.attention.output.LayerNorm.weight": (width,),
        "encoder.layer.0.output.LayerNorm.weight": (width,),
    }
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"encoder.layer.0.attention.{name}.weight"] = (width, width)
    return facts, {name: torch.full(shape, 0.25) for name, shape in shapes.items()}


def _teachers() -> list[bytes]:
    facts, weights = _bert()
    data = to_bytes(weights)
    vocab = vocabularies()[0]
    whole = {
        "config.json": json.dumps(facts).encode(),
        "model.safetensors": data,
        "vocab.txt": parts(vocab)["vocab.txt"],
    }
    index = {"weight_map": dict.fromkeys(weights, "part.safetensors")}
    split = {
        "config.json": whole["config.json"],
        "part.safetensors": data,
        "vocab.txt": whole["vocab.txt"],
        "model.safetensors.index.json": json.dumps(index).encode(),
    }
    roberta = {**facts, "model_type": "roberta", "pad_token_id": 1, "max_position_embeddings": 6}
    longer = weights | {"embeddings.position_embeddings.weight": torch.full((6, 4), 0.5)}
    named = foreign()[0]
    return [
        bundle(whole),
        opened(bundle(whole)),
        bundle(split),
        opened(bundle({**whole, "tokenizer.json": json.dumps(named).encode()})),
        bundle({**whole, "config.json": json.dumps(roberta).encode(), "model.safetensors": to_bytes(longer)}),
    ]


def _teacher(path: Path) -> None:
    found = read_original(Source(model=str(path)))
    with torch.inference_mode():
        found.model(torch.arange(4)[None] % found.model.config.vocabulary)


WEIGHTS = (
    b'"F32"',
    b'"F64"',
    b'"BF16"',
    b'"I64"',
    b'"U8"',
    b'"BOOL"',
    b'"F8_E4M3"',
    b'"C64"',
    b'"dtype"',
    b'"shape"',
    b"4294967296",
    b'"data_offsets"',
    b"9223372036854775807",
    b"18446744073709551615",
    b"[0,16]",
    b"\xff" * 8,
    b"\0\0\xc0\x7f",
    b"\0\0\x80\x7f",
    b'"__metadata__"',
)


MODELS = (
    Target(
        name="checkpoint",
        examples=25,
        file="model",
        read=_checkpoint,
        words=JSON + WEIGHTS,
        made=_checkpoints,
        lay=_lay_checkpoint,
    ),
    Target(
        name="extractor",
        examples=60,
        file="model",
        read=_extractor,
        words=JSON + WEIGHTS,
        made=_extractors,
        lay=_lay_extractor,
    ),
    Target(
        name="teacher",
        examples=40,
        file="model",
        read=short(_teacher),
        words=JSON + WEIGHTS,
        made=_teachers,
        lay=_lay_extractor,
    ),
)
