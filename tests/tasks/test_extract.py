"""Training an extractor: what it is told, what it learns alone and from neighbours, and that a summary follows it."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from longseq.errors import CheckpointError, InputError
from longseq.metrics.classes import auroc
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.model.extractor import Extractor
from longseq.records import Record
from longseq.tasks.document.choice import candidates
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_document
from longseq.tasks.evaluate.labels import LabelRequest, write_labels
from longseq.tasks.extract.config import ExtractConfig
from longseq.tasks.extract.examples import Example, held_out, read_examples
from longseq.tasks.extract.fit import fit, loss
from longseq.tasks.extract.judge import TrainedJudge
from longseq.tasks.extract.states import SentenceStates
from longseq.tasks.extract.train import train_extractor
from longseq.tasks.extract.traits import TRAITS, traits
from longseq.tokens.train import Learning, learn

NOUNS = ["harbour", "lamp", "keeper", "tide", "vessel", "signal", "storm", "cliff", "gull", "anchor", "mist", "rope"]


def text(seed: int) -> tuple[str, str]:
    """A document and its reference: the two of its sentences that begin with "In conclusion"."""
    draw = random.Random(seed)
    lines = [
        f"The {draw.choice(NOUNS)} and the {draw.choice(NOUNS)} met the {draw.choice(NOUNS)} number {seed}-{i} at dawn."
        for i in range(14)
    ]
    for at in draw.sample(range(14), 2):
        lines[at] = f"In conclusion, the {draw.choice(NOUNS)} of {seed}-{at} outlived every {draw.choice(NOUNS)} there."
    return " ".join(lines), " ".join(line for line in lines if line.startswith("In"))


def record(seed: int) -> Record:
    return Record(id=f"d{seed}", kind="document", source="x", index=seed, pieces=iter([text(seed)[0]]))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extract")
    rows = [{"id": f"d{seed}", "text": text(seed)[0], "abstract": text(seed)[1]} for seed in range(12)]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_labels(LabelRequest(documents=(str(folder / "data.jsonl"),)), folder / "labels.jsonl")
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A small untrained model of documents."""
    folder = tmp_path_factory.mktemp("encoder") / "model"
    learned = learn([record(0)], Learning(vocabulary=280))
    config = ModelConfig(vocabulary=learned.tokenizer.vocabulary, width=16, layers=1, heads=2)
    save(folder, LanguageModel(config), learned.tokenizer)
    return folder


def noise(context: bool, documents: int = 24, sentences: int = 16) -> list[Example]:
    """Traits drawn at random; a sentence is chosen for its own first trait, or for that of the one before it."""
    made = torch.Generator().manual_seed(1)
    found = []
    for number in range(documents):
        told = torch.randn(sentences, len(TRAITS), generator=made)
        if context:
            told[:, 1:] = 0  # so few sentences would be learned by heart
        label = ((told[:, 0].roll(1) if context else told[:, 0]) > 0.5).float()
        found.append(Example(f"n{number}", told, None, label, label * 0.5))
    return found


def told_apart(model: Extractor, examples: list[Example]) -> float:
    with torch.inference_mode():
        worth = np.concatenate([model.worth(model(e.traits, e.states)).numpy() for e in examples])
    return auroc(np.concatenate([e.label.numpy() for e in examples]) > 0, worth)


def test_what_a_sentence_says_by_itself_is_fitted_to_its_optimum():
    examples, config = noise(context=False), ExtractConfig(layers=0, penalty=3.0)
    model = fit(config, examples, config.model(0))
    assert told_apart(model, examples) > 0.99
    variance = float(torch.cat([e.held for e in examples]).var())

    def cost() -> float:
        with torch.no_grad():
            found = sum(float(loss(model(e.traits), e, variance)) for e in examples)
            return found + 1.5 * float(((model.alone.weight**2).sum(1) / torch.tensor([1.0, variance])).sum())

    best = cost()
    for row, column in ((0, 0), (0, 3), (1, 0), (1, 5)):
        for step in (-0.05, 0.05):
            with torch.no_grad():
                model.alone.weight[row, column] += step
                assert cost() > best
                model.alone.weight[row, column] -= step


def test_the_recurrence_learns_what_neighbours_say():
    learned, asked = noise(context=True)[:18], noise(context=True)[18:]
    alone, both = ExtractConfig(layers=0), ExtractConfig(layers=1, width=16, epochs=6, batch=1, rate=1e-2, dropout=0.0)
    assert told_apart(fit(alone, learned, alone.model(0)), asked) < 0.7
    model = fit(both, learned, both.model(0))
    assert told_apart(model, asked) > 0.85
    again = fit(both, learned, both.model(0))
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))


def test_traits_are_told_in_their_order(data):
    with Collection(DocumentRequest()) as collection:
        collection.add(record(0))
        _, keep = candidates(collection, collection.tiers(), collection.rows.column("words"))
        with collection.spool.vectors(keep) as vectors:
            found = traits(collection, keep, vectors, Outline(collection.sections))
    lines = text(0)[0].split(". ")
    assert found.shape == (14, len(TRAITS)) and np.isfinite(found).all()
    assert (found[:, TRAITS.index("concludes")] > 0).tolist() == [line.startswith("In") for line in lines]
    assert found[:, TRAITS.index("place")] == pytest.approx(np.arange(14) / 13)
    assert np.exp(found[:, TRAITS.index("length")]) == pytest.approx([len(line.split()) for line in lines])


