"""Laws of classify: a head's answers are those of the whole record, along it and afresh; what is spliced is found."""

import itertools
import json
import random

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from longseq.cli import main
from longseq.errors import UsageError
from longseq.formats import read
from longseq.model import HeadConfig, LanguageModel, ModelConfig, RecordModel, load, save
from longseq.model.calibration import Calibration, read_calibration, write_calibration
from longseq.records import Alphabet
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.classify import Answers, Request, classified
from longseq.tasks.sources import Source
from longseq.tokens import DnaTokenizer
from longseq.tokens.subwords import kmers
from longseq.tokens.train import Learning, learn

LABELS = ("poor", "rich")


def model_of(task="classify", pooling="mean", labels=LABELS):
    numbers = {"offset": (3.0,) * len(labels), "scale": (2.0,) * len(labels)} if task == "regress" else {}
    head = HeadConfig(task=task, outputs=len(labels), pooling=pooling, **numbers)
    return RecordModel(ModelConfig(width=16, heads=2, layers=2), head, labels)


@pytest.fixture(scope="module")
def sorted_by_gc(tmp_path_factory):
    """A model that tells records rich in G and C: its encoder is as it was born, its head solved by least squares."""
    model, rng = model_of(), np.random.default_rng(0)
    rows, wanted = [], []
    with torch.no_grad():
        for _ in range(60):
            rich = int(rng.integers(2))
            ids = torch.from_numpy(rng.choice(4, 100, p=[[0.4, 0.1, 0.1, 0.4], [0.1, 0.4, 0.4, 0.1]][rich]))[None]
            rows.append(model.encoder(ids)[0][0].double().mean(0))
            wanted.append(8.0 * rich - 4.0)
        x = torch.cat([torch.stack(rows), torch.ones(60, 1)], 1)
        solved = torch.linalg.lstsq(x, torch.tensor(wanted)[:, None].double(), driver="gelsd").solution[:, 0].float()
        model.head.score.weight.copy_(torch.stack([-solved[:-1], solved[:-1]]) / 2)
        model.head.score.bias.copy_(torch.stack([-solved[-1], solved[-1]]) / 2)
    folder = tmp_path_factory.mktemp("classify") / "m"
    save(folder, model, DnaTokenizer())
    return load(folder)


def drawn(n, rich, seed=0):
    rng = random.Random(seed)
    return "".join(rng.choices("ACGT", [[4, 1, 1, 4], [1, 4, 4, 1]][rich], k=n)).encode()


def fasta(path, *records):
    path.write_bytes(b"".join(b">r%d\n%s\n" % (i, record) for i, record in enumerate(records)))
    return str(path)


def told(checkpoint, file, chunk=2048, **request):
    reader = HiddenReader(checkpoint, chunk=chunk)
    return list(classified(Request(inputs=(file,), **request), reader, [Source(file)]))


@pytest.mark.parametrize("pooling", ["mean", "max", "last", "attention"])
def test_definition(tmp_path, pooling):
    """Whole prefixes and whole windows in one call of the model each, however it is cut here."""
    save(tmp_path / "m", model_of(pooling=pooling), DnaTokenizer())
    checkpoint = load(tmp_path / "m")
    record = drawn(130, 0, 1) + b"NNNN" + drawn(136, 1, 2)

    def whole(letters):
        with torch.no_grad():
            ids = torch.from_numpy(checkpoint.tokenizer.encode(letters)[0].astype(np.int64))[None]
            return checkpoint.model(ids)[0][0].numpy()

    file = fasta(tmp_path / "x.fa", record, drawn(7, 1, 3), b"")
    for chunk in (2048, 33):
        found, short, empty = told(checkpoint, file, chunk, every=50, window=90)
        assert found.running_ends.tolist() == [50, 100, 150, 200, 250, 270]
        assert np.abs(found.running - [whole(record[:end]) for end in found.running_ends]).max() < 2e-5
        assert found.windows.tolist() == [[0, 90], [90, 180], [180, 270]]
        assert np.abs(found.afresh - [whole(record[a:b]) for a, b in found.windows]).max() < 2e-5
        assert np.array_equal(found.scores, found.running[-1]) and found.length == 270
        assert np.array_equal(short.afresh[0], short.scores) and short.windows.tolist() == [[0, 7]]
        assert empty.scores is None and len(empty.running) == len(empty.afresh) == 0


def test_neighbours_change_nothing_to_the_bit(sorted_by_gc, tmp_path):
    records = [drawn(n, n % 2, n) for n in (1, 64, 65, 500, 9000, 3)]
    together = told(sorted_by_gc, fasta(tmp_path / "all.fa", *records), every=100, window=200)
    for record, found in zip(records, together, strict=True):
        (alone,) = told(sorted_by_gc, fasta(tmp_path / "one.fa", record), every=100, window=200)
        assert np.array_equal(alone.running, found.running) and np.array_equal(alone.afresh, found.afresh)


