"""Small random Transformers in the files that other libraries write, and a BERT in plain lines."""

import json

import torch
from safetensors.torch import save_file
from torch.nn.functional import gelu, layer_norm, linear

WIDTH, HEADS, INNER, LAYERS, WORDS, PLACES = 16, 2, 24, 2, 40, 12

BERT = {
    "model_type": "bert",
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": INNER,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": PLACES,
    "vocab_size": WORDS,
    "type_vocab_size": 2,
    "pad_token_id": 0,
}


def bert_tensors(seed=0):
    drawn = torch.Generator().manual_seed(seed)

    def pair(name, *shape):
        weight, bias = torch.randn(*shape, generator=drawn) * 0.3, torch.randn(shape[0], generator=drawn) * 0.1
        return {f"{name}.weight": weight, f"{name}.bias": bias}

    found = pair("embeddings.LayerNorm", WIDTH)
    for name, rows in (("word", WORDS), ("position", PLACES), ("token_type", 2)):
        found[f"embeddings.{name}_embeddings.weight"] = torch.randn(rows, WIDTH, generator=drawn)
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            found |= pair(f"{layer}.attention.{name}", WIDTH, WIDTH)
        found |= pair(f"{layer}.attention.output.LayerNorm", WIDTH)
        found |= pair(f"{layer}.intermediate.dense", INNER, WIDTH) | pair(f"{layer}.output.dense", WIDTH, INNER)
        found |= pair(f"{layer}.output.LayerNorm", WIDTH)
    return found | pair("pooler.dense", WIDTH, WIDTH)


def bert(found, ids):
    """Hidden vectors (B, T, D) of ids (B, T) as Devlin et al. (2019) have them, all of type 0."""

    def apply(x, name):
        return linear(x, found[f"{name}.weight"], found[f"{name}.bias"])

    def norm(x, name):
        return layer_norm(x, (WIDTH,), found[f"{name}.weight"], found[f"{name}.bias"], 1e-12)

    x = found["embeddings.word_embeddings.weight"][ids] + found["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + found["embeddings.position_embeddings.weight"][: ids.shape[1]], "embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        q, k, v = (
            apply(x, f"{layer}.attention.self.{name}").unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        seen = ((q @ k.mT / (WIDTH // HEADS) ** 0.5).softmax(-1) @ v).transpose(1, 2).flatten(2)
        x = norm(x + apply(seen, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = gelu(apply(x, f"{layer}.intermediate.dense"))
        x = norm(x + apply(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij", *(f"##{letter}" for letter in "abcdefghij")]


def write_bert(folder, tensors=None, **changes):
    """A directory of transformers with `tensors` and vocab.txt; settings changed, or None: left away."""
    folder.mkdir()
    facts = {key: value for key, value in (BERT | changes).items() if value is not None}
    (folder / "config.json").write_text(json.dumps(facts))
    save_file(bert_tensors() if tensors is None else tensors, folder / "model.safetensors")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    return folder
