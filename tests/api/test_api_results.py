"""Results: read when they are looked at, kept when all are needed, shown as text and HTML, frames of either kind."""

import sys

import numpy as np
import pytest

import longseq
from longseq.api.results import Results
from longseq.errors import InputError, UsageError
from longseq.report.frame import Table
from longseq.results.source import SourceRow


class Numbers(Results[int]):
    def __init__(self, *problems):
        self.walks = []
        super().__init__(self.walk)
        self.problems = problems

    def walk(self):
        self.walks.append([])
        for n in range(30):
            self.walks[-1].append(n)
            yield n
        return [SourceRow(file="x", errors=self.problems)]

    @property
    def table(self):
        return Table.of_rows(
            "numbers", {"n": "int64", "half": "float64", "none": "string"}, ({"n": n, "half": n / 2} for n in self)
        )


def test_a_loop_reads_as_it_goes_and_keeps_nothing():
    numbers = Numbers()
    assert not numbers.walks
    walk = iter(numbers)
    assert (next(walk), next(walk)) == (0, 1) and numbers.walks == [[0, 1]]
    assert sum(numbers) == sum(numbers) and len(numbers.walks) == 3 and numbers._kept is None


@pytest.mark.parametrize(
    "look", [len, repr, list, lambda n: n[3], Numbers.to_pandas, Numbers.collect, lambda n: n.sources]
)
def test_what_needs_all_reads_once_and_keeps_them(look):
    numbers = Numbers()
    look(numbers)
    assert len(numbers.walks) == 1
    assert [*numbers] == [*range(30)] == numbers[:] and numbers[-1] == 29 and len(numbers) == 30
    assert len(numbers.walks) == 1


def test_a_few_rows_are_shown_and_what_could_not_be_read(caplog):
    numbers = Numbers("x: <nothing> there")
    lines = repr(numbers).splitlines()
    assert lines[:3] == ["numbers", "  n   half", "  0      0"] and "  … and 10 more" in lines
    assert lines[-1] == "  x: <nothing> there"
    shown = numbers._repr_html_()
    assert "&lt;nothing&gt;" in shown and "<nothing>" not in shown and shown.count("<tr>") == 23
    assert [record.getMessage() for record in caplog.records] == ["x: <nothing> there"]


def test_frames_of_either_kind_hold_the_same(genome):
    summaries = longseq.summarize(genome, model=None, window=100)
    for table in (summaries, summaries.windows, summaries.regions, summaries[0].windows):
        pandas, polars = table.to_pandas(), table.to_polars()
        assert [*pandas.columns] == polars.columns and len(pandas) == len(polars) > 0
        for name in polars.columns:
            np.testing.assert_array_equal(pandas[name].isna(), polars[name].is_null())
            there = pandas[name].notna()
            assert pandas[name][there].tolist() == polars[name].drop_nulls().to_list()
    assert summaries.windows.to_arrow().column("gc").null_count == 1  # of nothing but N
    assert np.isnan(summaries[0].windows.gc[9])
    assert summaries.to_pandas().gc.tolist() == [one.row.gc for one in summaries]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_the_package_it_is_said_how_to_get_it(package, genome, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    summaries = longseq.summarize(genome, model=None, window=100)
    for table in (summaries, summaries[0].windows):
        with pytest.raises(UsageError, match=f"needs {package}, which is not installed; pip install {package}"):
            getattr(table, f"to_{package}")()


def test_summaries_of_both_kinds_are_shown_and_escaped(genome, tmp_path):
    (tmp_path / "t.md").write_text(
        "# A <script>\n\nThe keeper lit the <b>lamp</b> & went up. The sea was calm at dusk.\n"
    )
    both = longseq.summarize(genome, tmp_path / "t.md", model=None)
    said = repr(both)
    assert "2 records of DNA, 1,430 bp" in said and "The keeper lit the <b>lamp</b> & went up." in said
    shown = both._repr_html_()
    assert "lit the &lt;b&gt;lamp&lt;/b&gt; &amp; went" in shown and "<b>" not in shown
    frame = both.to_pandas()
    assert frame.kind.tolist() == ["dna", "dna", "document"] and frame.gc.isna().tolist() == [False, False, True]
    assert both.sentences.to_pandas().text[0] == both[2].sentences[0].text
    assert repr(both[0]) == "<one: 1,350 bp of DNA, GC 50.08 %, 1 window, 1 region>"
    assert repr(both[2]).startswith("<t.md: 15 words, a summary of 2 sentences of 2: 'The keeper")
    assert repr(both[0].windows).startswith("<1 window, 0 to 1,350: start, end, a,")


def test_files_that_cannot_be_read_do_not_stop_the_others(genome, tmp_path, caplog):
    (tmp_path / "bad.fa").write_text(">x\nAC!T\n")
    some = longseq.summarize(genome, tmp_path / "bad.fa", model=None)
    assert [one.row.id for one in some] == ["one", "two"]
    assert "expected a DNA letter" in caplog.text and "expected a DNA letter" in some._repr_html_()
    assert [source.whole for source in some.sources] == [True, False]
    none = longseq.summarize(tmp_path / "bad.fa", model=None)
    with pytest.raises(InputError, match="expected a DNA letter"):
        none.collect()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda genome: longseq.summarize(), "there is no input"),
        (lambda genome: longseq.summarize(genome, words=3, ratio=0.5), "--words and --ratio exclude each other"),
        (lambda genome: longseq.summarize(genome, region="a:0-5"), "1 <= START"),
        (lambda genome: longseq.embed(genome, per="base", window=5), "exclude each other"),
        (lambda genome: longseq.annotate(genome), "which classes"),
        (lambda genome: longseq.annotate(genome, genes=True, threshold=0.5), "threshold speaks of intervals"),
        (lambda genome: longseq.annotate(genome, model="dna", mixed=True), "mixed speaks of genes; add genes=True"),
        (lambda genome: longseq.classify(genome, model="dna"), "no head that classifies records"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_read(call, said, genome):
    with pytest.raises(UsageError, match=said):
        call(genome)
