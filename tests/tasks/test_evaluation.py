"""Evaluation: what stands beside what, measures without a reference, the baselines' budgets, the oracle's labels."""

import json
import random

import numpy as np
import pytest

from longseq.errors import InputError
from longseq.formats import read
from longseq.metrics.rouge import rouge
from longseq.results.run import Run
from longseq.tasks.evaluate import EvaluateRequest, evaluate
from longseq.tasks.evaluate.baselines import NAMES, baselines, filled, prose
from longseq.tasks.evaluate.labels import LabelRequest, write_labels
from longseq.tasks.evaluate.measures import concepts, coverage, dangling, redundancy
from longseq.tasks.evaluate.texts import SUMMARIES, read_texts
from longseq.tokens.words import count_words

RUN = Run(version="0", command="test")
NOUNS = ["harbour", "lamp", "keeper", "tide", "vessel", "signal", "storm", "cliff", "gull", "anchor", "mist", "rope"]


def article(seed: int) -> dict[str, str]:
    draw = random.Random(seed)
    lines = [
        f"The {draw.choice(NOUNS)} and the {draw.choice(NOUNS)} met the {draw.choice(NOUNS)} number {seed}-{i} at dawn."
        for i in range(40)
    ]
    return {"id": f"a{seed}", "text": " ".join(lines), "abstract": " ".join(lines[10:13]), "summary": lines[11]}


