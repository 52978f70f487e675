"""Tables of texts: what others wrote is read back row by row, and labels find the same rows by the same ids."""

import csv
import io
import json
import random
import subprocess
import sys

import datasets
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import AlphabetError, InputError, UsageError
from longseq.formats import read
from longseq.formats.folders import files
from longseq.formats.table import is_table, read_header, read_table

datasets.disable_progress_bars()

KINDS = ["csv", "tsv", "jsonl", "parquet", "arrow", "feather", "folder"]
NASTY = 'Straße, "日本"\t語\r\n🏝️\n\n'


def write(folder, kind, columns, rows_at_once=2):
    """A table of these columns by another hand, named `t`; its path as text."""
    path = folder / ("t" if kind == "folder" else f"t.{kind}")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if kind in ("csv", "tsv"):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if kind == "tsv" else ",")
            writer.writerow(columns)
            writer.writerows(row.values() for row in rows)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "folder":
        shards = max(1, min(2, len(rows)))
        datasets.Dataset.from_dict(columns).save_to_disk(str(path), num_shards=shards)
    else:
        table = pyarrow.table(columns)
        if kind == "parquet":
            pyarrow.parquet.write_table(table, path, row_group_size=rows_at_once)
        else:
            new = pyarrow.ipc.new_stream if kind == "arrow" else pyarrow.ipc.new_file
            with new(str(path), table.schema) as writer:
                writer.write_table(table, max_chunksize=rows_at_once)
    return str(path)


def texts(source, **options):
    return [(r.id, "".join(r.pieces)) for r in read(source, **options)]


@pytest.mark.parametrize("kind", KINDS)
def test_any_table(tmp_path, kind):
    path = write(
        tmp_path, kind, {"id": ["a", "b", ""], "title": ["T", "", ""], "text": [NASTY, "", "x"], "n": [1, 2, 3]}
    )
    reading = read(path)
    found = [(r.id, r.description, "".join(r.pieces), r.index, r.length) for r in reading]
    assert found == [("a", "T", NASTY, 0, len(NASTY)), ("b", "", "", 1, 0), ("t:3", "", "x", 2, 1)]
    assert reading.kind == "document" and reading.format.kind == "document"
    assert reading.position == reading.size or kind in ("arrow", "folder")
    table = read_table(path, ["n"])
    assert table.columns == ("n",) and [(row.id, row.cells) for row in table.rows] == [
        ("a", {"n": "1"}),
        ("b", {"n": "2"}),
        ("t:3", {"n": "3"}),
    ]
    assert is_table(path) and read_header(path) == (("id", "title", "text", "n"), "text")


TEXTS = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cc",))), min_size=1, max_size=7)


@given(TEXTS, st.booleans(), st.integers(1, 4), st.sampled_from([k for k in KINDS if k != "folder"]))
def test_what_was_written_is_read(tmp_path_factory, texts_, named, rows_at_once, kind):
    """Same texts and ids, whatever the row groups; in both readers."""
    columns = {"text": texts_} | ({"id": [f"r{i}" for i in range(len(texts_))]} if named else {})
    path = write(tmp_path_factory.mktemp("any"), kind, columns, rows_at_once)
    ids = [f"r{i}" if named else f"t:{i + 1}" for i in range(len(texts_))]
    assert texts(path, kind="document") == list(zip(ids, texts_, strict=True))
    assert texts(path, kind="document", read_block=3) == list(zip(ids, texts_, strict=True))
    assert [row.id for row in read_table(path, ["text"]).rows] == ids


@pytest.mark.parametrize("container", ["gzip", "zstd", "bzip2", "xz"])
def test_packed_text_tables(make, pack, container):
    path = make("t.csv.gz", pack(container, b'text,n\none,1\n\n"two\nlines",2\n'))
    found = [(r.id, r.line, "".join(r.pieces)) for r in read(path)]
    assert found == [("t:1", 2, "one"), ("t:2", 5, "two\nlines")]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("container", ["gzip", "zstd"])
def test_packed_binary_tables_are_refused(tmp_path, make, pack, kind, container):
    with open(write(tmp_path, kind, {"text": ["x"]}), "rb") as file:
        path = make("packed", pack(container, file.read()))
    for reader in (read, read_table):
        with pytest.raises(InputError, match=f"expected a file of {kind}, found it packed by {container}; unpack it"):
            reader(path)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_chosen(tmp_path, kind):
    path = write(tmp_path, kind, {"body": ["one", "two"], "other": ["eins", "zwei"], "n": [1, 2]})
    assert texts(path, text="other") == [("t:1", "eins"), ("t:2", "zwei")]
    for asked, name, near in ((None, "text", ""), ("boddy", "boddy", " did you mean body?")):
        with pytest.raises(InputError) as caught:
            read(path, text=asked)
        assert str(caught.value) == (
            f"{path}: expected a column '{name}', found the columns body, other, n;{near}"
            " name the one with the texts: --column NAME, in training data.text"
        )
    with pytest.raises(InputError, match="expected a column 'm', found the columns body, other, n"):
        read_table(path, ["n", "m"])


