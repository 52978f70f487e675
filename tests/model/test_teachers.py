"""Trained Transformers as our encoder: the same hidden vectors, and one line for what cannot be read."""

import json

import pytest
import torch
from safetensors.torch import save_file
from teachers import BERT, LAYERS, PLACES, WIDTH, WORDS, bert, bert_tensors, write_bert
from torch import nn

from longseq.errors import CheckpointError, ConfigError
from longseq.model.teachers import Shape, read_directory, read_torch_encoder
from longseq.model.tensors import open_tensors

ENDS = (2, 3)


def ids(length, batch=2):
    return torch.randint(WORDS, (batch, length), generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("prefix", ["", "bert."])
@pytest.mark.parametrize("old", [False, True])
@torch.inference_mode()
def test_bert_in_plain_lines(tmp_path, prefix, old):
    tensors = bert_tensors()
    written = {prefix + name: tensor for name, tensor in tensors.items()}
    if old:  # names of LayerNorm in the first files there were
        new = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        for theirs, ours in new.items():
            written = {name.replace(theirs, ours): tensor for name, tensor in written.items()}
    found = read_directory(write_bert(tmp_path / "bert", written), ENDS)
    for length in (1, 7, PLACES):
        assert (found.model(ids(length))[0] - bert(tensors, ids(length))).abs().max() < 1e-5
    assert found.left == (f"{prefix}pooler.dense.bias", f"{prefix}pooler.dense.weight")


@torch.inference_mode()
def test_a_long_text_is_its_windows(tmp_path):
    model, long = read_directory(write_bert(tmp_path / "bert"), ENDS).model, ids(3 * PLACES + 5)
    windows = [bert(bert_tensors(), part) for part in long.split(PLACES, 1)]
    assert (model(long)[0] - torch.cat(windows, 1)).abs().max() < 1e-5


@torch.inference_mode()
def test_several_files_and_their_index(tmp_path):
    folder, tensors = write_bert(tmp_path / "bert"), bert_tensors()
    whole = read_directory(folder, ENDS).model(ids(9))[0]
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    of = {name: f"model-{i % 2}.safetensors" for i, name in enumerate(names)}
    for file in set(of.values()):
        save_file({name: tensors[name] for name in names if of[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": of}))
    assert torch.equal(read_directory(folder, ENDS).model(ids(9))[0], whole)


class Tagger(nn.Module):
    def __init__(self, positions=None, **options):
        super().__init__()
        final = nn.LayerNorm(WIDTH) if options.pop("final", False) else None
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 20, batch_first=True, **options)
        self.words = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.TransformerEncoder(layer, 3, final, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 5)
        if positions is not None:
            self.register_buffer("places", torch.randn(positions))

    def forward(self, tokens):
        x = self.words(tokens)
        if hasattr(self, "places"):
            x = x + self.places.reshape(-1, WIDTH)[: tokens.shape[1]]
        return self.encoder(x)


def write_tagger(folder, model):
    for name, weight in model.named_parameters():
        if "norm" in name or name.endswith("bias"):
            nn.init.normal_(weight, 1.0 if name.endswith("weight") else 0.0, 0.2)
    file = folder / "tagger.safetensors"
    save_file({name: tensor.clone() for name, tensor in model.state_dict().items()}, file)
    return file


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({}, {}),
        ({"norm_first": True, "final": True}, {"norm_first": True}),
        ({"activation": "gelu", "layer_norm_eps": 1e-3}, {"activation": "gelu", "norm_epsilon": 1e-3}),
        ({"bias": False, "positions": (1, 30, WIDTH)}, {"positions": "places"}),
        ({"positions": (30, 1, WIDTH)}, {"positions": "places"}),
        ({"positions": (30, WIDTH), "norm_first": True}, {"positions": "places", "norm_first": True}),
    ],
)
def test_encoder_of_torch(tmp_path, options, shape):
    torch.manual_seed(3)
    model = Tagger(**options).eval()
    found = read_torch_encoder(write_tagger(tmp_path, model), Shape(heads=2, embedding="words.weight", **shape))
    with torch.no_grad():
        assert (found.model(ids(30))[0] - model(ids(30))).abs().max() < 1e-5
    assert found.left == ("head.bias", "head.weight")
    assert found.model.config.segment == (30 if "positions" in options else 512)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("model_type", "gpt2", r'config.json \(model_type\): expected "bert" or .*found \'gpt2\'; decoder-only'),
        ("is_decoder", True, r"\(is_decoder\): expected false, found True"),
        ("position_embedding_type", "relative_key", r'\(position_embedding_type\): expected "absolute", found \'relat'),
        ("hidden_act", "swish", r'\(hidden_act\): expected "gelu" or "relu", found \'swish\''),
        ("hidden_size", None, r"\(hidden_size\): expected a whole number, found None"),
        ("num_attention_heads", 3, r"model.width: expected a multiple of model.heads \(3\), found 16"),
        ("vocab_size", 41, r"\(embeddings.word_embeddings.weight\): expected shape \(41, 16\), found \(40, 16\)"),
        ("num_hidden_layers", 1, r"\(encoder.layer.1.*\): expected 1 layers, .*found more"),
        ("num_hidden_layers", 3, r"expected tensor encoder.layer.2.attention.self.query.weight, found none"),
        ("vocab_size", 3, r"expected a last special token below vocab_size \(3\), found id 3 in its tokenizer"),
    ],
)
def test_settings_that_cannot_be(tmp_path, key, value, line):
    with pytest.raises(CheckpointError, match=line):
        read_directory(write_bert(tmp_path / "bert", **{key: value}), ENDS)


