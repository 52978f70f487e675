"""The report card of a conversion: what its figures come to, and what the page and the terminal show of them."""

import re
from dataclasses import replace

import pytest

from longseq.report.conversion import conversion_text
from longseq.report.conversion_page import conversion_page
from longseq.results.conversion import (
    STREAMED,
    TEACHER,
    Conversion,
    Latency,
    LayerRow,
    LengthRow,
    ModelFacts,
    Retrieval,
    Skipped,
    Speed,
    SpeedRow,
    TaskRow,
)
from longseq.results.evaluation import Figure
from longseq.results.run import Run

FIGURE = Figure(value=0.9, low=0.85, high=0.95)


def speed(ratios):
    """The student takes a second at every length, the teacher as many as the ratio says."""
    rows = []
    for length, times in ratios.items():
        for reader, seconds in ((STREAMED, [1.0, 2.0, 1.0]), (TEACHER, [times, 2 * times, 9 * times])):
            row = SpeedRow(reader=reader, length=length, tokens_per_s=length, seconds=seconds, peak_mb=None)
            rows.append(row)
    turn = Latency(conversation=4000, turn=32, kept=[0.01], again=[1.0], teacher=[1.5], share=0.01)
    facts = {"processor": "a processor", "threads": 1, "chunk": 2048, "load_before": None, "load_after": 1.25}
    return Speed(rows=rows, latency=turn, **facts)


def model(name, mixer):
    return ModelFacts(name=name, sha256="0123456789abcdef", parameters=1234, mixers=[mixer], segment=256)


def conversion(**changes):
    facts = {
        "run": Run(version="1.2.3", command="longseq convert a --report b", seconds=3.0),
        "teacher": model("te<acher", "softmax"),
        "student": model("student", "linear"),
        "texts": 7,
        "even": 5.545,
        "layers": [
            LayerRow(layer=1, transfer_error=0.125, hidden=0.75, entropy=[5.0, 1.5], spiky=[2], stages={"swap": 0.5})
        ],
        "lengths": [LengthRow(tokens=n, texts=3, pooled=FIGURE, token=FIGURE) for n in (16, 512)],
        "retrieval": Retrieval(texts=7, cosine=FIGURE, apart=0.25, spearman=0.875, neighbour=FIGURE),
        "tasks": [],
        "speed": speed({256: 0.5, 1024: 2.0}),
        "skipped": [Skipped(what="speed at 4,096 tokens", reason="no time")],
    }
    return Conversion(**(facts | changes))


@pytest.mark.parametrize(
    ("ratios", "crossover"),
    [
        ({256: 0.5, 1024: 2.0}, 512),  # halfway between on logarithmic scales
        ({256: 0.5, 1024: 2.0, 4096: 0.5, 16384: 2.0}, 8192),  # only from here on it stays ahead
        ({256: 1.0, 1024: 3.0}, 256),
        ({256: 0.5, 1024: 0.9}, None),
        ({}, None),
    ],
)
def test_the_crossover_is_where_the_student_stays_ahead(ratios, crossover):
    assert speed(ratios).crossover == crossover


def test_times_as_fast_is_the_median_over_rounds():
    assert speed({256: 0.5}).ratios() == {256: 0.5}  # of 0.5, 0.5 and 4.5
    assert conversion().to_json()["speed"]["times_as_fast"] == {"256": 0.5, "1024": 2.0}


def test_the_page_shows_all_of_it():
    page = "".join(conversion_page(conversion()))
    text = re.sub(r"<[^>]+>", " ", page)
    for shown in (
        "te&lt;acher",
        "0.900 [0.850, 0.950]",
        "after swap",
        "0.1250",
        "0.5000",
        "1 spiky head,",
        "faster from about 512 tokens on",
        "0.50×",
        "load not known before and 1.2 after",
        "10.0 ms",
        "1.0 %",
        "speed at 4,096 tokens: no time",
    ):
        assert shown in text, shown
    assert "<strong>1.50</strong>" in page and "<strong>5.00</strong>" not in page
    assert re.findall('<figure id="(.*?)"', page) == ["agreement", "speed"]  # no memory was told


def test_a_median_of_two_rounds_and_a_figure_of_one_text():
    measured = speed({256: 0.5})
    turn = replace(measured.latency, kept=[0.01, 0.03], again=[1.0, 1.0], teacher=[1.0, 1.0])
    one = LengthRow(tokens=512, texts=1, pooled=FIGURE, token=FIGURE)
    page = "".join(conversion_page(conversion(speed=replace(measured, latency=turn), lengths=[one], retrieval=None)))
    assert "20.0 ms" in page
    assert ">0.900</td>" in page and "[0.850" not in page  # no interval over texts


def test_what_was_not_measured_has_no_section():
    page = "".join(conversion_page(conversion(layers=[], lengths=[], retrieval=None, speed=None)))
    assert (
        re.findall("<h2>(.*?)</h2>", page) == ["Models"]
        and "<figure" not in page
        and ">Report card of student</h1>" in page
    )
    text = conversion_text(conversion(layers=[], lengths=[], retrieval=None, speed=None))
    assert text.splitlines()[0].startswith("left out: speed at 4,096 tokens")


def test_a_task_stands_beside_the_most_frequent_class():
    task = TaskRow(
        file="toy.tsv",
        texts=40,
        classes=2,
        folds=5,
        frequent=0.5,
        accuracy={"teacher": 0.9, "student": 0.875},
        macro_f1={"teacher": 0.9, "student": 0.8},
        difference=Figure(value=-0.025, low=-0.05, high=0.0),
    )
    found = conversion(tasks=[task])
    assert "-0.025 [-0.050, +0.000]" in "".join(conversion_page(found))
    assert "toy.tsv: accuracy 0.875, teacher 0.900, most frequent class 0.500\n" in conversion_text(found)


def test_the_terminal_says_the_same():
    lines = conversion_text(conversion()).splitlines()
    assert lines[1] == "cosine by tokens of a text: 16: 0.900, 512: 0.900"
    assert lines[2] == "transfer error of layers: 0.125"
    assert lines[3].endswith("256: 0.50×, 1,024: 2.00×; faster from about 512 tokens on")
    assert lines[4] == "32 more tokens behind 4,000: 1.0 % of the time of reading all again"
    assert "slower up to 1,024 tokens" in conversion_text(conversion(speed=speed({256: 0.5, 1024: 0.9})))
