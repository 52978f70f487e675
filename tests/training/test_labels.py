"""Tables and intervals as labels of records: what they come to, and every wrong one said in one line."""

import re

import numpy as np
import pytest

from longseq.config import load
from longseq.errors import ConfigError, InputError
from longseq.training import TrainConfig
from longseq.training.config import LabelConfig
from longseq.training.labels import read_labels
from longseq.training.painting import Painting

IDS = ["a", "b", "c", "d", "c"]
LENGTHS = np.array([10, 20, 30, 0, 30])


@pytest.fixture
def labelled(tmp_path):
    def read(text, task="classify", **options):
        (tmp_path / "l.tsv").write_text(text.replace(" ", "\t"))
        return read_labels(IDS, LENGTHS, task, LabelConfig(file=str(tmp_path / "l.tsv"), **options))

    return read


def test_classes(labelled):
    found = labelled("id n genus\nb 1 y\na 2 x\nc 3 y\n", column="genus")
    assert found.names == ("x", "y")
    assert found.record.tolist() == [0, 1, 2, 4] and found.targets.tolist() == [0, 1, 1, 1]
    assert [found.groups.names[g] for g in found.groups.of] == ["a", "b", "c", "c"]  # records of one id stay together
    assert found.notes == ("warning: 1 of 5 records have no label or no letter, and are left out",)


def test_columns_are_found_or_named(labelled):
    assert labelled("label id\nx a\ny b\n", id="id").names == ("x", "y")
    found = labelled("id group label\na g x\nb h y\nc g NA\n")
    assert found.groups.names == ["g", "h"] and found.record.tolist() == [0, 1]
    assert labelled("id clade group label\na g 1 x\nb h 2 y\n", group="clade").groups.names == ["g", "h"]
    with pytest.raises(ConfigError, match=r"labels\.column: expected the column of .*, found n, genus; name it"):
        labelled("id n genus\na 1 x\n")
    with pytest.raises(ConfigError, match=r"labels\.column: .* found none beside the ids"):
        labelled("id\na\n")
    with pytest.raises(ConfigError, match=r"labels\.group: expected a column of id, label, found 'clade'"):
        labelled("id label\na x\n", group="clade")


def test_several_labels(labelled):
    found = labelled("id label\na p;q\nb q\nc ;\n", "multilabel")
    assert found.names == ("p", "q")
    assert found.targets.tolist() == [[1, 1], [0, 1], [0, 0], [0, 0]]
    note = "note: 1 label with ';' read as one class each; task=multilabel separates them"
    assert note in labelled("id label\na p;q\nb q\nc q\n").notes


def test_numbers(labelled):
    found = labelled("id height\na 1.5\nb -2e1\nd 3\n", "regress")
    assert found.names == ("height",) and found.targets.tolist() == [[1.5], [-20.0]]


@pytest.mark.parametrize(("text", "task", "options", "message"), [
    ("id label\na x\nb y\nzz x\nyy x\n", "classify", {},
     r"l\.tsv:4: expected ids of records \(a, b, c, d\), found 'zz' and 1 more that no input holds; labels\.unknown"),
    ("id label\nzz x\nyy y\n", "classify", {"unknown": "skip"}, "labels of the records that were read, found none"),
    ("id label\na x\nb y\n", "classify", {"unlabelled": "error"}, "a label of every record, found none of c and"),
    ("id label\na x\nb x\n", "classify", {}, "expected two classes or more in label, found 'x' of every record"),
    ("id label\na 1\nb 2\nc 3\n", "classify", {}, "found another one of each record; task=regress for numbers"),
    ("id label\na x\nb y\na y\n", "classify", {}, r"l\.tsv:4: expected one label of a, 'x' as in line 2, found 'y'"),
    ("id label\n\tx\n", "classify", {}, r"l\.tsv:2: expected an id in column id, found none"),
    ("id label\na 1\nb tall\n", "regress", {}, r"l\.tsv:3: expected a number in label, found 'tall'"),
    ("id label\na 1\nb inf\n", "regress", {}, r"l\.tsv:3: expected a number in label, found 'inf'"),
    ("id label\na 1\nb 1\n", "regress", {}, "expected numbers in label that differ, found 1 only"),
    ("id label\na ;\n", "multilabel", {}, "expected labels in label, separated by ';', found none"),
])  # fmt: skip
def test_labels_that_cannot_be_learned(labelled, text, task, options, message):
    with pytest.raises(InputError, match=message):
        labelled(text, task, **options)


def test_labels_of_unknown_records_are_counted(labelled):
    found = labelled("id label\na x\nb y\nzz x\nyy x\n", unknown="skip")
    assert any(re.search(r"labels 2 records that no input holds \(zz first\)", note) for note in found.notes)


def painting(tmp_path, text, **options):
    (tmp_path / "l.bed").write_text(text)
    return Painting(["a", "b"], np.array([10, 20]), LabelConfig(file=str(tmp_path / "l.bed"), **options))


