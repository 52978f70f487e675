"""Readers of models and of what lies beside them: tokenizers, settings, checkpoints, teachers, extractors."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np
import torch
from bundles import apart, bundle, folder_of, owned, parts, signed_state, tensors, unpack
from fuzzing import Target
from safetensors.torch import save as to_bytes
from tokenizers import Tokenizer

from longseq import tokens
from longseq.cli import main
from longseq.cli.talk import Talk
from longseq.config import load as load_settings
from longseq.config import to_toml
from longseq.errors import LongseqError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.model.calibration import Calibration, read_calibration
from longseq.model.extractor import Extractor, ExtractorConfig, load_extractor, save_extractor
from longseq.model.headed import HeadConfig, RecordModel, TokenModel
from longseq.model.held_out import read_figures
from longseq.model.range import TrainingRange, read_range, write_range
from longseq.records import Alphabet
from longseq.streaming import Snapshot, Surprisal, load_snapshot, save_snapshot
from longseq.tasks.convert.settings import Settings
from longseq.tasks.convert.source import Source, read_original
from longseq.tasks.convert.work import Begun
from longseq.tasks.extract.config import ExtractConfig
from longseq.tasks.info import describe
from longseq.tasks.shards.gather import gathered
from longseq.tasks.tokenizer import describe as describe_tokenizer
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import check
from longseq.tokens.subwords import kmers, pieces
from longseq.tokens.train.config import Learning
from longseq.tokens.word_pieces import word_pieces
from longseq.training.config import TrainConfig

RUNS = (("A", 90), ("ac", 20), (" ", 30), ("7", 20), ("\n", 9))
TEXT = "It's the cafe\u0301 of 3.14   \n\n\u4e2d\u6587 [SEP] x_x AAAA" + "ab " * 40
JSON = (b"null", b"NaN", b"Infinity", b"-1", b"1e999", b"99999999999999999999", b"1099511627776", b"[]", b"{}", b'""',
        b"true", b'"\\ud800"', b"[[[[[[", b'{"a":', b"9" * 64, b"0.5", b",", b":", b"[", b"]", b"{", b"}")  # fmt: skip


@cache
def _tiny(task: str | None = None) -> Path:
    """A checkpoint of a few hundred numbers."""
    folder = Path(tempfile.mkdtemp()) / "model"
    config = ModelConfig(width=4, heads=2, layers=1, feedforward_width=4, pattern=("gated" if task else "linear",))
    head = None if task is None else HeadConfig(task=task, outputs=2)  # type: ignore[arg-type]
    labels = ("a", "b")
    model = LanguageModel(config) if head is None else (TokenModel if task == "annotate" else RecordModel)(config, head, labels)
    calibration = None if task is None else Calibration(temperature=1.5, in_range_above=0.25, records=7)
    save(folder, model, DnaTokenizer(), card="# A model\n", calibration=calibration, figures={"bits": 1.9})
    if task is None:
        found = TrainingRange(window=9, windows=3, quantiles=(0.1, 0.9), gc=(20.0, 70.5), bits=(1.5, 2.0), of="a phage")
        write_range(folder, found, load(folder).sha256)
    return folder


def _checkpoints() -> list[bytes]:
    made = [folder_of(_tiny(task)) for task in (None, "classify", "annotate")]
    return [*made, *map(_opened, made)]


def _opened(data: bytes) -> bytes:
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


def described(path: Path) -> None:
    """What `info` says of it, as a line of a terminal or of JSON."""
    from longseq.formats.jsonfile import to_json
    from longseq.report.facts import facts_text

    facts = describe(str(path))
    to_json(facts).encode()
    facts_text(facts)


def _lay_checkpoint(folder: Path, data: bytes) -> Path:
    return unpack(folder / "model", owned(parts(data)))


def _tokenizers() -> list[bytes]:
    folder = Path(tempfile.mkdtemp())
    for name, one in {
        "letters": DnaTokenizer(),
        "kmers": kmers(2, Alphabet()),
        "pieces": pieces([("A", "C"), ("AC", "G"), ("T", "T")], Alphabet(ambiguity="N")),
    }.items():
        one.save(folder / name)
    made = [path.read_bytes() for path in sorted(folder.iterdir())]
    return made + [json.dumps(one, separators=(",", ":")).encode() for one in _foreign()]


def _foreign() -> list[dict]:
    """Tokenizers of documents, each with other parts."""
    words = {word: i for i, word in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "b", "##b", "ab", "it", "s"])}
    special = [
        {"id": i, "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i, name in enumerate(["[UNK]", "[CLS]", "[SEP]"])
    ]  # fmt: skip
    bare = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special}
    split = {"type": "Split", "pattern": {"Regex": r"\s+|[^\s]{1,3}"}, "behavior": "Isolated", "invert": False}
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                   {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {name: {"id": name, "ids": [i], "tokens": [name]} for i, name in ((1, "[CLS]"), (2, "[SEP]"))},
    }  # fmt: skip
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    return [
        {**bare, "normalizer": bert, "pre_tokenizer": {"type": "BertPreTokenizer"},
         "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
         "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
         "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                   "max_input_chars_per_word": 100, "vocab": words}},
        {**bare, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"},
             {"type": "Replace", "pattern": {"Regex": "a+b"}, "content": "x"}, {"type": "Prepend", "prepend": "_"}]},
         "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "ByteLevel",
             "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
         "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
         "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
         "model": {"type": "BPE", "dropout": None, "unk_token": "[UNK]", "continuing_subword_prefix": None,
                   "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                   "vocab": words, "merges": [["a", "b"]]}},
        {**bare, "normalizer": {"type": "NFKC"},
         "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
         "post_processor": template, "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"},
         "model": {"type": "Unigram", "unk_id": 0, "vocab": [["[UNK]", 0.0], ["[CLS]", 0.0], ["[SEP]", 0.0], ["\u2581", -2.0], ["a", -3.5]],
                   "byte_fallback": False}},
        {**bare, "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
         "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}},
    ]  # fmt: skip


def _short(read: Callable[[Path], object]) -> Callable[[Path], object]:
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


def _vocabularies() -> list[bytes]:
    words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n".encode()
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


def _extractors() -> list[bytes]:
    made = []
    for states, layers in ((0, 1), (3, 0)):
        folder = Path(tempfile.mkdtemp())
        config = ExtractorConfig(traits=("length", "place"), states=states, layers=layers, width=4, heads=1)
        save_extractor(folder, Extractor(config), "# card\n")
        made.append(folder_of(folder))
    return made + [_opened(one) for one in made]


def _extractor(path: Path) -> None:
    found = load_extractor(path)
    traits = torch.zeros(3, len(found.config.traits))
    states = torch.zeros(3, found.config.states) if found.config.states else None
    with torch.inference_mode():
        answers = found(traits, states)
        assert torch.isfinite(answers).all() and torch.isfinite(found.worth(answers)).all()


def _lay_extractor(folder: Path, data: bytes) -> Path:
    files = parts(data)
    if "model.head" in files:
        files["model.safetensors"] = tensors(bundle({"head": files.pop("model.head"), "body": files.pop("model.body", b"")}))
    return unpack(folder / "model", files)


def _bert() -> tuple[dict, dict[str, torch.Tensor]]:
    width, inner, words, places = 4, 4, 12, 4
    facts = {
        "model_type": "bert", "hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": inner,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "max_position_embeddings": places, "vocab_size": words, "pad_token_id": 0,
    }  # fmt: skip
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
    vocab = _vocabularies()[0]
    whole = {"config.json": json.dumps(facts).encode(), "model.safetensors": data, "vocab.txt": parts(vocab)["vocab.txt"]}
    index = {"weight_map": dict.fromkeys(weights, "part.safetensors")}
    split = {"config.json": whole["config.json"], "part.safetensors": data, "vocab.txt": whole["vocab.txt"],
             "model.safetensors.index.json": json.dumps(index).encode()}  # fmt: skip
    roberta = {**facts, "model_type": "roberta", "pad_token_id": 1, "max_position_embeddings": 6}
    longer = weights | {"embeddings.position_embeddings.weight": torch.full((6, 4), 0.5)}
    named = _foreign()[0]
    return [
        bundle(whole),
        _opened(bundle(whole)),
        bundle(split),
        _opened(bundle({**whole, "tokenizer.json": json.dumps(named).encode()})),
        bundle({**whole, "config.json": json.dumps(roberta).encode(), "model.safetensors": to_bytes(longer)}),
    ]


def _teacher(path: Path) -> None:
    found = read_original(Source(model=str(path)))
    with torch.inference_mode():
        found.model(torch.arange(4)[None] % found.model.config.vocabulary)


def _states() -> list[bytes]:
    checkpoint = load(_tiny())
    folder = Path(tempfile.mkdtemp())
    with torch.inference_mode():
        _, state = checkpoint.model.encoder(torch.arange(8)[None] % 4)
    first = Snapshot(state=state, model_sha256=checkpoint.sha256, position=8, carry=b"ACGN", given=9)
    save_snapshot(folder / "a.state", first)
    more = Snapshot(
        state=None, model_sha256=checkpoint.sha256, position=0, carry=b"ACG", chunk=8, precision="fp32",
        accumulators={"x": torch.ones(2)}, spools={"rows": 3}, place={"file": "a.fa", "record": 1},
    )  # fmt: skip
    save_snapshot(folder / "b.state", more)
    whole = [path.read_bytes() for path in sorted(folder.iterdir())]
    made = []
    for data in whole:
        files = parts(apart(data))
        head = json.loads(files["head"])
        facts = json.loads(head.pop("__metadata__")["facts"])
        del facts["sha256"]
        made.append(bundle({"facts": json.dumps(facts).encode(), "head": json.dumps(head).encode(), "body": files["body"]}))
    return whole + made


def _state(path: Path) -> None:
    checkpoint = load(_tiny())
    try:
        described(path)
    except LongseqError:
        pass
    found = load_snapshot(path, checkpoint)
    reader = Surprisal(checkpoint, chunk=8)(found)
    reader.push(b"ACGTACGTACGT")
    reader.finish()


def _lay_state(folder: Path, data: bytes) -> Path:
    path = folder / "a.state"
    path.write_bytes(signed_state(data))
    return path


def _batches() -> list[bytes]:
    folder = Path(tempfile.mkdtemp())
    (folder / "a.fa").write_bytes(b">a\nACGTNNACGT\n>b x\nGGGCC\n")
    (folder / "b.txt").write_bytes(b"One sentence stands here. Another one does as well. A third one ends it.")
    made = []
    for name, options in (("a.fa", ["--no-model"]), ("b.txt", [])):
        for number in (1, 2):
            batch = ["--out", str(folder / f"{name}.batch"), "--shard", f"{number}/2", "-q"]
            with redirect_stdout(io.StringIO()):
                assert main(["summarize", str(folder / name), *options, *batch]) == 0
        made.append(folder_of(folder / f"{name}.batch"))
    return made


def _batch(path: Path) -> None:
    from longseq.cli.summaries import play

    try:
        described(path)
    except LongseqError:
        pass
    batch = gathered([path])
    if batch.command == "summarize":
        with redirect_stdout(io.StringIO()):
            play(batch, str(path.parent / "merged.json"), force=True, talk=Talk(["merge"]))


WEIGHTS = (b'"F32"', b'"F64"', b'"BF16"', b'"I64"', b'"U8"', b'"BOOL"', b'"F8_E4M3"', b'"C64"', b'"dtype"', b'"shape"', b"4294967296",
           b'"data_offsets"', b"9223372036854775807", b"18446744073709551615", b"[0,16]", b"\xff" * 8, b"\0\0\xc0\x7f", b"\0\0\x80\x7f",
           b'"__metadata__"')  # fmt: skip
TOKENIZER = (b'"type"', b'"Regex"', b'"String"', b'"Precompiled"', b'"precompiled_charsmap"', b'"Split"', b'"Sequence"', b'"normalizers"',
             b'"(a+)+$"', b'"(?=a*)*"', b'"\\\\s*"', b'"Removed"', b'"MergedWithNext"', b'"Contiguous"', b'"Strip"', b'"NFKD"', b'"Nmt"',
             b'"Unigram"', b'"BPE"', b'"byte_fallback"', b"4294967295", b'"<0x41>"', b'"Digits"', b'"Punctuation"')  # fmt: skip
TOML = (b"nan", b"inf", b"-inf", b"0x", b"1_0", b"[[", b"]]", b"=", b"'''", b'"""', b"[model]", b"1979-05-27T07:32:00Z", b".a", b"\\u0000",
        b"9" * 64, b"true", b"{", b"}", b"model.width=", b"4294967296", b"-1")  # fmt: skip

