"""`longseq convert --keep-softmax`: from the files of others to vectors, and what is said of files that cannot be."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file
from teachers import BERT, PLACES, VOCABULARY, WORDS, bert, bert_tensors, write_bert
from torch import nn

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.tokens.word_pieces import word_pieces


@pytest.fixture
def convert(tmp_path, capsys):
    def call(model, *options, out="out", keep=("--keep-softmax",)):
        code = main(["convert", str(model), "--out", str(tmp_path / out), *keep, *map(str, options)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def folder(tmp_path):
    return write_bert(tmp_path / "bert")


def test_vectors_are_the_means_of_the_teacher(tmp_path, convert, folder):
    code, out, err = convert(folder)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].endswith(
        f"out: bert of 2 layers, {load(tmp_path / 'out').parameters:,} parameters, softmax kept; "
        f"reads segments of {PLACES} tokens, [CLS] and [SEP] included"
    )
    assert out.splitlines()[1] == "left out: pooler.dense.bias, pooler.dense.weight"
    short, long = "abc de f", "abcdefghij " * 4
    (tmp_path / "short.txt").write_text(short)
    (tmp_path / "long.txt").write_text(long)
    files = [str(tmp_path / name) for name in ("short.txt", "long.txt")]
    embed = ["embed", *files, "--model", str(tmp_path / "out"), "--out", str(tmp_path / "vectors.parquet")]
    assert main(embed) == 0
    found = np.array(pq.read_table(tmp_path / "vectors.parquet")["vector"].to_pylist())
    number = {word: i for i, word in enumerate(VOCABULARY)}
    for text, vector in zip((short, long), found, strict=True):
        ids = [number[letter if i == 0 else f"##{letter}"] for word in text.split() for i, letter in enumerate(word)]
        inside = PLACES - 2
        windows = [[2, *ids[i : i + inside], 3] for i in range(0, len(ids), inside)]
        hidden = torch.cat([bert(bert_tensors(), torch.tensor([window]))[0] for window in windows])
        assert np.abs(vector - hidden.mean(0).numpy()).max() < 1e-5
    assert main([*embed, "--normalize", "--force"]) == 0
    scaled = np.array(pq.read_table(tmp_path / "vectors.parquet")["vector"].to_pylist())
    assert np.abs(scaled - found / np.linalg.norm(found, axis=1, keepdims=True)).max() < 1e-6


def test_info_and_check_take_it(tmp_path, convert, folder, capsys):
    assert convert(folder, "--segment", 10)[0] == 0
    assert main(["info", str(tmp_path / "out"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["head"]["task"] == "embed" and facts["config"]["segment"] == 10 and facts["vocabulary"] == 25
    assert "| converted from | bert, bert |" in facts["card"]
    assert main(["check", str(tmp_path / "out"), "--length", "64", "--json"]) == 0
    assert all(law["ok"] for law in json.loads(capsys.readouterr().out)["laws"])


def test_a_second_conversion_changes_nothing(tmp_path, convert, folder):
    assert convert(folder)[0] == 0
    code, out, _ = convert(tmp_path / "out", out="again")
    assert code == 0 and "longseq of 2 layers" in out
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("out", "again"))
    assert one == two and load(tmp_path / "again").card == load(tmp_path / "out").card
    code, _, err = convert(folder)
    assert code == 2 and "exists already" in err
    assert convert(folder, "--force")[0] == 0


def test_an_encoder_of_torch(tmp_path, convert, folder):
    model = nn.ModuleDict({
        "embedding": nn.Embedding(WORDS, 16),
        "encoder": nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 20, batch_first=True), 1).eval(),
    })  # fmt: skip
    file = tmp_path / "model.safetensors"
    save_file(model.state_dict(), file)
    word_pieces(folder / "vocab.txt").save(tmp_path / "tokenizer.json")
    code, _, err = convert(file, "--set", "teacher.heads=2")
    assert code == 2 and err.endswith(
        "model.safetensors: the tokenizer of a file of weights is missing; --tokenizer FILE names it\n"
    )
    code, out, _ = convert(file, "--set", "teacher.heads=2", "--tokenizer", tmp_path / "tokenizer.json")
    assert code == 0 and "nn.TransformerEncoder of 1 layer" in out and "segments of 512 tokens\n" in out
    found = load(tmp_path / "out")
    ids = torch.from_numpy(found.tokenizer.encode("abc de").astype(np.int64))[None]
    assert ids[0, 0] == 5  # no special tokens around it
    with torch.no_grad():
        assert (found.model(ids)[0] - model["encoder"](model["embedding"](ids))).abs().max() < 1e-5


def test_training_does_not_start_from_it(tmp_path, convert, folder, capsys):
    assert convert(folder)[0] == 0
    (tmp_path / "text.txt").write_text("abc " * 100)
    arguments = ["train", str(tmp_path / "text.txt"), "--from", str(tmp_path / "out"), "--out", str(tmp_path / "run")]
    assert main(arguments) == 2
    assert "start: expected a model that longseq train made, found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("spoil", "code", "line"),
    [
        (lambda f: (f / "config.json").write_text(json.dumps({"model_type": "gpt2"})), 1, "found 'gpt2'; decoder-only"),
        (lambda f: torch.save({}, f / "model.safetensors"), 1, "found a pickle, which is never read"),
        (lambda f: (f / "vocab.txt").unlink(), 1, "expected tokenizer.json or vocab.txt, found neither; --tokenizer"),
        (
            lambda f: (f / "vocab.txt").write_text("\n".join([*VOCABULARY, *map(str, range(99))]) + "\n"),
            1,
            "expected at most 40 token ids, as many as the model has embeddings, found a tokenizer with 124",
        ),
        (
            lambda f: save_file({"x": torch.zeros(1)}, f / "model.safetensors"),
            1,
            "expected tensor embeddings.position_embeddings.weight, found none",
        ),
        (lambda f: (f / "config.json").unlink(), 1, "config.json: expected JSON, found"),
    ],
)
def test_one_line_for_what_cannot_be(convert, folder, spoil, code, line):
    spoil(folder)
    found, out, err = convert(folder)
    assert (found, out, err.count("\n")) == (code, "", 1) and line in err
    assert not (folder.parent / "out").exists()


def test_requests_that_cannot_be(tmp_path, convert, folder):
    code, _, err = convert(folder, keep=())
    assert code == 2 and "--keep-softmax" in err
    code, _, err = convert(folder, "--segment", BERT["max_position_embeddings"] + 1)
    assert code == 2 and "segment: expected at most 12 tokens" in err
    code, _, err = convert(folder, "--set", "teacher.heads=2")
    assert code == 2 and "a directory has its shape in config.json" in err
    code, _, err = convert(tmp_path / "nowhere")
    assert code == 1 and "expected a directory or a safetensors file, found nothing there" in err
    code, _, err = convert("dna")
    assert code == 1 and "dna: expected softmax mixers alone, found" in err
    save(tmp_path / "ours", LanguageModel(ModelConfig(vocabulary=25, width=16, layers=1, pattern=("softmax",))),
         word_pieces(folder / "vocab.txt"))  # fmt: skip
    code, _, err = convert(tmp_path / "ours", "--segment", 8)
    assert code == 2 and "a checkpoint of ours has its shape, segment and tokenizer in it; leave --segment away" in err
    code, _, err = convert(tmp_path / "ours", "--set", "teacher.heads=2")
    assert code == 2 and "leave teacher.* away" in err
    assert convert(tmp_path / "ours")[0] == 0
