"""What is written reads back: JSON, TSV, BED, Parquet, Markdown."""

import csv
import io
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import OutputExistsError
from longseq.formats import markdown, parquet
from longseq.formats.bed import BedWriter
from longseq.formats.jsonfile import to_json, write_json
from longseq.formats.parquet import ArrowRows, ParquetWriter, arrow_table, write_parquet
from longseq.formats.tsv import TsvWriter
from longseq.records import Interval


@dataclass
class Row:
    b: float
    a: int


def test_a_name_that_is_no_text_is_a_cell_nevertheless(tmp_path):
    write_json(tmp_path / "t.json", {"file": "\udcff.fa"})
    assert json.loads((tmp_path / "t.json").read_text()) == {"file": "\udcff.fa"}
    path = tmp_path / "t.parquet"
    with ParquetWriter(path, {"file": "string", "n": "int64"}) as table:
        table.write({"file": ["a", "\udcff.fa", None], "n": [1, 2, 3]})
    assert pyarrow.parquet.read_table(path)["file"].to_pylist() == ["a", "\\udcff.fa", None]


def test_json(tmp_path):
    document = {
        "z": [Row(b=0.1 + 0.2, a=1)],
        "a": (np.float32(0.5), np.int64(2**62), np.array([1.5, np.nan]), np.bool_(True)),
        "n": [math.nan, math.inf, None],
        "p": Path("x/y"),
        "é": "日\n",
    }
    write_json(tmp_path / "a.json", document)
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "z": [{"b": 0.30000000000000004, "a": 1}],
        "a": [0.5, 2**62, [1.5, None], True],
        "n": [None, None, None],
        "p": "x/y",
        "é": "日\n",
    }
    assert list(json.loads(text)) == ["z", "a", "n", "p", "é"] and "日" in text and text.endswith("}\n")
    with pytest.raises(OutputExistsError):
        write_json(tmp_path / "a.json", {})
    write_json(tmp_path / "a.json", {}, force=True)
    assert (tmp_path / "a.json").read_text() == "{}\n"


def test_json_refuses_what_it_cannot_carry(tmp_path):
    for document in ({"a": {1, 2}}, {1: 2}, object()):
        with pytest.raises(TypeError):
            write_json(tmp_path / "a.json", document)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_json_and_tsv_keep_every_bit(values):
    finite = [value if math.isfinite(value) else None for value in values]
    assert json.loads(to_json(values)) == finite
    file = io.StringIO()
    writer = TsvWriter(file, ["x"])
    for value in values:
        writer.write({"x": np.float64(value)})
    back = file.getvalue().splitlines()[1:]
    assert back == ["NA" if math.isnan(v) else repr(v) for v in values]
    assert all(text == "NA" or float(text) == v for text, v in zip(back, values, strict=True))


def test_tsv():
    file = io.StringIO()
    writer = TsvWriter(file, ["id", "n", "ok"])
    writer.write({"n": np.int64(3), "id": "tab\there\nand there", "ok": True})
    writer.write({"id": ""})
    with pytest.raises(KeyError, match="no column 'm'; columns: id, n, ok"):
        writer.write({"m": 1})
    rows = list(csv.reader(io.StringIO(file.getvalue()), delimiter="\t"))
    assert rows == [["id", "n", "ok"], ["tab\\there\\nand there", "3", "true"], ["", "NA", "NA"]]


def test_bed():
    file = io.StringIO()
    writer = BedWriter(file)
    writer.write(Interval(record="chr1", start=0, end=1, strand="-"), "CDS", 1000, (0.25, math.nan))
    writer.write(Interval(record="", start=5, end=9), "")
    assert file.getvalue() == "chr1\t0\t1\tCDS\t1000\t-\t0.25\tNA\n.\t5\t9\t.\t0\t.\n"


@pytest.mark.parametrize("score", [-1, 1001, 0.5, True])
def test_bed_score_is_a_whole_number(score):
    with pytest.raises(ValueError, match="whole number from 0 to 1000"):
        BedWriter(io.StringIO()).write(Interval(record="a", start=0, end=1), "x", score)


COLUMNS = {"id": "string", "start": "int64", "gc": "float64", "v": "list<float32>"}


