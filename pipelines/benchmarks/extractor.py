"""A trained extractor beside the default, under nested cross-validation: extractor.py OUT.json [ENCODER].

80 articles in 5 parts: of each part the summaries are those of an extractor that learned from the other four. Which of
the variants that is ("chosen") is decided within those four, by cross-validation of its own, so that no article has a
say in its own figure. The default has the weights that the other four parts give it. ENCODER is a model of documents
whose sentence states are read besides. The data folder is LONGSEQ_DATA.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
import weights
from articles import Article, articles
from provenance import provenance

from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.metrics import paired
from longseq.metrics.oracle import oracle
from longseq.metrics.rouge import rouge
from longseq.model import load
from longseq.model.extractor import Extractor
from longseq.ops.machine import prepare
from longseq.tasks.document.choice import candidates
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.priors import FEATURES, Weights
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import COST, select
from longseq.tasks.evaluate.baselines import filled
from longseq.tasks.evaluate.labels import LabelRequest, write_labels
from longseq.tasks.extract.config import ExtractConfig
from longseq.tasks.extract.examples import Example, read_examples
from longseq.tasks.extract.fit import fit
from longseq.tasks.extract.states import SentenceStates
from longseq.tasks.extract.traits import TRAITS

FOLDS, INNER, SEED, FIXED = 5, 2, 0, 200
KINDS = ("rouge1", "rouge2")
ALONE = ExtractConfig(layers=0)
VARIANTS = {"traits": ALONE, "traits, recurrence": ExtractConfig(layers=1)}
STATED = {"traits, states": ALONE, "traits, states, recurrence": ExtractConfig(layers=1)}


class Opened:
    """An article that was read, to be summarized again and again."""

    def __init__(self, article: Article, example: Example):
        self.article, self.example = article, example
        self._collection = Collection(DocumentRequest())
        self._collection.add(article.record())
        rows = self._collection.rows
        _, keep = candidates(self._collection, self._collection.tiers(), rows.column("words"))
        self._vectors, self.words = self._collection.spool.vectors(keep), rows.column("words", keep)
        start, length = (rows.column(name, keep).tolist() for name in ("start", "length"))
        self.texts = [self._collection.text.read(a, a + n).text for a, n in zip(start, length, strict=True)]

    def figures(self, chosen: list[int]) -> list[float]:
        """F of these sentences."""
        found = rouge(self.article.reference, [self.texts[row] for row in sorted(chosen)], KINDS)
        return [found[kind].f for kind in KINDS]

    def summary(self, prior: np.ndarray, budget: int) -> list[float]:
        """Of what the sentences are worth, on the scale of logarithms: chosen as `summarize` chooses."""
        worth = np.exp(prior - prior.max()) / np.maximum(self.words, 1) ** COST
        return self.figures(select(self._vectors, worth, np.maximum(self.words, 1), budget))

    def extracted(self, model: Extractor, budget: int) -> list[float]:
        traits, states = self.example.traits, self.example.states if model.config.states else None
        with torch.inference_mode():
            return self.summary(model.worth(model(traits, states)).numpy().astype(float), budget)

    def weighed(self) -> weights.Example:
        """As a fit of the default's weights sees it."""
        traits = self.example.traits.numpy().astype(float)
        values = traits[:, : len(FEATURES)].copy()
        values[:, FEATURES.index("central")] += traits[:, TRAITS.index("alone")]
        centrality = np.exp(traits[:, TRAITS.index("central")])
        return weights.Example(values, self.example.label.numpy() > 0, self.texts, self.words, centrality)

    def others(self, default: Weights, budget: int) -> dict[str, list[float]]:
        """What is no extractor."""
        seen = self.weighed()
        orders = {"lead": np.arange(len(self.words)), "LexRank": np.argsort(-seen.centrality, kind="stable")}
        found = {name: self.figures(filled(order, self.words, budget)) for name, order in orders.items()}
        best = oracle("\n".join(self.article.reference), self.texts, self.words, budget)
        prior = seen.features @ np.array([getattr(default, name) for name in FEATURES])
        return found | {"default": self.summary(prior, budget), "oracle": self.figures(best)}