@pytest.mark.parametrize(("text", "message"), [
    ("a\t2\t11\tx\n", r"l\.bed:1: expected an interval inside a, which has 10 bases, found an end at 11"),
    ("a\t2\t3\tx\nz\t1\t2\tx\n", r"l\.bed:2: expected ids of records \(a, b\), found 'z', that no input holds"),
    ("a\t2\t3\tbackground\n", "expected intervals of some class in the records that were read, found none"),
])  # fmt: skip
def test_intervals_that_cannot_be_learned(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        painting(tmp_path, text)


def test_some_names_only(tmp_path):
    text = "a\t2\t9\tgene\nb\t2\t3\tCDS\nz\t1\t2\tother\n"
    assert painting(tmp_path, text, classes=("CDS",)).names == ("background", "CDS")
    for classes, name in ((("cds",), "cds"), (("CDS", "tRNA"), "tRNA")):
        with pytest.raises(ConfigError, match=rf"labels\.classes: .*l\.bed \(CDS, gene, other\), found '{name}'"):
            painting(tmp_path, text, classes=classes)


def test_intervals_that_describe_whole_records_are_no_class_unless_named(tmp_path):
    text = "a\t0\t10\tsource\nb\t0\t20\tregion\na\t2\t3\tCDS\n"
    found = painting(tmp_path, text)
    assert found.names == ("background", "CDS") and found.whole == ("region", "source")
    assert found.classes(0, 0, 10).tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0] and not found.annotated(1)
    found = painting(tmp_path, text, classes=("source", "CDS"))
    assert found.names == ("background", "CDS", "source") and found.whole == ()
    with pytest.raises(InputError, match=r"found only source; labels\.classes names those to learn"):
        painting(tmp_path, text.split("\n")[0] + "\n")


def test_intervals_of_unknown_records_are_counted(tmp_path):
    found = painting(tmp_path, "z\t2\t3\tx\nb\t2\t3\ty\n", unknown="skip")
    assert found.skipped == 1 and found.names == ("background", "y")
    assert found.annotated(1) and not found.annotated(0)


@pytest.mark.parametrize(("assignments", "message"), [
    (["task=classify"], "labels.file: expected a file of labels to classify by, found None"),
    (["labels.file=x"], "labels.file: expected none with task 'next', found 'x'"),
    (["task=sing"], "task: expected one of 'next', 'masked'"),
    (["task=classify", "labels.file=x", "data.relabel=0.5"], "data.relabel: expected 0 to classify"),
    (["task=regress", "labels.file=x", "labels.smoothing=0.1"], "labels.smoothing: expected 0 to regress"),
    (["task=regress", "labels.file=x", "labels.weights=balanced"], "labels.weights: expected 'equal' to regress"),
    (["freeze=encoder"], "freeze: expected 'nothing' without a model to start from"),
    (["task=classify", "labels.file=x", "data.held_out_records=['a']"],
     r"data.held_out_records: expected none to classify, but groups, found \('a',\)"),
    (["data.held_out_records=['a']", "data.held_out_groups=['b']"], "expected none with data.held_out_records"),
    (["data.groups_column=genus"], "data.groups_column: expected a table in data.groups, found 'genus'"),
    (["data.leakage=0"], "data.leakage: expected a share, above 0 to 1"),
    (["labels.held_out=1"], "labels.held_out: expected a share"),
    (["labels.smoothing=1"], "labels.smoothing: expected a share"),
    (["labels.background="], "labels.background: expected a name"),
    (["model.visibility=both", "data.carry=2"], "data.carry: expected 1 window with model.visibility 'both'"),
    (["model.visibility=segment", "model.pattern=['linear']", "data.carry=2", "data.window=700"],
     r"data.window: expected a multiple of model.segment \(512\)"),
])  # fmt: skip
def test_settings_that_do_not_go_together(assignments, message):
    with pytest.raises(ConfigError, match=message):
        load(TrainConfig, None, assignments)


def test_names_are_matched_and_said(tmp_path):
    (tmp_path / "l.tsv").write_text("id\tlabel\nNC_000001\tx\nchr2\ty\nmain\tx\n")
    (tmp_path / "alias").write_text("main p1\n")
    config = LabelConfig(file=str(tmp_path / "l.tsv"), alias=str(tmp_path / "alias"))
    ids = ["gi|1|ref|NC_000001.1|", "2", "p1"]
    found = read_labels(ids, np.array([1, 1, 1]), "classify", config)
    assert found.record.tolist() == [0, 1, 2] and found.targets.tolist() == [0, 1, 0]
    assert found.notes == (f"note: names matched: NC_000001 is {ids[0]}, chr2 is 2, main is p1",)
    with pytest.raises(InputError, match=r"one record for 'NC_000001', found .*; labels\.alias=FILE says which"):
        read_labels([*ids, "NC_000001.2"], np.ones(4), "classify", config)
    (tmp_path / "alias").write_text("main chr2\n")  # one record under two names, with two labels
    with pytest.raises(InputError, match=r"expected one (label|name) of|one name for"):
        read_labels(ids, np.array([1, 1, 1]), "classify", config)


def test_records_of_intervals_are_matched_and_said(tmp_path):
    found = painting(tmp_path, "chra\t2\t4\tx\nb\t0\t1\ty\n")
    assert found.notes == ("note: names matched: chra is a",)
    assert found.classes(0, 0, 5).tolist() == [0, 0, 1, 1, 0] and found.classes(1, 0, 2).tolist() == [2, 0]