def test_states_are_means_of_the_hidden_vectors_of_a_sentence(encoder):
    checkpoint = load(encoder)
    with Collection(DocumentRequest()) as collection:
        collection.add(record(3))
        collection.add(record(4))
        keep = np.ones(len(collection.rows), bool)
        found = SentenceStates(checkpoint).read(collection, keep)
    at = 0
    for seed in (3, 4):
        whole = text(seed)[0]
        (chunk,) = checkpoint.tokenizer.chunks(iter([whole]), 1 << 20)
        with torch.inference_mode():
            hidden = checkpoint.model.encoder(torch.from_numpy(chunk.ids.astype(np.int64))[None])[0][0].numpy()
        start = 0
        for line in (part + "." for part in whole.removesuffix(".").split(". ")):
            ends = chunk.offsets[:, 1] - 1
            inside = (ends >= start) & (ends < start + len(line))
            assert found[at] == pytest.approx(hidden[inside].mean(0), abs=1e-5)
            start, at = start + len(line) + 1, at + 1
    assert at == len(found)


def test_a_run_leaves_an_extractor_that_a_summary_follows(data, tmp_path):
    config = ExtractConfig(inputs=(str(data / "data.jsonl"),), labels=str(data / "labels.jsonl"), epochs=1, width=8)
    found = train_extractor(config, tmp_path / "run")
    assert (found.documents, found.held_out, found.sentences) == (10, 2, 140)
    assert found.auroc > 0.99 and sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "figures.json",
        "model",
        "run.toml",
    ]
    judge = TrainedJudge.load(tmp_path / "run" / "model")
    request = DocumentRequest(budget=Budget(amount=2, unit="sentences"), extractor=judge)
    summary = summarize_document(record(50), request)
    assert " ".join(row.text for row in summary.sentences) == text(50)[1]
    assert summary.remarks[0].startswith(f"its sentences were judged by {tmp_path / 'run' / 'model'} (weights ")
    parts = summarize_document(record(50), replace(request, by="section"))
    assert [row.text for row in parts.sentences] == [row.text for row in summary.sentences]


def test_an_encoder_goes_with_the_extractor(data, encoder, tmp_path):
    config = ExtractConfig(
        inputs=(str(data / "data.jsonl"),), labels=str(data / "labels.jsonl"), start=str(encoder), layers=0
    )
    train_extractor(config, tmp_path / "run")
    judge = TrainedJudge.load(tmp_path / "run" / "model")
    assert judge.model.config.states == 16 and judge.states.checkpoint.sha256 == load(encoder).sha256
    summary = summarize_document(record(51), DocumentRequest(budget=Budget(amount=2), extractor=judge))
    assert len(summary.sentences) == 2


def test_documents_together_are_judged_each_among_its_own(data):
    config = ExtractConfig(width=8, epochs=1, rate=0.1)
    examples = read_examples([str(data / "data.jsonl")], str(data / "labels.jsonl"))
    judge = TrainedJudge(fit(config, examples, config.model(0)))
    with Collection(DocumentRequest()) as collection:
        collection.add(record(0))
        collection.add(record(1))
        keep = np.ones(len(collection.rows), bool)
        with collection.spool.vectors(keep) as vectors:
            outline = Outline(collection.sections)
            told = torch.from_numpy(traits(collection, keep, vectors, outline))
            found = judge.judge(collection, keep, vectors, outline)
    with torch.inference_mode():
        expected = [judge.model.worth(judge.model(told[a : a + 14])).numpy() for a in (0, 14)]
    assert found == pytest.approx(np.concatenate(expected))


def test_labels_of_other_sentences_are_refused(data, tmp_path):
    rows = [json.loads(line) for line in (data / "labels.jsonl").read_text().splitlines()]
    rows[2]["sentences"][5]["end"] += 1
    (tmp_path / "moved.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=r"\(d2\): expected a label for each.*longseq oracle"):
        read_examples([str(data / "data.jsonl")], str(tmp_path / "moved.jsonl"))
    (tmp_path / "others.jsonl").write_text(json.dumps({**rows[0], "id": "z"}) + "\n")
    with pytest.raises(InputError, match="labels of these documents, found none"):
        read_examples([str(data / "data.jsonl")], str(tmp_path / "others.jsonl"))


def test_an_extractor_of_other_traits_is_refused(data, tmp_path):
    config = ExtractConfig(inputs=(str(data / "data.jsonl"),), labels=str(data / "labels.jsonl"), layers=0)
    train_extractor(config, tmp_path / "run")
    file = tmp_path / "run" / "model" / "config.json"
    facts = json.loads(file.read_text())
    facts["extractor"]["traits"][0] = "charm"
    file.write_text(json.dumps(facts))
    with pytest.raises(CheckpointError, match=r"others \(central, charm\)"):
        TrainedJudge.load(tmp_path / "run" / "model")


@pytest.mark.parametrize(("share", "kept"), [(0.0, 0), (0.2, 2), (0.999, 11)])
def test_documents_held_out_are_a_share_and_the_same_again(share, kept):
    examples = noise(context=False, documents=12)
    learned, scored = held_out(examples, share, seed=5)
    assert len(scored) == kept and {e.id for e in learned} | {e.id for e in scored} == {e.id for e in examples}
    assert held_out(examples, share, seed=5)[1] == scored
