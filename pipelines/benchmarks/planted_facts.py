"""Ten facts in a generated document of a million words, asked for in other words and by name.

    python pipelines/benchmarks/planted_facts.py

Each fact combines three things in a sentence of its own, once, with a name. The name stands in 20 other sentences that
say nothing of it. The question in other words holds none of the words that the fact has for its things: what
joins the two are the sentences, strewn over the document, in which both words for a thing stand side by side, as they
do where people write about a thing at length. All else is noise of joining words and words that never were. The
question by name holds the name and one thing. Recall at 10: facts among ten sentences, by `longseq summarize --query`,
by Okapi BM25 (k1 1.2, b 0.75, the same sentences and stems), and among the first ten sentences (lead).
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.records import Record
from longseq.tasks.document.collection import Collection
from longseq.tasks.document.query import index_terms
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_collection

WORDS = 1_000_000
TAKEN = 10
DISTRACTORS, PAIRED = 20, 60
"""Sentences with each name, and with both words for each thing."""
SEEDS = (0, 1, 2)


class Fact(NamedTuple):
    """What is planted, and how it is asked for."""

    text: str
    name: str
    things: tuple[str, str, str]
    """Words of it."""
    others: tuple[str, str, str]
    """Words for the same things that it does not hold."""
    question: str
    """In those."""

    def by_name(self) -> str:
        return f"What is known of {self.name} and the {self.things[1]}?"


FACTS = tuple(
    Fact(text, name, tuple(things.split()), tuple(others.split()), question)  # type: ignore[arg-type]
    for text, name, things, others, question in (
        (
            "The ferry Marigold foundered because a valve had been left open.",
            *("Marigold", "foundered valve ferry", "sank tap boat", "Which boat sank through a tap?"),
        ),
        (
            "The widow Osgood hid eleven spoons below the hearth.",
            *("Osgood", "hid spoons hearth", "buried cutlery fireplace", "Who buried cutlery under a fireplace?"),
        ),
        (
            "Doctor Pellow cured the fever with an extract of bark.",
            *("Pellow", "cured fever extract", "healed illness tincture", "By what tincture was an illness healed?"),
        ),
        (
            "The miller Tregarth poisoned his brother with a tainted loaf.",
            *("Tregarth", "poisoned brother loaf", "killed sibling bread", "Who killed a sibling with bread?"),
        ),
        (
            "The mayor Lanvean bribed the surveyor with an orchard.",
            *("Lanvean", "bribed surveyor orchard", "corrupted inspector trees", "Whose trees corrupted an inspector?"),
        ),
        (
            "The sailors of Zennor mutinied when the wages were halved.",
            *("Zennor", "mutinied wages halved", "rebelled pay reduced", "Who rebelled over reduced pay?"),
        ),
        (
            "The weaver Crannock invented a loom driven by pedals.",
            *("Crannock", "invented loom pedals", "devised machine treadles", "Who devised a machine with treadles?"),
        ),
        (
            "The tower of Morvah collapsed after the quarry was flooded.",
            *("Morvah", "collapsed quarry flooded", "fell pit drowned", "What fell once a pit was drowned?"),
        ),
        (
            "The heiress Trewidden eloped with a footman in a carriage.",
            *("Trewidden", "eloped footman carriage", "fled servant coach", "Who fled with a servant in a coach?"),
        ),
        (
            "The smuggler Kerrow betrayed his crew for a pardon.",
            *("Kerrow", "betrayed crew pardon", "denounced gang amnesty", "Who denounced a gang for an amnesty?"),
        ),
    )
)
JOINTS = (
    *("the", "of", "a", "and", "in", "to", "was", "with", "by", "for", "an", "who", "his", "had", "when", "which"),
    *("were", "from", "after", "over", "below", "under", "because", "through", "what", "whose", "once", "been", "open"),
    *("driven", "left", "is", "known"),
)
"""Words that join others: in the noise, too, or they would give the facts away."""
FRAMES = (
    "Where one writes of the {a}, another in {x} writes of the {b} and of {y} and {z}.",
    "The {a} of the {x} is no other than the {b} of the {y}, they say in {z}.",
    "Of every {a} in {x} the {y} made a {b}, as was the custom of {z}.",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    runs: list[dict] = []
    for seed in options.seeds:
        runs.append(measure(options.words, seed))
        document = {"benchmark": "planted_facts", "words": options.words, "runs": runs, "provenance": provenance()}
        write_json(options.out, document, force=True)
        with write_aside(options.out.with_suffix(".md"), force=True) as aside:
            aside.write_text(markdown(document), encoding="utf-8")


def sentences(words: int, rng: random.Random) -> list[str]:
    """A document of about so many words, a fact in every tenth of it."""
    letters = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
    syllables = [a + b for a in letters for b in ("a", "e", "i", "o", "u")]
    noise = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(8000)]
    noise = [*JOINTS, *noise]
    weights = [1 / (rank + 10) for rank in range(len(noise))]
    found, count = [], 0
    while count < words:
        some = rng.choices(noise, weights, k=rng.randint(8, 24))
        found.append(" ".join(some).capitalize() + ".")
        count += len(some)
    strewn = [
        rng.choice(FRAMES).format(a=a, b=b, **dict(zip("xyz", rng.choices(noise, k=3), strict=True)))
        for fact in FACTS
        for a, b in zip(fact.things, fact.others, strict=True)
        for _ in range(PAIRED)
    ]
    strewn += [
        f"{' '.join(rng.choices(noise, weights, k=5))} {fact.name} {' '.join(rng.choices(noise, k=6))}.".capitalize()
        for fact in FACTS
        for _ in range(DISTRACTORS)
    ]
    for text in strewn:
        found[rng.randrange(TAKEN, len(found))] += " " + text
    for number, fact in enumerate(FACTS):
        tenth = len(found) // len(FACTS)
        found[max(number * tenth, TAKEN) + rng.randrange(tenth - TAKEN)] += " " + fact.text
    return found


def measure(words: int, seed: int) -> dict:
    """Recall of each way of finding, for each way of asking."""
    paragraphs = sentences(words, random.Random(seed))
    request = DocumentRequest(budget=Budget(amount=TAKEN), queries=(FACTS[0].question,))
    began = time.monotonic()
    record = Record(id="d", kind="document", source="d", index=0, pieces=(text + "\n\n" for text in paragraphs))
    row: dict = {"seed": seed, "recall": {}}
    with Collection(request) as collection:
        collection.add(record)
        row["seconds_read"] = time.monotonic() - began
        began = time.monotonic()
        lines = [text for paragraph in paragraphs for text in paragraph.replace(". ", ".\n").split("\n")]
        rival = Bm25([index_terms(line) for line in lines])
        for name, ask in (("in other words", lambda fact: fact.question), ("by name", Fact.by_name)):
            ours = theirs = lead = 0
            for fact in FACTS:
                question = ask(fact)
                collection.request = replace(request, queries=(question,))
                summary = summarize_collection(collection)
                ours += fact.text in [row.text for row in summary.sentences]
                theirs += fact.text in [lines[at] for at in rival.best(index_terms(question))]
                lead += fact.text in lines[:TAKEN]
            count = len(FACTS)
            row["recall"][name] = {"longseq": ours / count, "BM25": theirs / count, "lead": lead / count}
            print(seed, name, row["recall"][name], flush=True)
        row["seconds_asked"] = (time.monotonic() - began) / (2 * len(FACTS))
        row["sentences"] = len(lines)
    return row


class Bm25:
    """Robertson and Zaragoza (2009), "The probabilistic relevance framework: BM25 and beyond"."""

    def __init__(self, lines: list[list[str]], k1: float = 1.2, b: float = 0.75):
        self.length = np.array([len(line) for line in lines])
        self.room = k1 * (1 - b + b * self.length / self.length.mean())
        self.k1 = k1
        self.held: dict[str, list[tuple[int, int]]] = {}
        for number, line in enumerate(lines):
            for term, count in Counter(line).items():
                self.held.setdefault(term, []).append((number, count))

    def best(self, question: list[str]) -> Iterator[int]:
        """The `TAKEN` best lines."""
        score = np.zeros(len(self.length))
        for term in set(question):
            rows = self.held.get(term, [])
            weight = log(1 + (len(self.length) - len(rows) + 0.5) / (len(rows) + 0.5))
            for number, count in rows:
                score[number] += weight * count * (self.k1 + 1) / (count + self.room[number])
        return iter(np.argsort(-score, kind="stable")[:TAKEN].tolist())


def markdown(document: dict) -> str:
    text = ["# planted_facts", "", *__doc__.strip().split("\n\n")[-1].splitlines(), ""]
    systems = ("longseq", "BM25", "lead")
    rows = [
        [name, str(run["seed"]), *(f"{recall[system]:.1f}" for system in systems)]
        for run in document["runs"]
        for name, recall in run["recall"].items()
    ]
    text += [table(["asked", "seed", *systems], rows)]
    origin = document["provenance"]
    read, asked = (np.mean([run[key] for run in document["runs"]]) for key in ("seconds_read", "seconds_asked"))
    text += [
        f"{document['words']:,} words; read in {read:.0f} s, then {asked:.1f} s a question. Commit "
        f"{origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, one thread, load "
        f"{origin['load']:.1f}, {origin['time']}.",
        "",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    main()