def test_the_only_column_of_text_is_found(tmp_path):
    for kind in KINDS:
        columns = {"id": ["a"], "review": ["good"], "label": ["x"], "stars": [5]}
        found = read_header(write(tmp_path, kind, columns)).text
        assert found == (None if kind in ("csv", "tsv") else "review")  # there everything may be text
    assert texts(write(tmp_path, "csv", {"review": ["good", "", "a,b"]})) == [
        ("t:1", "good"),
        ("t:2", ""),
        ("t:3", "a,b"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_dna_in_tables(tmp_path, kind):
    path = write(tmp_path, kind, {"sequence": ["ACGTNacgtnACGT", "AC GT", ""], "label": [0, 1, 0]})
    reading = read(path)
    assert reading.kind == "dna"
    assert [(r.id, b"".join(r.pieces), r.length) for r in reading] == [
        ("t:1", b"ACGTNacgtnACGT", 14), ("t:2", b"ACGT", 4), ("t:3", b"", 0)
    ]  # fmt: skip
    assert texts(path, kind="document")[1] == ("t:2", "AC GT")
    path = write(tmp_path, kind, {"sequence": ["the sea"]})
    assert read(path).kind == "document"
    with pytest.raises(AlphabetError, match=r"\(t:1\): expected a DNA letter, found 'e' at base 3"):
        b"".join(next(read(path, kind="dna")).pieces)
    assert [b"".join(r.pieces) for r in read(path, kind="dna", on_unknown="N")] == [b"thnsna"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow", "feather", "folder"])
def test_nulls_and_numbers(tmp_path, kind):
    path = write(tmp_path, kind, {"text": [None, "x"], "n": [None, 3], "x": [0.1, None], "b": [True, None],
                                  "l": [["a", "b"], []]})  # fmt: skip
    assert texts(path) == [("t:1", ""), ("t:2", "x")]
    assert [row.cells for row in read_table(path).rows] == [
        {"text": "", "n": "", "x": "0.1", "b": "true", "l": "a;b"},
        {"text": "x", "n": "3", "x": "", "b": "", "l": ""},
    ]
    bad = list(read(path, text="n"))
    assert "".join(bad[0].pieces) == ""
    with pytest.raises(InputError, match=r":2: expected a field 'n' that holds text, found 3"):
        "".join(bad[1].pieces)


def test_a_bad_row_is_a_record_that_raises(make):
    path = make("a.csv", b'id,text\na,one\nb\n,"c"d\ne,two\nf,"open\n')
    got = {}
    for record in read(path):
        try:
            got[record.id] = "".join(record.pieces)
        except InputError as error:
            got[record.id] = str(error)
    remedy = "; a cell that begins with a quotation mark ends with one, and doubles those inside"
    assert got == {
        "a": "one",
        "a:2": f"{path}:3: expected 2 cells (id, text), found 1",
        "a:3": f"{path}:4: expected a row of a table, found ',' expected after '\"'{remedy}",
        "e": "two",
        "a:5": f"{path}:6: expected a row of a table, found unexpected end of data{remedy}",
    }
    with pytest.raises(InputError, match=r"a\.csv:3: expected 2 cells"):
        read_table(path)


def test_a_cut_table(make, pack):
    whole = b"id,text\n" + b"".join(b"r%d,text\n" % i for i in range(40))
    path = make("a.csv", pack("bgzf", whole)[:-28])
    reading = read(path)
    found = [(r.id, "".join(r.pieces), r.truncated) for r in reading]
    assert reading.truncated and found == [(f"r{i}", "text", i == 39) for i in range(40)]
    with pytest.raises(InputError, match="ends early"):
        read_table(path)
    path = make("b.csv", pack("bgzf", b"id,text\na,b\nc")[:-28])
    assert [(r.id, "".join(r.pieces), r.truncated) for r in read(path)] == [("a", "b", False), ("b:2", "", True)]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather"])
def test_damaged_binary_tables(tmp_path, kind):
    path = write(tmp_path, kind, {"text": ["some words"] * 100})
    with open(path, "r+b") as file:
        file.truncate(file.seek(0, io.SEEK_END) // 2)
    for reader in (lambda: list(read(path)), lambda: read_table(path)):
        with pytest.raises(InputError, match=rf"t\.{kind}: is damaged or ends early .*; copy or download"):
            reader()


def test_bytes_that_are_no_text(tmp_path, make):
    bad = pyarrow.array([b"one", b"caf\xe9", b"two"]).cast(pyarrow.binary())
    bad = pyarrow.Array.from_buffers(pyarrow.string(), 3, bad.buffers())
    pyarrow.parquet.write_table(pyarrow.table({"text": bad}), tmp_path / "t.parquet")
    found = list(read(tmp_path / "t.parquet"))
    with pytest.raises(InputError, match=r"t\.parquet:2: expected UTF-8 text, found byte 0xe9"):
        "".join(found[1].pieces)
    assert "".join(found[2].pieces) == "two"
    with pytest.raises(InputError, match=r"a\.csv:3: expected UTF-8 text, found byte 0xe9; convert it"):
        list(read(make("a.csv", b"text\none\ncaf\xe9\n")))


def test_saved_data_sets(tmp_path):
    features = datasets.Features(
        text=datasets.Value("string"),
        label=datasets.ClassLabel(names=["neg", "pos"]),
        tags=datasets.Sequence(datasets.ClassLabel(names=["u", "v"])),
    )
    parts = {
        name: datasets.Dataset.from_dict(
            {"text": [f"{name} {i}" for i in range(5)], "label": [0, 1, -1, 0, 1], "tags": [[0, 1], [1], [], [0], []]},
            features=features,
        )
        for name in ("train", "test")
    }
    datasets.DatasetDict(parts).save_to_disk(str(tmp_path / "both"), num_shards={"train": 3, "test": 1})
    root = str(tmp_path / "both")
    assert files([root]) == (f"{root}/test", f"{root}/train")
    assert texts(f"{root}/train") == [(f"train:{i + 1}", f"train {i}") for i in range(5)]
    table = read_table(root, ["label", "tags"])
    assert [row.id for row in table.rows] == [f"{name}:{i + 1}" for name in ("test", "train") for i in range(5)]
    assert [row.cells["label"] for row in table.rows] == ["neg", "pos", "", "neg", "pos"] * 2
    assert [row.cells["tags"] for row in table.rows] == ["u;v", "v", "", "u", ""] * 2
    assert table.where(table.rows[7]) == f"{root}/train:3"
    with pytest.raises(InputError, match="is a directory"):
        read(root)
    state = json.loads((tmp_path / "both" / "train" / "state.json").read_text())
    (tmp_path / "both" / "train" / "state.json").write_text(json.dumps(state | {"_indices_data_files": [{}]}))
    with pytest.raises(InputError, match=r"train: expected a data set with its rows in order, found a choice of rows"):
        files([root])
    (tmp_path / "both" / "train" / "state.json").write_text("{}")  # some program's own
    assert f"{root}/train/state.json" in files([root])


def test_wrong_requests(tmp_path, make):
    with pytest.raises(InputError, match=r"t\.csv: holds no csv record"):
        list(read(make("t.csv", b"text,n\n")))
    with pytest.raises(InputError, match=r"t\.csv:1: expected names of columns once each, found 'a' twice"):
        read(make("t.csv", b"a,a\n1,2\n"))
    pyarrow.parquet.write_table(pyarrow.table([[1], [2]], ["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: expected names of columns once each, found 'a' twice"):
        read(tmp_path / "t.parquet")
    with pytest.raises(UsageError, match="kind: expected 'dna' or 'document'"):
        read(tmp_path / "t.parquet", kind="rna")


PEAK = """
import sys
from longseq.formats import read
from longseq.formats.table import read_table
total = sum(len(piece) for record in read(sys.argv[1]) for piece in record.pieces)
assert len(read_table(sys.argv[1], ["label"]).rows) * 6000 == total == int(sys.argv[2])
with open("/proc/self/status") as file:  # the peak that getrusage tells begins with that of the parent
    print(*(line.split()[1] for line in file if line.startswith("VmHWM")))
"""


@pytest.mark.parametrize("rows_at_once", [300, 10**9])
@pytest.mark.parametrize("larger", [6000, pytest.param(50_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_no_table_is_held(tmp_path, kind, larger, rows_at_once):
    """Peak memory of 36 MB (slow: 300 MB) of text is that of 9 MB, in one row group too; labels hold no text."""
    noise, peaks = random.Random(0).randbytes(1 << 19).hex(), []
    for rows in (1500, larger):
        starts = random.Random(0).choices(range(len(noise) - 6000), k=rows)
        columns = {"text": [noise[at : at + 6000] for at in starts], "label": [i % 2 for i in range(rows)]}
        path = write(tmp_path, kind, columns, rows_at_once if kind == "parquet" else 300)
        told = subprocess.run([sys.executable, "-c", PEAK, path, str(6000 * rows)], capture_output=True, check=True)
        peaks.append(int(told.stdout) / 1024)
    assert peaks[1] < peaks[0] + 16 + larger / 2500  # MiB; a row of labels takes a few hundred bytes
