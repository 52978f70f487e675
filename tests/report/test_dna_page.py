"""DNA on `report.html`: what its figures hold, how large it grows, and that no name breaks out of it."""

import base64
import io
import json
import random
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from longseq.records import Interval, Record
from longseq.report.dna_page.part import BINS, SHOWN, DnaPart
from longseq.report.figures.pack import GAP
from longseq.report.report_page import Facts, ReportPage
from longseq.results.dna import RecordSummary, Region, SequenceRow, SurprisingWindow, WindowColumns
from longseq.results.findings import ClassCall, ClassRegion, Findings
from longseq.results.run import Run
from longseq.results.source import SourceRow
from longseq.tasks.summarize.dna import summarize_records
from longseq.tasks.summarize.totals import TotalsCounter

HOSTILE = '</script><img src=x onerror="alert(1)">&amp;'


def told(summaries, window=100, name="a.fa"):
    """The page of these summaries, and the specification of each figure by its id."""
    counter, count, length = TotalsCounter(), 0, 0
    with ReportPage([DnaPart(window)]) as page:
        for summary in summaries:
            page.dna(summary)
            counter.add(summary.row)
            count, length = count + 1, length + summary.row.length
        source = SourceRow(file=name, kind="dna", format="fasta", records=count, length=length, totals=counter.finish())
        out = io.StringIO()
        run = Run(version="1", command="longseq")
        page.write(out, Facts(run=run, sources=[source], samples=[name], request={"window": window}))
    text = out.getvalue()
    data = re.findall(r'<figure id="(.*?)".*?<script type="application/json">(.*?)</script>', text, re.S)
    return text, {name: json.loads(found) for name, found in data}


def records(*lengths, id=""):
    made = random.Random(1)
    for i, n in enumerate(lengths):
        letters = "".join(made.choices("ACGT", k=n)).encode()
        yield Record(id=f"{id}r{i}", kind="dna", source="a.fa", index=i, pieces=[letters])


def long_record(number, windows, size=10_000, seed=0):
    """A record of that many windows whose figures are drawn, not counted."""
    rng = np.random.default_rng(seed + number)
    start = size * np.arange(windows, dtype=np.int64)
    counts = rng.integers(1500, 4000, (4, windows)).astype(np.int32)
    floats = {name: rng.random(windows).astype(np.float32) for name in list(WindowColumns.__dataclass_fields__)[7:]}
    columns = dict(zip("acgt", counts, strict=True))
    tracks = WindowColumns(start=start, end=start + size, n=np.zeros(windows, np.int32), **columns, **floats)
    row = SequenceRow(
        file="a.fa",
        index=number,
        id=f"chr{number}",
        length=size * windows,
        letters={"A": 1, "C": 2},
        lower=1,
        gaps=0,
        longest_gap=0,
        digest="SQ.x",
        topology="unknown",
    )
    wide = 10 * size
    regions = tuple(
        Region(interval=Interval(record=row.id, start=at, end=at + wide), gc=40.0 + at % 7, gc_skew=0.1)
        for at in range(0, size * windows, wide)
    )
    return RecordSummary(row=row, windows=tracks, regions=regions)


def unpacked(given):
    if isinstance(given, list):
        return np.array([np.nan if value is None else value for value in given])
    codes = np.frombuffer(base64.b64decode(given["codes"]), "<u2")
    return np.where(codes == GAP, np.nan, given["low"] + given["step"] * codes)


def marks(view, kind):
    return [mark for panel in view["panels"] for mark in panel["marks"] if mark["kind"] == kind]


def test_tracks_are_the_windows():
    (summary,) = summarize_records(records(30_000), window=100)
    _, figures = told([summary])
    (view,) = figures["dna-ideogram"]["views"]
    assert view["x"]["low"] == 0 and view["x"]["high"] == 30_000 and "300 windows, each is here" in view["note"]
    tracks = {mark["name"]: mark for mark in marks(view, "track")}
    assert set(tracks) == {"GC", "GC skew", "cumulative G − C", "entropy of triplets"}
    windows = summary.windows
    for name, column in (("GC", windows.gc), ("GC skew", windows.gc_skew)):
        assert np.abs(unpacked(tracks[name]["mean"]) - column).max() < 1e-4 * np.ptp(column)
    excess = (windows.g - windows.c).astype(float)
    called = (windows.a + windows.c + windows.g + windows.t).astype(float)
    walk = np.cumsum(excess - called * excess.sum() / called.sum())
    assert np.abs(unpacked(tracks["cumulative G − C"]["mean"]) - walk).max() < 1e-3 * np.ptp(walk)


def test_many_windows_are_binned_and_keep_their_peaks():
    summaries = [long_record(i, 8_000 + i) for i in range(SHOWN)]
    _, figures = told(summaries, window=10_000)
    view = figures["dna-ideogram"]["views"][0]
    track = next(mark for mark in marks(view, "track") if mark["name"] == "GC")
    windows = summaries[-1].windows
    low, mean, high = (unpacked(track[name]) for name in ("low", "mean", "high"))
    assert len(mean) <= BINS and track["step"] % 10_000 == 0
    joined = track["step"] // 10_000
    parts = [windows.gc[at : at + joined] for at in range(0, len(windows), joined)]
    for found, wanted in ((low, min), (mean, np.mean), (high, max)):
        np.testing.assert_allclose(found, [wanted(part.tolist()) for part in parts], atol=1e-4)
    assert "windows.parquet has each" in view["note"] and "the longest 400 of" in view["note"]