def test_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROW_GROUP", 4)
    path = tmp_path / "a.parquet"
    with ParquetWriter(path, COLUMNS, metadata={"model": "none"}) as writer:
        for i in range(5):
            writer.write(
                {
                    "gc": np.array([0.1 * i, np.nan]),
                    "id": ["a", None],
                    "start": np.array([i, 2**40]),
                    "v": [[1.5, 2.5], []],
                }
            )
        writer.write({"id": [], "start": [], "gc": [], "v": []})
    file = pyarrow.parquet.ParquetFile(path)
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [4, 4, 2]
    assert file.schema_arrow.names == list(COLUMNS) and file.schema_arrow.metadata[b"model"] == b"none"
    found = list(ArrowRows(str(path), [str(path)]).walk())
    rows = {name: [row.cells[name] for row in found] for name in COLUMNS}
    assert rows["start"] == [n for i in range(5) for n in (i, 2**40)]
    assert rows["gc"] == [x for i in range(5) for x in (0.1 * i, None)]
    assert rows["id"] == ["a", None] * 5 and rows["v"] == [[1.5, 2.5], []] * 5


def test_columns_of_a_table_do_without_pandas(tmp_path):
    """It takes longer to import than most tables to write. Beside what pyarrow itself makes of the same values."""
    code = (
        "import sys, numpy as np\n"
        "from longseq.formats.parquet import ParquetWriter\n"
        "rows = {'t': ['', None, 'é\\udcff'], 'f': np.array([1, np.nan, np.inf], np.float32), 'i': np.arange(3),\n"
        "        'v': np.array([[1, np.nan], [np.nan, 2], [3, 4]], np.float32)}\n"
        "with ParquetWriter(sys.argv[1], {'t': 'string', 'f': 'float32', 'i': 'int64', 'v': 'float32[2]'}) as table:\n"
        "    table.write(rows)\n"
        "sys.exit('pandas' in sys.modules)\n"
    )
    path = tmp_path / "t.parquet"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0
    found = pyarrow.parquet.read_table(path).to_pydict()
    assert (found["t"], found["f"], found["i"]) == (["", None, "é\\udcff"], [1, None, math.inf], [0, 1, 2])
    assert found["v"][1:] == [None, [3, 4]] and math.isnan(found["v"][0][1])


def test_numbers_are_not_taken_for_what_they_are_not():
    numbers = {"a": np.array([0.5, 0.0])}
    assert arrow_table({"a": "bool"}, numbers).to_pydict() == {"a": [True, False]}
    with pytest.raises((ValueError, TypeError)):
        arrow_table({"a": "string"}, numbers)


def test_parquet_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises(ValueError, match="expected the columns"):
        write_parquet(path, {"a": "int64"}, [{"a": [1]}, {"b": [1]}])
    with pytest.raises(ValueError):
        write_parquet(path, {"a": "int64", "b": "int64"}, [{"a": [1], "b": [1, 2]}])
    assert list(tmp_path.iterdir()) == []
    write_parquet(path, {"a": "int64"}, [])
    assert list(ArrowRows(str(path), [str(path)]).walk()) == []
    with pytest.raises(OutputExistsError):
        write_parquet(path, {"a": "int64"}, [])


def test_markdown_table():
    text = markdown.table(["a|b", "n"], [["x*y\nz", 1], ["_", 2.5]])
    assert text == "| a\\|b | n |\n| --- | ---: |\n| x\\*y<br>z | 1 |\n| \\_ | 2.5 |\n"
    with pytest.raises(ValueError, match="expected 2 cells, found 1"):
        markdown.table(["a", "b"], [[1]])


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain text, 3.5 and a-b", "plain text, 3.5 and a-b"),
        ("# no heading", "\\# no heading"),
        ("- no list\n  1. nor this", "\\- no list\n  1\\. nor this"),
        ("[a](b) <i> `c`", "\\[a\\](b) \\<i\\> \\`c\\`"),
        ("AT&T &amp; &#35;", "AT&T &amp;amp; &amp;\\#35;"),
    ],
)
def test_markdown_escape(text, escaped):
    assert markdown.escape(text) == escaped