MODELS = (
    Target(name="tokenizer", examples=40, file="tokenizer.json", read=_short(_tokenizer), words=JSON + TOKENIZER, made=_tokenizers),
    Target(name="vocabulary", examples=100, file="vocab.txt", read=_short(_vocabulary), words=JSON, made=_vocabularies,
           lay=lambda folder, data: unpack(folder / "model", parts(data))),
    Target(name="settings", examples=200, file="run.toml", read=_settings, words=TOML, made=_all_settings),
    Target(name="assignments", examples=300, file="set.txt", read=_assigned, words=TOML + (b"\0",), made=_assignments),
    Target(name="checkpoint", examples=25, file="model", read=_checkpoint, words=JSON + WEIGHTS, made=_checkpoints, lay=_lay_checkpoint),
    Target(name="extractor", examples=60, file="model", read=_extractor, words=JSON + WEIGHTS, made=_extractors, lay=_lay_extractor),
    Target(name="state", examples=40, file="a.state", read=_state, words=JSON + WEIGHTS, made=_states, lay=_lay_state),
    Target(name="shards", examples=12, file="batch", read=_batch, words=JSON, made=_batches,
           lay=lambda folder, data: unpack(folder / "batch", parts(data))),
    Target(name="teacher", examples=40, file="model", read=_short(_teacher), words=JSON + WEIGHTS, made=_teachers, lay=_lay_extractor),
)  # fmt: skip