def test_a_gigabase_takes_few_megabytes():
    """As 24 chromosomes and as one, and two of them in bins; the library is 1.3 MB of the page."""
    for shape in ([4_200] * SHOWN, [100_000], [9_000] * SHOWN):
        text, _ = told((long_record(i, windows) for i, windows in enumerate(shape)), window=10_000)
        assert len(text.encode()) < 5_000_000, shape


def test_more_records_than_are_shown():
    text, figures = told(summarize_records(records(*range(300, 3300, 10)), window=100))
    views = figures["dna-ideogram"]["views"]
    assert [view["name"] for view in views][:2] == ["r299, 3,290 bp", "r298, 3,280 bp"] and len(views) == SHOWN
    assert "The longest 24 of 300 records" in text and "The longest 200 of 300 records; sequences.tsv has all." in text
    (view,) = figures["dna-histogram"]["views"]
    counts, bases = (unpacked(mark["y1"]) for mark in marks(view, "boxes"))
    assert counts.sum() == 300 and bases.sum() == sum(range(300, 3300, 10))


def test_bars_share_no_length():
    """Powers of ten lie on edges: a length of ten is not in the bar that ends there."""
    lengths = [1, 9, 10, 10, 100, 10_000]
    (summary,) = summarize_records(records(10), window=0)
    _, figures = told(with_row(summary, length=n, letters={"A": n}) for n in lengths)
    mark = marks(figures["dna-histogram"]["views"][0], "boxes")[0]
    found = [re.fullmatch(r"([\d,]+) to ([\d,]+) bp: (\d+) records", label).groups() for label in mark["labels"]]
    for first, last, number in [map(int, (part.replace(",", "") for part in one)) for one in found]:
        assert sum(first <= n <= last for n in lengths) == number


def test_a_record_that_is_called_like_nothing_is_named():
    text, _ = told(summarize_records([Record(id="0", kind="dna", source="a", index=0, pieces=[b"ACGT"])], window=0))
    assert '<th scope="col">record</th>' in text


def test_thousands_of_records_are_cells_that_hold_all_of_them():
    (summary,) = summarize_records(records(200), window=0)
    letters = [{"A": 50 + i % 900, "G": i % 77} for i in range(2_500)]
    _, figures = told(with_row(summary, length=sum(one.values()), letters=one) for one in letters)
    found = marks(figures["dna-gc"]["views"][0], "points")
    numbers = [int(label.split()[0].replace(",", "")) for mark in found for label in mark["labels"]]
    assert sum(numbers) == 2_500 and max(numbers) > 1 and len(numbers) < 2_500


def test_classes_have_a_strip_and_colours():
    def called(summary, label):
        regions = (ClassRegion(start=0, end=500, label=label, probability=0.9),)
        call = ClassCall(model="m", label=label, probabilities={label: 0.9}, calibrated=True, regions=regions)
        return with_row(summary, findings=Findings(classes=call))

    labels = [f"class{i % 9}" for i in range(27)]
    made = summarize_records(records(*[500] * 27), window=100)
    summaries = [called(one, label) for one, label in zip(made, labels, strict=True)]
    _, figures = told(summaries)
    points = marks(figures["dna-gc"]["views"][0], "points")
    assert {mark["name"] for mark in points} == {*(f"class{i}" for i in range(7)), "other classes"}
    strip = marks(figures["dna-ideogram"]["views"][8], "boxes")[-1]
    assert strip["colour"] == [7] and strip["labels"] == ["1 to 500: class8, 0.90"]


def with_row(summary, **changes):
    return replace(summary, row=replace(summary.row, **changes))


def test_surprising_windows_stand_with_their_letters():
    summaries = []
    for i, summary in enumerate(summarize_records(records(*[400] * 30), window=100)):
        window = SurprisingWindow(start=100, end=200, bits=1 + (i * 7 % 30) / 100, z=None)
        summaries.append(replace(with_row(summary, surprising=(window,)), quotes=("ACGT" * 20 + f"{i:020}",)))
    text, _ = told(summaries)
    wanted = sorted(range(30), key=lambda i: -(i * 7 % 30))[:20]
    shown = [int(part.replace("\n", "")[-20:]) for part in re.findall(r"-200\n(.*?)</pre>", text, re.S)]
    assert shown == wanted


@pytest.mark.parametrize("window", [0, 100])
def test_parts_without_data_are_left_out(window):
    text, figures = told(summarize_records(records(500), window=window), window)
    assert set(figures) == ({"dna-ideogram"} if window else set())
    assert "dna-map" not in text and "dna-surprises" not in text and "bits a base" not in text


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        assert not any(name.startswith("on") or name == "src" for name, _ in attributes)


def test_no_name_breaks_out():
    text, figures = told(summarize_records(records(900, 1000, 1100, id=HOSTILE), window=100), name=HOSTILE)
    tags = Tags(text).seen
    assert "img" not in tags and tags.count("script") == len(figures) + 4
    assert figures["dna-ideogram"]["views"][0]["name"].startswith(HOSTILE[:20])


def test_the_same_records_are_the_same_bytes():
    one, other = (told(summarize_records(records(900, 30, 1000, 0), window=100))[0] for _ in range(2))
    assert one == other and "longseq summarize" not in one