def test_what_is_spliced_is_found_within_a_window(sorted_by_gc, tmp_path):
    file = fasta(tmp_path / "x.fa", drawn(3170, 0, 1) + drawn(1500, 1, 2) + drawn(2000, 0, 3), drawn(4000, 1, 4))
    spliced, plain = told(sorted_by_gc, file, window=200)
    answers = Answers(sorted_by_gc.model, None)
    regions = answers.regions(spliced.afresh)
    assert [r.label for r in regions] == ["poor", "rich", "poor"]
    assert abs(spliced.windows[regions[1].first, 0] - 3170) <= 200
    assert abs(spliced.windows[regions[2].first, 0] - 4670) <= 200
    assert [r.label for r in answers.regions(plain.afresh)] == ["rich"]


def test_regions_are_the_best_of_all(sorted_by_gc):
    """Against every row of classes of a few windows."""
    rng, answers = np.random.default_rng(0), Answers(sorted_by_gc.model, None)
    for _ in range(20):
        scores = rng.normal(0, 3, (7, 2))
        logs = np.log(answers.values(scores))
        rows = [[(i >> w) & 1 for w in range(7)] for i in range(128)]
        best = max(rows, key=lambda row: logs[range(7), row].sum() - 3.0 * np.abs(np.diff(row)).sum())
        found = [LABELS.index(r.label) for r in answers.regions(scores) for _ in range(r.first, r.last)]
        assert found == best


def test_what_is_out_of_range_is_a_region_of_its_own(sorted_by_gc):
    """One window of 20 is out of range of what is known, so one says little and a row of them much."""
    answers = Answers(sorted_by_gc.model, Calibration(temperature=1.0, in_range_above=1.0, records=9))
    poor, rich, out = [5.0, 0.0], [0.0, 5.0], [0.0, 0.1]
    regions = answers.regions(np.array([poor] * 5 + [out] * 6 + [rich, out, rich, rich]))
    assert [(r.first, r.last, r.label) for r in regions] == [(0, 5, "poor"), (5, 11, "unknown"), (11, 15, "rich")]
    assert regions[1].probability is None and regions[0].probability > 0.9
    assert [r.label for r in answers.regions(np.array([out, out]))] == ["unknown"]
    rng = np.random.default_rng(1)
    for _ in range(10):
        scores = rng.normal(0, 2, (6, 2))
        flagged = np.log(np.exp(scores).sum(1)) < 1.0
        logs = np.where(flagged[:, None], np.log(0.05), np.log(0.95) + np.log(answers.values(scores)))
        logs = np.c_[logs, np.where(flagged, np.log(0.95), np.log(0.05 / 2))]
        rows = np.array(list(itertools.product(range(3), repeat=6)))
        worth = logs[range(6), rows].sum(1) - 3.0 * (np.diff(rows) != 0).sum(1)
        names = [*LABELS, "unknown"]
        found = [names.index(r.label) for r in answers.regions(scores) for _ in range(r.first, r.last)]
        assert worth[(rows == found).all(1)] == pytest.approx(worth.max())  # several rows may be as good


def test_calibration_divides_and_limits(sorted_by_gc):
    answers = Answers(sorted_by_gc.model, Calibration(temperature=2.0, in_range_above=1.0, records=9))
    scores = np.array([[0.0, 4.0], [0.1, 0.0], [-9.0, 2.0]])
    assert np.allclose(answers.values(scores)[0], [1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2))])
    assert answers.unknown(scores).tolist() == [False, True, False]
    assert [answers.verdict(row) for row in scores] == ["rich", "unknown", "rich"]
    assert not Answers(sorted_by_gc.model, None).unknown(scores).any()


def test_calibrated_by_labels(sorted_by_gc, tmp_path, capsys):
    save(tmp_path / "m", sorted_by_gc.model, DnaTokenizer())
    file = fasta(tmp_path / "x.fa", *(drawn(60, i % 2, i) for i in range(40)))
    (tmp_path / "l.tsv").write_text("id\tkind\n" + "".join(f"r{i}\t{LABELS[i % 2]}\n" for i in range(40)))
    model = str(tmp_path / "m")
    said = "is not calibrated: probabilities are the head's own, and nothing is called unknown"
    assert main(["classify", file, "--model", model]) == 0 and said in capsys.readouterr().err
    assert main(["classify", file, "--model", model, "--calibrate", str(tmp_path / "l.tsv")]) == 0
    assert "; calibration error 0." in capsys.readouterr().out
    assert main(["classify", file, "--model", model]) == 0 and said not in capsys.readouterr().err
    checkpoint = load(model)
    found = read_calibration(checkpoint.path, checkpoint.sha256)
    wanted = Calibration.fitted(np.stack([t.scores for t in told(checkpoint, file)]), np.arange(40) % 2, np.arange(40))
    assert found == wanted and found.records == 40 and "Guo" in found.method
    (tmp_path / "l.tsv").write_text("id\tkind\nr0\tpoor\nr1\tother\n")
    assert main(["classify", file, "--model", model, "--calibrate", str(tmp_path / "l.tsv")]) == 1
    assert "expected classes of the model, poor, rich, found other" in capsys.readouterr().err
    write_calibration(checkpoint.path, wanted, "another")
    assert read_calibration(checkpoint.path, checkpoint.sha256) is None