def main() -> None:
    if len(sys.argv) not in (2, 3) or "LONGSEQ_DATA" not in os.environ:
        sys.exit("usage: LONGSEQ_DATA=FOLDER extractor.py OUT.json [ENCODER]")
    prepare(1)
    out = Path(sys.argv[1])
    states = SentenceStates(load(sys.argv[2])) if len(sys.argv) == 3 else None
    texts = articles(Path(os.environ["LONGSEQ_DATA"]))
    examples = labelled(texts, states)
    opened = [Opened(article, example) for article, example in zip(texts, examples, strict=True)]
    variants = VARIANTS | (STATED if states is not None else {})
    parts = np.random.default_rng(SEED).permutation(len(texts)) % FOLDS
    systems: dict[str, dict[str, list]] = {}
    chosen = [""] * len(texts)
    models: dict[tuple[int, str], Extractor] = {}
    defaults: list[Weights] = []
    for part in range(FOLDS):
        learned = np.flatnonzero(parts != part).tolist()
        defaults.append(weights.fit([opened[i].weighed() for i in learned]))
        best = max(variants, key=lambda name: inner(variants[name], name in STATED, learned, examples, opened))
        for name, config in variants.items():
            models[part, name] = fitted(config, name in STATED, [examples[i] for i in learned])
        for number in np.flatnonzero(parts == part).tolist():
            chosen[number] = best
        print(f"part {part + 1} of {FOLDS}: {best}", file=sys.stderr)
    for number, one in enumerate(opened):
        for length, budget in (("reference", one.article.words), (str(FIXED), FIXED)):
            found = one.others(defaults[parts[number]], budget)
            for name in variants:
                found[name] = one.extracted(models[parts[number], name], budget)
            found["chosen"] = found[chosen[number]]
            for name, values in found.items():
                systems.setdefault(length, {}).setdefault(name, []).append(values)
    result = {
        "benchmark": "Summaries of 80 articles by a trained extractor",
        "provenance": provenance(),
        "articles": len(texts),
        "folds": FOLDS,
        "inner_folds": INNER,
        "seed": SEED,
        "encoder": None if states is None else states.checkpoint.sha256,
        "settings": {name: asdict(config) for name, config in variants.items()},
        "chosen": {name: chosen.count(name) for name in variants},
        "rows": [row for length, found in systems.items() for row in rows_of(length, found)],
    }
    write_json(out, result, force=True)
    out.with_suffix(".md").write_text(described(result), encoding="utf-8")


def labelled(texts: list[Article], states: SentenceStates | None) -> list[Example]:
    """What extractors learn from, by the commands' own way: a table, an oracle's labels, examples."""
    with tempfile.TemporaryDirectory() as folder:
        data, labels = Path(folder) / "articles.jsonl", Path(folder) / "labels.jsonl"
        rows = ({"id": a.id, "text": a.text, "abstract": a.reference} for a in texts)
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        write_labels(LabelRequest(documents=(str(data),)), labels)
        return read_examples([str(data)], str(labels), states=states)


def fitted(config: ExtractConfig, stated: bool, examples: list[Example]) -> Extractor:
    """An extractor of these articles, with their states or without."""
    used = examples if stated else [replace(example, states=None) for example in examples]
    return fit(config, used, config.model(0 if used[0].states is None else used[0].states.shape[1]))


def inner(
    config: ExtractConfig, stated: bool, learned: list[int], examples: list[Example], opened: list[Opened]
) -> float:
    """Mean ROUGE-1 + ROUGE-2 F over the articles learned from, each by an extractor that has not seen it."""
    order = np.random.default_rng([SEED, 1]).permutation(learned).tolist()
    found = []
    for part in range(INNER):
        model = fitted(config, stated, [examples[i] for k, i in enumerate(order) if k % INNER != part])
        scored = [i for k, i in enumerate(order) if k % INNER == part]
        found += [sum(opened[i].extracted(model, opened[i].article.words)) for i in scored]
    return float(np.mean(found))


def rows_of(length: str, found: dict[str, list]) -> list[dict]:
    """A row a system: F with intervals, and the difference to the default's on the same articles."""
    default = np.array(found["default"])
    rows = []
    for name, values in found.items():
        scores = np.array(values)
        row: dict = {"system": name, "budget": length}
        for column, kind in enumerate(KINDS):
            row[kind] = paired.mean(scores[:, column])._asdict()
            row[f"{kind}_less_default"] = paired.mean(scores[:, column] - default[:, column])._asdict()
        rows.append(row)
    return rows


def described(result: dict) -> str:
    """Markdown."""
    origin = result["provenance"]
    said = ", ".join(f"{name} for {n} articles" for name, n in result["chosen"].items())
    parts = [
        f"# {result['benchmark']}",
        f"{result['articles']} articles of PLOS (CC BY), {result['folds']}-fold: each is summarized by an extractor "
        f"that has not seen it. Chosen within the other four parts, by {result['inner_folds']}-fold cross-validation "
        f"of their own: {said}. ROUGE F of rouge-score, stemmed; paired bootstrap intervals of 95 %.",
    ]
    for length in dict.fromkeys(row["budget"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["budget"] == length]
        cells = [
            [
                row["system"],
                *(figure(row[kind]) for kind in KINDS),
                *(gap(row[f"{kind}_less_default"]) for kind in KINDS),
            ]
            for row in rows
        ]
        titles = ["system", "ROUGE-1", "ROUGE-2", "ROUGE-1 less default", "ROUGE-2 less default"]
        budget = "as many words as the reference" if length == "reference" else f"{length} words"
        parts += [f"## Budget: {budget}", table(titles, cells).rstrip("\n")]
    parts.append(f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['time']}.")
    return "\n\n".join(parts) + "\n"


def figure(found: dict) -> str:
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def gap(found: dict) -> str:
    return f"{found['value']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f})"


if __name__ == "__main__":
    main()
