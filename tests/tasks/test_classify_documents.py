"""Laws of classes of documents: read whole, and told by which sentences, each where the text says."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from longseq.cli import main
from longseq.formats import read
from longseq.model import HeadConfig, ModelConfig, RecordModel, load, save
from longseq.model.held_out import read_figures, write_figures
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify import Request, classified
from longseq.tasks.sources import Source
from longseq.tokens.train import Learning, learn

SENTENCES = [
    "One",
    "The ship lay still.",
    "Nobody spoke of it!",
    "Two",
    "船停在那里。",
    "It sailed at noon.",
    *["So they say."] * 40,
]
TEXT = (
    "# One\n\nThe ship lay still. Nobody spoke of it!\n\n## Two\n\n船停在那里。  It sailed at noon. "
    + "So they say. " * 40
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "d.md"
    path.write_text(TEXT)
    return path


def model_of(file, folder, pooling="attention", span=0):
    with read(file) as records:
        tokenizer = learn(records, Learning(vocabulary=280)).tokenizer
    head = HeadConfig(task="classify", outputs=3, pooling=pooling, span=span)
    config = ModelConfig(vocabulary=tokenizer.vocabulary, width=8, heads=2, layers=1)
    model = RecordModel(config, head, ("sea", "land", "air"))
    if model.head.attend is not None:
        torch.nn.init.normal_(model.head.attend.weight, generator=torch.Generator().manual_seed(1))
    if span:
        model.head.even_out(torch.linspace(-1, 1, 8), torch.linspace(0.5, 2, 8))
    save(folder, model, tokenizer)
    return load(folder)


def told(checkpoint, file, **request):
    reader = HiddenReader(checkpoint, chunk=100)
    (found,) = classified(Request(inputs=(str(file),), **request), reader, [Source(str(file))])
    return found


def margin(scores, chosen):
    return float(scores[chosen] - scores[[c for c in range(3) if c != chosen]].mean())


@pytest.mark.parametrize(("pooling", "span"), [("mean", 0), ("attention", 0), ("attention", 1)])
def test_evidence_is_what_the_margin_loses_without_a_sentence(file, tmp_path, pooling, span):
    """Against the head's reading of the vectors of all other tokens, in their order of loss."""
    checkpoint = model_of(file, tmp_path / "m", pooling, span)
    found = told(checkpoint, file, evidence=100)
    (chunk,) = checkpoint.tokenizer.chunks(iter([TEXT]), 10**6)
    last = np.maximum.accumulate(chunk.offsets[:, 1]) - 1
    with torch.no_grad():
        hidden = checkpoint.model.encoder(torch.from_numpy(chunk.ids).long()[None])[0]
        whole = checkpoint.model.head(hidden)[0][0]
        chosen = int(whole.argmax())
        losses = {}
        starts = [0]
        for sentence in SENTENCES:
            starts.append(TEXT.index(sentence, starts[-1] + 1))
        starts = starts[1:]
        for start, end in zip(starts, [*starts[1:], len(TEXT)], strict=True):
            inside = (last >= (0 if start == starts[0] else start)) & (last < end)
            rest = checkpoint.model.head(hidden[:, torch.from_numpy(~inside)])[0][0]
            losses[start] = margin(whole, chosen) - margin(rest, chosen)
    assert np.abs(found.scores - whole.numpy()).max() < 2e-5
    assert {e.start for e in found.evidence} == {start for start, loss in losses.items() if loss > 0}
    for e in found.evidence:
        assert e.margin == pytest.approx(losses[e.start], abs=2e-5)
    assert [e.margin for e in found.evidence] == sorted((e.margin for e in found.evidence), reverse=True)


@pytest.mark.parametrize("span", [0, 7, 64])
def test_sentences_are_slices_of_the_text_and_shares_add_up(file, tmp_path, span):
    checkpoint = model_of(file, tmp_path / "m", span=span)
    found = told(checkpoint, file, evidence=3)
    assert 1 <= len(found.evidence) <= 3 and sum(e.share for e in found.evidence) <= 1
    for e in found.evidence:
        assert e.text == TEXT[e.start : e.end] and e.section.startswith("One") and e.margin > 0
    everything = [told(checkpoint, file, evidence=n).evidence for n in (0, 2)]
    assert everything == [(), found.evidence[:2]]


@pytest.mark.parametrize("pooling", ["max", "last"])
def test_heads_that_take_no_mean_have_no_evidence(file, tmp_path, pooling):
    assert told(model_of(file, tmp_path / "m", pooling), file).evidence == ()


def test_the_command_tells_evidence_and_that_words_alone_do_better(file, tmp_path, capsys):
    checkpoint = model_of(file, tmp_path / "m", span=16)
    words = ["classify", str(file.parent), "--model", str(tmp_path / "m")]
    assert main([*words, "--json", "--evidence", "2"]) == 0
    out, err = capsys.readouterr()
    row = json.loads(out)["records"][0]
    assert len(row["evidence"]) == 2 and "TF-IDF" not in err
    write_figures(checkpoint.path, {"macro_f1": 0.5, "tfidf_macro_f1": 0.75}, checkpoint.sha256)
    assert main([*words, "--out", str(tmp_path / "out"), "--evidence", "2"]) == 0
    assert "told the held-out documents better (macro F1 0.750) than this head (0.500)" in capsys.readouterr().err
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["tfidf_does_better"] and run["held_out"]["macro_f1"] == 0.5
    header, *lines = (tmp_path / "out" / "evidence.tsv").read_text().splitlines()
    assert header.split("\t") == ["file", "record", "class", "start", "end", "section", "margin", "share", "text"]
    for line, e in zip(lines, row["evidence"], strict=True):
        cells = line.split("\t")
        assert (int(cells[3]), int(cells[4])) == (e["start"], e["end"]) and cells[2] == row["class"]
    assert pq.read_table(tmp_path / "out" / "records.parquet").num_rows == 1
    write_figures(checkpoint.path, {"macro_f1": 0.8, "tfidf_macro_f1": 0.75}, checkpoint.sha256)
    assert main([*words, "--force", "--out", str(tmp_path / "out")]) == 0
    assert not json.loads((tmp_path / "out" / "run.json").read_text())["tfidf_does_better"]
    assert read_figures(checkpoint.path, "another") == {}