def test_the_folder(sorted_by_gc, tmp_path, capsys):
    file, out = fasta(tmp_path / "x.fa", drawn(600, 0, 1) + drawn(600, 1, 2), b""), tmp_path / "out"
    words = ["classify", file, "--model", sorted_by_gc.name, "--window", "100", "--every", "500"]
    assert main([*words, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 2 records\n"
    header, first, second = (line.split("\t") for line in (out / "records.tsv").read_text().splitlines())
    place, answer = ["file", "record", "start", "end", "length"], ["class", "probability", "nearest"]
    assert header == [*place, *answer, "p_poor", "p_rich", "changes", "truncated"]
    row, empty = (dict(zip(header, line, strict=True)) for line in (first, second))
    assert row["record"] == "r0" and row["changes"] == "600" and empty["class"] == empty["nearest"] == "NA"
    assert row["nearest"] == row["class"] and row["probability"] == row[f"p_{row['class']}"]
    assert float(row["p_poor"]) + float(row["p_rich"]) == pytest.approx(1)
    assert pq.read_table(out / "records.parquet").to_pylist()[0]["p_rich"] == float(row["p_rich"])
    running, windows = (pq.read_table(out / f"{name}.parquet").to_pylist() for name in ("running", "windows"))
    assert [r["end"] for r in running] == [500, 1000, 1200] and len(windows) == 12
    assert running[-1]["p_rich"] == float(row["p_rich"]) and not any(w["unknown"] for w in windows)
    bed = [line.split("\t") for line in (out / "regions.bed").read_text().splitlines()]
    assert [line[:4] for line in bed] == [["r0", "0", "600", "poor"], ["r0", "600", "1200", "rich"]]
    assert all(int(line[4]) == round(1000 * float(line[6])) > 0 for line in bed)
    assert json.loads((out / "run.json").read_text())["labels"] == list(LABELS)
    assert main([*words, "--out", str(out)]) == 2
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [r["class"] for r in document["records"][0]["regions"]] == ["poor", "rich"]
    assert main(words) == 0
    assert capsys.readouterr().out == (out / "records.tsv").read_text()


def test_a_region_is_placed_in_its_record(sorted_by_gc, tmp_path, capsys):
    """Rows, readings and windows of a stretch bear the places of the record, with windows and without."""
    letters = drawn(700, 0, 1) + drawn(500, 1, 2)
    file, cut = fasta(tmp_path / "x.fa", letters), fasta(tmp_path / "y.fa", letters[300:1100])
    for window in ("100", "0"):
        out, alone = tmp_path / f"o{window}", tmp_path / f"a{window}"
        words = ["--model", sorted_by_gc.name, "--window", window, "--every", "300", "-q", "--out"]
        assert main(["classify", file, "--region", "r0:301-1100", *words, str(out)]) == 0
        assert main(["classify", cut, *words, str(alone)]) == 0
        (row,), (other,) = (pq.read_table(path / "records.parquet").to_pylist() for path in (out, alone))
        assert (row["start"], row["end"], row["length"]) == (300, 1100, 800)
        assert (other["start"], other["end"]) == (0, 800) and row["p_rich"] == other["p_rich"]
        for name in ("running", "windows"):
            here, there = (pq.read_table(path / f"{name}.parquet").to_pylist() for path in (out, alone))
            assert [(r["start"], r["end"]) for r in here] == [(r["start"] + 300, r["end"] + 300) for r in there]
            assert bool(here) == (name == "running" or window != "0")


def test_what_is_out_of_range_has_no_probability(sorted_by_gc, tmp_path, capsys):
    save(tmp_path / "m", sorted_by_gc.model, DnaTokenizer())
    checkpoint = load(tmp_path / "m")
    far = Calibration(temperature=1.0, in_range_above=1e6, records=9)
    write_calibration(checkpoint.path, far, checkpoint.sha256)
    words = ["classify", fasta(tmp_path / "x.fa", drawn(600, 1, 1)), "--model", checkpoint.name, "--window", "200"]
    assert main([*words, "--out", str(tmp_path / "o")]) == 0 and main([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out.partition("\n")[2])["records"]
    assert (found["class"], found["probability"], found["nearest"]) == ("unknown", None, "rich")
    assert found["p_rich"] > 0.5 and found["regions"][0]["class"] == "unknown"
    assert found["regions"][0]["probability"] is None
    header, row = (line.split("\t") for line in (tmp_path / "o" / "records.tsv").read_text().splitlines())
    row = dict(zip(header, row, strict=True))
    assert (row["class"], row["probability"], row["nearest"]) == ("unknown", "NA", "rich")
    assert (tmp_path / "o" / "regions.bed").read_text() == "r0\t0\t600\tunknown\t0\t.\tNA\n"


@pytest.mark.parametrize(
    ("task", "columns"), [("multilabel", ["labels", "p_poor", "p_rich"]), ("regress", list(LABELS))]
)
def test_labels_and_numbers(tmp_path, capsys, task, columns):
    save(tmp_path / "m", model_of(task), DnaTokenizer())
    assert main(["classify", fasta(tmp_path / "x.fa", b"ACGTACGT"), "--model", str(tmp_path / "m"), "-q"]) == 0
    header, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert header[5 : 5 + len(columns)] == columns
    with torch.no_grad():
        scores = load(tmp_path / "m").model(torch.tensor([[0, 1, 2, 3] * 2]))[0][0].double().numpy()
    wanted = scores * 2 + 3 if task == "regress" else 1 / (1 + np.exp(-scores))
    assert [float(row[header.index(c)]) for c in columns[-2:]] == pytest.approx(wanted.tolist(), abs=1e-5)


def documents(path):
    text = "# One\n\nSome words stand here, and more of them there.\n\n# Two\n\nOther words stand elsewhere. \n" * 3
    path.write_text(text)
    with read(path) as records:
        return learn(records, Learning(vocabulary=270)).tokenizer, text


def words(path):
    text = drawn(97, 0, 1) + b"NN" + drawn(150, 1, 2)
    fasta(path, text)
    return kmers(3, Alphabet()), text


@pytest.mark.parametrize(("made", "name"), [(documents, "d.md"), (words, "x.fa")])
def test_documents_and_dna_in_words(tmp_path, capsys, made, name):
    """As of letters: places in letters, answers those of the same tokens read in one call."""
    tokenizer, text = made(tmp_path / name)
    head = HeadConfig(task="classify", outputs=2)
    config = ModelConfig(vocabulary=tokenizer.vocabulary, width=16, heads=2, layers=2)
    save(tmp_path / "m", RecordModel(config, head, LABELS), tokenizer)
    checkpoint, file = load(tmp_path / "m"), str(tmp_path / name)
    chunks = list(checkpoint.tokenizer.chunks(iter([text]), 1 << 20))
    ids = np.concatenate([chunk.ids for chunk in chunks]).astype(np.int64)
    ends = np.concatenate([chunk.offsets for chunk in chunks])[:, 1]

    def whole(some):
        with torch.no_grad():
            return checkpoint.model(torch.from_numpy(some)[None])[0][0].numpy()

    (found,) = told(checkpoint, file, every=16, window=30)
    last = len(ids)
    assert last > 60 and found.length == len(text)
    stops = [*range(16, last, 16), last]
    assert np.abs(found.running - [whole(ids[:stop]) for stop in stops]).max() < 2e-5
    assert found.running_ends.tolist() == [*(int(ends[stop - 1]) for stop in stops[:-1]), len(text)]
    firsts = range(0, last, 30)
    assert np.abs(found.afresh - [whole(ids[first : first + 30]) for first in firsts]).max() < 2e-5
    assert found.windows[0, 0] == 0 and found.windows[-1, 1] == len(text) and len(found.windows) == len(firsts)
    assert (found.windows[1:, 0] == found.windows[:-1, 1]).all() and found.windows[0, 1] == ends[29]
    assert main(["classify", file, "--model", checkpoint.name, "--json", "-q"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["records"]
    assert record["class"] in LABELS and record["length"] == len(text)


def test_without_a_head_it_says_how_one_is_made(tmp_path, capsys):
    save(tmp_path / "m", LanguageModel(ModelConfig(width=8, heads=1, layers=1)), DnaTokenizer())
    file = fasta(tmp_path / "x.fa", b"ACGT")
    assert main(["classify", file, "--model", str(tmp_path / "m")]) == 2
    said = capsys.readouterr().err
    assert "has no head that classifies records; train one of your own: longseq train INPUT... --labels" in said
    with pytest.raises(UsageError):
        told(load(tmp_path / "m"), file)
