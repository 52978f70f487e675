"""Classes of records in summaries: those of `longseq classify`."""

import numpy as np
import pytest
import torch
from dna_oracles import drawn, record

from longseq.errors import UsageError
from longseq.model import HeadConfig, ModelConfig, RecordModel, load, save
from longseq.model.calibration import Calibration, write_calibration
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify import Answers, Request, classified
from longseq.tasks.sources import Source
from longseq.tasks.summarize.classes import Classifier
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.extras import Extras
from longseq.tokens import DnaTokenizer


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    """A head over poor and rich in G and C; its encoder as it was born, its weights a difference of class means."""
    folder = tmp_path_factory.mktemp("head") / "m"
    model = RecordModel(
        ModelConfig(width=16, heads=2, layers=1), HeadConfig(task="classify", outputs=2), ("poor", "rich")
    )
    with torch.no_grad():
        means = []
        for weights in ((4, 1, 1, 4), (1, 4, 4, 1)):
            ids = DnaTokenizer().encode(drawn(20_000, 11, weights))[0].astype(np.int64)
            means.append(model.encoder(torch.from_numpy(ids)[None])[0][0].mean(0))
        gap = means[1] - means[0]
        scale = 8 / (gap @ gap)
        model.head.score.weight.copy_(torch.stack([-gap, gap]) * scale)
        middle = (means[0] + means[1]) / 2 @ gap * scale
        model.head.score.bias.copy_(torch.stack([middle, -middle]))
    save(folder, model, DnaTokenizer())
    return load(folder)


def test_classes_and_their_changes_are_those_of_classify(head, tmp_path):
    poor, rich = drawn(9_000, 12, (4, 1, 1, 4)), drawn(7_000, 13, (1, 4, 4, 1))
    records = {"both": poor + rich, "rich": rich[:300], "empty": b""}
    options = {"extras": Extras(classifier=Classifier(HiddenReader(head)))}
    found = [s.row.findings.classes for s in summarize_records([record(x) for x in records.values()], **options)]
    file = tmp_path / "x.fa"
    file.write_bytes(b"".join(b">%s\n%s\n" % (name.encode(), x) for name, x in records.items()))
    told = list(classified(Request(inputs=(str(file),)), HiddenReader(head), [Source(str(file))]))
    answers = Answers(head.model, None)
    for one, other in zip(found[:2], told[:2], strict=True):
        assert list(one.probabilities.values()) == pytest.approx(answers.values(other.scores).tolist(), abs=1e-6)
        assert one.label == answers.verdict(other.scores) and not one.calibrated
    first, second = found[0].regions
    assert (first.label, second.label, first.start, second.end) == ("poor", "rich", 0, 16_000)
    assert abs(first.end - 9_000) <= 2_048 and first.end == second.start
    assert found[2] is None and found[1].label == "rich"


def test_a_calibrated_head_may_say_unknown(head, tmp_path):
    folder = tmp_path / "m"
    save(folder, head.model, DnaTokenizer())
    checkpoint = load(folder)
    write_calibration(folder, Calibration(temperature=2.0, in_range_above=1e9, records=9), checkpoint.sha256)
    extras = Extras(classifier=Classifier(HiddenReader(checkpoint)))
    (summary,) = summarize_records([record(drawn(500))], extras=extras)
    assert summary.row.findings.classes.label == "unknown" and summary.row.findings.classes.calibrated


def test_a_model_that_does_not_classify_is_refused(tiny):
    with pytest.raises(UsageError, match="longseq train"):
        Classifier(HiddenReader(tiny))
