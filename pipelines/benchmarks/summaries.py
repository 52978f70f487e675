"""Summaries of 80 articles beside their abstracts: ROUGE of the default, of baselines, and of another package.

    LONGSEQ_DATA=/path/to/data python pipelines/benchmarks/summaries.py

PLOS, CC BY. The budget is the abstract's words, or 200 words. Figures are ROUGE-1 and ROUGE-2 F as rouge-score counts
them, stems compared. The weights of the default are found on 40 articles and judged on the other 40, and the other way
round: no figure of it is of an article that gave its weights; the weights that are shipped are those of all 80. Lead,
random, LexRank and the oracle choose from the same sentences; LexRank is the continuous one without redundancy control;
the oracle has the abstract in hand. Redundant: share of pairs of neighbouring words that stand further up in the
summary; dangling: share of sentences that open with a reference to one that is not there. sumy's LexRank and TextRank
are given our sentences, 5,000 of them joined from articles, each in a process of its own, for 10 minutes at most;
seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from articles import Article, articles
from provenance import provenance
from weights import Example, example, fit

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.metrics.oracle import oracle
from longseq.metrics.paired import difference
from longseq.metrics.rouge import rouge
from longseq.records import Record
from longseq.tasks.document.candidates import find_sentences
from longseq.tasks.document.priors import Weights
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_document
from longseq.tasks.evaluate.baselines import filled
from longseq.tasks.evaluate.measures import dangling, redundancy
from longseq.tokens.words import terms

BUDGETS = ("abstract", "200 words")
SYSTEMS = ("longseq", "LexRank", "lead", "random", "oracle")
FIGURES = ("ROUGE-1", "ROUGE-2", "redundant", "dangling")
CROWD, CAP, TAKEN = 5000, 600, 10
"""Sentences that are ranked for time, seconds it may take, sentences that are chosen."""
OTHERS = ("longseq", "sumy LexRank", "sumy TextRank")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--only", choices=("figures", "times"), help="leave the other as the last run found it")
    parser.add_argument("--cap", type=int, default=CAP, help="processor seconds that a package may take")
    parser.add_argument("--timed", choices=OTHERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("summaries.py: set LONGSEQ_DATA to the data folder, the one that holds documents/")
    found = articles(Path(os.environ["LONGSEQ_DATA"]))
    if options.timed:
        timed(options.timed, found, options.cap)
        return
    document = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    document["benchmark"] = "summaries"
    if options.only != "times":
        document |= measured(found)
    if options.only != "figures":
        with ThreadPoolExecutor(len(OTHERS)) as pool:
            outcomes = pool.map(partial(outcome, cap=options.cap), OTHERS)
            document["timed"] = dict(zip(OTHERS, outcomes, strict=True))
    document["provenance"] = provenance()
    write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def measured(found: list[Article]) -> dict:
    """Figures of every system, and the weights."""
    examples = [example(article) for article in found]
    print("examples", flush=True)
    halves = [np.arange(len(found)) % 2 == half for half in (0, 1)]
    weights = [fit([one for one, taught in zip(examples, half, strict=True) if taught]) for half in halves]
    rows: dict = {name: {system: [] for system in SYSTEMS} for name in BUDGETS}
    for number, (article, one) in enumerate(zip(found, examples, strict=True)):
        for name in BUDGETS:
            budget = article.words if name == "abstract" else 200
            for system, texts in choices(article, one, weights[1 - number % 2], budget, number).items():
                rows[name][system].append(figures(article, texts))
    budgets = {name: budget_figures(systems) for name, systems in rows.items()}
    print(budgets, flush=True)
    taught = {"all": asdict(fit(examples)), "halves": [asdict(one) for one in weights]}
    return {"articles": len(found), "budgets": budgets, "weights": taught}


def choices(article: Article, one: Example, weights: Weights, budget: int, seed: int) -> dict[str, list[str]]:
    """Sentences of each system, in order of the text."""
    request = DocumentRequest(budget=Budget(amount=budget, unit="words"), weights=weights)
    n = len(one.texts)
    orders = {
        "LexRank": np.argsort(-one.centrality, kind="stable"),
        "lead": np.arange(n),
        "random": np.random.default_rng(seed).permutation(n),
    }
    found = {"longseq": [row.text for row in summarize_document(article.record(), request).sentences]}
    for system, order in orders.items():
        found[system] = [one.texts[row] for row in sorted(filled(order, one.words, budget))]
    best = oracle(" ".join(article.reference), one.texts, one.words, budget)
    found["oracle"] = [one.texts[row] for row in sorted(best)]
    return found


def figures(article: Article, texts: list[str]) -> list[float]:
    """In the order of `FIGURES`."""
    overlap = rouge(article.reference, texts, ("rouge1", "rouge2"))
    loose = dangling(texts, [found.sentence.text for found in find_sentences([article.text])])
    return [overlap["rouge1"].f, overlap["rouge2"].f, redundancy(texts), loose / max(len(texts), 1)]


def budget_figures(systems: dict[str, list[list[float]]]) -> dict:
    """Means of each system, and the default less LexRank with its interval."""
    means = {system: dict(zip(FIGURES, np.mean(rows, 0).tolist(), strict=True)) for system, rows in systems.items()}
    ours, theirs = (np.array(systems[system]) for system in ("longseq", "LexRank"))
    blocks = np.arange(len(ours))
    gaps = {
        name: difference(lambda _, x: float(x.mean()), blocks, ours[:, at], theirs[:, at], blocks)._asdict()
        for at, name in enumerate(FIGURES)
    }
    return {"means": means, "longseq less LexRank": gaps}


def outcome(name: str, cap: int) -> dict:
    """Seconds and peak memory of one package on many sentences, in a process of its own."""
    command = [sys.executable, __file__, "--timed", name, "--cap", str(cap)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = process.stdout.read() if process.stdout else ""
        wrong = process.stderr.read() if process.stderr else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    found = {"seconds": float(said) if said else None, "peak_mb": used.ru_maxrss / 1024, "sentences": CROWD}
    if process.returncode == -signal.SIGXCPU:
        found["why"] = f"stopped after {cap}"
    elif process.returncode:
        found["why"] = wrong.strip().splitlines()[-1]
    print(name, found, flush=True)
    return found


def timed(name: str, found: list[Article], cap: int) -> None:
    """Prints the seconds it takes, of which there are `cap` at most."""
    texts: list[str] = []
    for article in found:
        lines = (line.sentence.text for line in find_sentences([article.text]) if line.part == "prose")
        texts += [line for line in lines if "\n" not in line]
        if len(texts) >= CROWD:
            break
    run = {"longseq": ours, "sumy LexRank": lexrank, "sumy TextRank": textrank}[name]
    run(texts[:100])
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + cap, resource.RLIM_INFINITY))
    run(texts[:CROWD])
    seconds = time.process_time() - used
    print(seconds)


def ours(texts: list[str]) -> None:
    text = "\n\n".join(texts)
    summarize_document(Record(id="d", kind="document", source="d", index=0, pieces=iter([text])))


def lexrank(texts: list[str]) -> None:
    from sumy.summarizers.lex_rank import LexRankSummarizer

    _sumy(LexRankSummarizer, texts)


def textrank(texts: list[str]) -> None:
    from sumy.summarizers.text_rank import TextRankSummarizer

    _sumy(TextRankSummarizer, texts)


def _sumy(summarizer: Callable, texts: list[str]) -> None:
    from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
    from sumy.nlp.stemmers import Stemmer

    class Words:
        def to_words(self, text: str) -> list[str]:
            return terms(text)

    paragraph = Paragraph([Sentence(text, Words()) for text in texts])
    summarizer(Stemmer("english"))(ObjectDocumentModel([paragraph]), TAKEN)


def markdown(document: dict) -> str:
    text = ["# summaries", "", *__doc__.strip().split("\n\n")[-1].splitlines(), ""]
    for name, found in document["budgets"].items():
        gaps = found["longseq less LexRank"]
        rows = [[system, *(f"{means[figure]:.3f}" for figure in FIGURES)] for system, means in found["means"].items()]
        cells = (f"{gaps[f]['value']:+.3f} ({gaps[f]['low']:+.3f} to {gaps[f]['high']:+.3f})" for f in FIGURES)
        rows.append(["longseq - LexRank", *cells])
        text += [f"## Budget: {name}", "", table(["", *FIGURES], rows)]
    rows = [
        [name, f"{row['seconds']:.1f}" if row["seconds"] else row["why"], f"{row['peak_mb']:.0f}"]
        for name, row in document.get("timed", {}).items()
    ]
    text += [f"## {CROWD:,} sentences, {TAKEN} of them chosen", "", table(["", "seconds", "peak MiB"], rows)]
    weights = [document["weights"]["all"], *document["weights"]["halves"]]
    rows = [[name, *(f"{one[name]:+.2f}" for one in weights)] for name in weights[0]]
    text += ["## Weights", "", table(["", "all articles", "even ones", "odd ones"], rows)]
    origin = document["provenance"]
    text += [
        f"Intervals: 95 %, over articles drawn with replacement. Commit {origin['commit'][:12]}, {origin['machine']}, "
        f"{origin['cores']} cores, one thread, load {origin['load']:.1f}, {origin['time']}.",
        "",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    main()