@pytest.mark.parametrize(
    "name", [name for name in bert_tensors() if name.endswith("weight") and "pooler" not in name][:12]
)
def test_a_missing_tensor_is_named(tmp_path, name):
    tensors = bert_tensors()
    del tensors[name]
    if "token_type" in name:  # DistilBERT has none
        assert read_directory(write_bert(tmp_path / "bert", tensors), ENDS).kind == "bert"
        return
    with pytest.raises(CheckpointError, match=f"expected tensor {name}, found none"):
        read_directory(write_bert(tmp_path / "bert", tensors), ENDS)


def test_weights_that_cannot_be(tmp_path):
    tensors = bert_tensors()
    tensors["encoder.layer.1.output.dense.weight"][0, 0] = torch.nan
    with pytest.raises(CheckpointError, match=r"\(encoder.layer.1.output.dense.weight\): expected finite numbers"):
        read_directory(write_bert(tmp_path / "nan", tensors), ENDS)
    folder = write_bert(tmp_path / "bert")
    with pytest.raises(ConfigError, match=rf"segment: expected at most {PLACES} tokens, .*found {PLACES + 1}"):
        read_directory(folder, ENDS, PLACES + 1)
    (folder / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"config.json: expected JSON"):
        read_directory(folder, ENDS)


def test_pickles_are_refused(tmp_path):
    folder = write_bert(tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    torch.save(bert_tensors(), folder / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match=r"expected model.safetensors, found only pytorch_model.bin, a pickle"):
        read_directory(folder, ENDS)
    for new in (True, False):
        torch.save(bert_tensors(), folder / "model.safetensors", _use_new_zipfile_serialization=new)
        with pytest.raises(CheckpointError, match=r"model.safetensors: expected a safetensors file, found a pickle"):
            read_directory(folder, ENDS)


@pytest.mark.parametrize("length", [0x80, 0x2180])
def test_a_header_whose_length_looks_like_a_pickle(tmp_path, length):
    header = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode().ljust(length)
    (tmp_path / "model.safetensors").write_bytes(length.to_bytes(8, "little") + header + b"\0\0\0\x40")
    with open_tensors(tmp_path / "model.safetensors") as found:
        assert found.take("a", (1,)).tolist() == [2.0]


def test_an_encoder_of_torch_that_cannot_be(tmp_path):
    file = write_tagger(tmp_path, Tagger())
    for shape, kind, line in [
        ({"heads": 0}, ConfigError, r"teacher.heads: expected >= 1, which no tensor tells: --set"),
        ({"embedding": "no.weight"}, CheckpointError, r"expected tensor no.weight, found none"),
        ({"heads": 3}, ConfigError, r"model.width: expected a multiple of model.heads \(3\)"),
    ]:
        options = {"heads": 2, "embedding": "words.weight"} | shape
        with pytest.raises(kind, match=line):
            read_torch_encoder(file, Shape(**options))
    save_file({"words.weight": torch.zeros(WORDS, WIDTH)}, file)
    with pytest.raises(CheckpointError, match=r"expected one tensor layers.0.self_attn.in_proj_weight .*found none"):
        read_torch_encoder(file, Shape(heads=2, embedding="words.weight"))
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, 2, 20), 1)
    save_file(decoder.state_dict(), file)
    with pytest.raises(CheckpointError, match=r"multihead_attn.in_proj_weight\): expected an nn.Trans.*a decoder"):
        read_torch_encoder(file, Shape(heads=2, embedding="words.weight"))


def test_the_settings_of_a_bert(tmp_path):
    config = read_directory(write_bert(tmp_path / "bert"), ENDS, 8).model.config
    assert (config.segment, config.layers, config.heads) == (8, LAYERS, BERT["num_attention_heads"])
    assert config.frame == ENDS
