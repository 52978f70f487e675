"""A softmax encoder that learned a small task by attention alone keeps what it can as a linear model."""

import json

import pytest
import torch
from safetensors.torch import save_file
from teachers import VOCABULARY
from torch import nn
from torch.nn.functional import cross_entropy

from longseq.config import load
from longseq.model import load as load_model
from longseq.model.teachers import Shape
from longseq.tasks.convert import Settings, Source, linearise
from longseq.tokens.word_pieces import word_pieces

LENGTH, WIDTH = 8, 32
WORDS = [*(word for word in VOCABULARY if word[0] == "["), *"abcdefghijklmnop"]
FIRST = 5
"""Id of the first letter."""


def draw(count, seed):
    """Texts of letters (count, LENGTH), and whether the first letter comes again."""
    drawn, letters = torch.Generator().manual_seed(seed), len(WORDS) - FIRST
    first, rest = (torch.randint(letters, (count, n), generator=drawn) for n in (1, LENGTH - 1))
    rest = torch.where(rest == first, (rest + 1) % letters, rest)
    again = torch.rand(count, generator=drawn) < 0.5
    place = torch.randint(LENGTH - 1, (count, 1), generator=drawn)
    rest.scatter_(1, place, torch.where(again[:, None], first, rest.gather(1, place)))
    return torch.cat([first, rest], 1) + FIRST, again.long()


def accuracy(hidden, head, truth):
    return (head(hidden.mean(1)).argmax(1) == truth).float().mean().item()


@pytest.fixture(scope="module")
def trained():
    """Modules of an encoder and a head over its mean, trained in seconds."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 64, dropout=0.0, batch_first=True)
        model = nn.ModuleDict({
            "embedding": nn.Embedding(len(WORDS), WIDTH),
            "places": nn.Embedding(LENGTH, WIDTH),
            "encoder": nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
            "head": nn.Linear(WIDTH, 2),
        })  # fmt: skip
        texts, truth = draw(8192, 1)
        steps = 900
        optimiser = torch.optim.AdamW(model.parameters(), 4e-3)
        for step in range(steps):
            optimiser.param_groups[0]["lr"] = 4e-3 * min(1, (step + 1) / 50) * (1 - step / steps)
            some = torch.randint(len(texts), (64,))
            hidden = model["encoder"](model["embedding"](texts[some]) + model["places"].weight)
            optimiser.zero_grad()
            cross_entropy(model["head"](hidden.mean(1)), truth[some]).backward()
            optimiser.step()
    return model.eval()


@pytest.mark.slow
def test_98_percent_of_its_accuracy_stay(trained, tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    word_pieces(tmp_path / "vocab.txt").save(tmp_path / "tokenizer.json")
    save_file(trained.state_dict(), tmp_path / "model.safetensors")
    texts, truth = draw(2000, 2)
    with torch.no_grad():
        hidden = trained["encoder"](trained["embedding"](texts) + trained["places"].weight)
    before = accuracy(hidden, trained["head"], truth)
    assert before > 0.97
    with open(tmp_path / "texts.jsonl", "w") as file:
        for row in draw(4096, 1)[0].tolist():
            file.write(json.dumps({"text": " ".join(WORDS[i] for i in row)}) + "\n")
    source = Source(
        model=str(tmp_path / "model.safetensors"),
        tokenizer=str(tmp_path / "tokenizer.json"),
        teacher=Shape(heads=2, positions="places.weight"),
    )
    settings = {
        "inputs": [str(tmp_path / "texts.jsonl")],
        "threads": 1,
        "texts.sentences": 0,
        "texts.every": 0,
        "transfer.steps": 100,
        "transfer.batch": 512,
        "distil.steps": 250,
        "distil.batch": 512,
        "distil.rate": 3e-3,
    }
    settings = load(Settings, None, [f"{key}={json.dumps(value)}" for key, value in settings.items()])
    came = linearise(source, settings, tmp_path / "out").came
    model = load_model(tmp_path / "out").model
    assert set(model.config.pattern) == {"linear"}
    with torch.no_grad():
        after = accuracy(model(texts)[0], trained["head"], truth)
    assert after >= 0.98 * before
    assert came["swap"].figures["cosine"] < came["transfer"].figures["cosine"] < came["distil"].figures["cosine"]