def table(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def articles(tmp_path):
    return table(tmp_path / "articles.jsonl", [article(seed) for seed in range(6)])


def test_figures_are_means_over_documents_beside_baselines(articles):
    found = evaluate(EvaluateRequest(summaries=articles, references=articles, documents=(articles,)), RUN)
    assert (found.documents, found.complete) == (6, True)
    assert [row.system for row in found.systems] == ["summaries", *NAMES]
    expected = [
        rouge([article(s)["abstract"]], [article(s)["summary"]], ["rouge1", "rouge2", "rougeL"]) for s in range(6)
    ]
    ours = found.systems[0]
    for kind in ("rouge1", "rouge2", "rougeL"):
        for part in ("precision", "recall", "f"):
            figure = ours.rouge[kind][part]
            assert figure.value == pytest.approx(np.mean([getattr(e[kind], part) for e in expected]))
            assert figure.low <= figure.value <= figure.high
    assert ours.rouge["rouge1"]["precision"].value == 1.0  # a sentence of the reference
    for row, against in zip(found.systems[1:], found.against, strict=True):
        difference = ours.rouge["rouge2"]["f"].value - row.rouge["rouge2"]["f"].value
        assert against.rouge["rouge2"].value == pytest.approx(difference)
        assert row.words <= ours.words
    assert found.against[-1].rouge["rouge1"].value <= 0 < found.against[0].rouge["rouge1"].low  # oracle; lead
    assert json.loads(json.dumps(found.to_json()))["schema"] == "longseq.evaluation/1"


def test_the_same_figures_again_and_other_random_sentences_of_another_seed(articles):
    one, two, other = (
        evaluate(EvaluateRequest(summaries=articles, references=articles, documents=(articles,), seed=seed), RUN)
        for seed in (1, 1, 2)
    )
    assert one == two
    assert one.systems[2] != other.systems[2] and one.systems[1].coverage == other.systems[1].coverage


def test_what_has_no_counterpart_is_named(articles, tmp_path):
    rows = [article(seed) for seed in range(6)]
    fewer = table(tmp_path / "some.jsonl", [*rows[:3], {"id": "stray", "summary": "Nothing."}])
    found = evaluate(EvaluateRequest(summaries=fewer, references=articles), RUN)
    assert (found.documents, found.complete) == (3, False)
    assert found.unmatched == {"summaries": ["stray"], "references": ["a3", "a4", "a5"]}
    assert found.systems[0].coverage is None and not found.against
    with pytest.raises(InputError, match=r"ids in common, found summaries: stray; references: a0, a1, a2 and 3 more"):
        evaluate(
            EvaluateRequest(
                summaries=table(tmp_path / "stray.jsonl", [{"id": "stray", "summary": "Nothing."}]), references=articles
            ),
            RUN,
        )


def test_summaries_of_every_kind_are_read(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "tides.txt").write_text("One tide. Another\ntide.")
    quoted = [{"text": "One tide."}, {"text": "Another\ntide."}]
    expected = {"tides": ("One tide.", "Another\ntide.")}
    record = {"id": "tides.pdf", "kind": "document", "sentences": quoted}
    document = {"schema": "longseq.summary/1", "run": {}, "files": [], "records": [record, {"id": "x", "kind": "dna"}]}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.json").write_text(json.dumps(document, indent=1))
    sources = (
        tmp_path / "texts",
        tmp_path / "out",
        table(tmp_path / "sentences.jsonl", [record]),
        table(tmp_path / "list.jsonl", [{"id": "tides", "summary": ["One tide.", "Another\ntide."]}]),
        table(tmp_path / "text.jsonl", [{"id": "tides", "text": "One tide. Another\ntide."}]),
    )
    for source in sources:
        assert read_texts(str(source), None, SUMMARIES, "--column") == expected


def test_faults_of_tables_say_the_way_out(tmp_path):
    no_column = table(tmp_path / "a.jsonl", [{"id": "a", "body": 3}])
    with pytest.raises(InputError, match=r"a column 'summary', found the columns id, body; .*--column NAME"):
        read_texts(no_column, None, SUMMARIES, "--column")
    with pytest.raises(InputError, match=r"a column 'brief'"):
        read_texts(no_column, "brief", SUMMARIES, "--column")
    twice = table(tmp_path / "b.jsonl", [{"id": "a", "summary": "x"}, {"id": "a", "summary": "y"}])
    with pytest.raises(InputError, match=r"b\.jsonl:2: expected an id once, found 'a' twice"):
        read_texts(twice, None, SUMMARIES, "--column")


def test_baselines_keep_the_budget_and_their_order(articles):
    with read(articles, kind="document") as reading:
        source = prose(next(reading))
    text = article(0)["text"]
    assert [text[start:end] for start, end in source.spans.tolist()] == list(source.texts)
    for budget in (0, 5, 30, 70, 10_000):
        found = dict(baselines(source, article(0)["abstract"], budget, id="a0"))
        assert tuple(found) == NAMES
        for sentences in found.values():
            places = [source.texts.index(sentence) for sentence in sentences]
            assert places == sorted(places)
            assert sum(map(count_words, sentences)) <= budget
    assert filled(np.array([2, 0, 1]), np.array([3, 3, 9]), 12) == [2, 0]


def test_measures_without_a_reference():
    document = [f"Common word {name} stands." for name in ("ash", "ash", "bay", "bay", "bay", "cape")] * 5
    weights = concepts(document[:6])
    assert weights == {"ash": 2}  # in two of six sentences: the others are in too many, or in one
    assert coverage(weights, ["Ash falls."]) == 1.0
    assert coverage(weights, []) == coverage({}, ["Ash falls."]) == 0.0
    assert redundancy(["a b c", "a b d"]) == pytest.approx(1 / 4)
    assert redundancy([]) == redundancy(["alone"]) == 0.0
    whole = ["The lamp failed.", "This surprised the keeper.", "However, he slept."]
    assert dangling(whole, whole) == 0
    assert dangling(whole[1:], whole) == 1
    assert dangling([whole[0], whole[2]], whole) == 1
    assert dangling(whole[1:]) == 1 and dangling([]) == 0


def test_labels_are_the_oracles_choice(articles, tmp_path):
    found = write_labels(LabelRequest(documents=(articles,)), tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"a{seed}" for seed in range(6)]
    assert (found.documents, found.sentences, found.chosen, found.unmatched) == (6, 240, 18, ())
    for seed, row in enumerate(rows):
        text = article(seed)["text"]
        chosen = [text[s["start"] : s["end"]] for s in row["sentences"] if s["label"]]
        assert " ".join(chosen) == article(seed)["abstract"]
        assert row["budget"] == count_words(article(seed)["abstract"]) == sum(map(count_words, chosen))
        assert row["rouge1"] == row["rouge2"] == 1.0


def test_labels_under_a_budget_and_without_a_reference(articles, tmp_path):
    some = table(tmp_path / "references.jsonl", [{"id": "a1", "abstract": article(1)["abstract"]}])
    request = LabelRequest(documents=(articles,), references=some, words=12)
    found = write_labels(request, tmp_path / "labels.jsonl")
    assert (found.documents, found.chosen) == (1, 1)
    assert found.unmatched == ("a0", "a2", "a3", "a4", "a5")
    stray = table(tmp_path / "stray.jsonl", [{"id": "stray", "abstract": "Nothing."}])
    with pytest.raises(InputError, match="documents with a reference of the same id, found none"):
        write_labels(LabelRequest(documents=(articles,), references=stray), tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()
