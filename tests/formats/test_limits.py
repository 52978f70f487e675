"""Files that promise or unpack to more than anything honest are refused in one line, before time or memory is gone."""

import io
import os
import struct
import zlib
from array import array

import numpy as np
import packed
import pybigtools
import pypdf
import pytest
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from longseq.errors import InputError, alike
from longseq.formats import archive, containers, delimited, fastq, genbank, jsonl, pdf, read, trees, twobit, vcf
from longseq.formats.bigwig import Runs, write_runs
from longseq.formats.folders import files
from longseq.formats.pdf import pdfium, weight
from longseq.formats.table import read_table
from longseq.formats.vcf import VcfFile
from longseq.tasks.evaluate.texts import read_texts
from longseq.tasks.extract.examples import read_examples
from longseq.tasks.info import describe, sequences
from longseq.tasks.verify import claims
from longseq.training.journal import read_lines

MOST = 5000
"""A limit scaled down."""


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    return str(caught.value)


def letters(source):
    return [b"".join(record.pieces) for record in read(source)]


def texts(source):
    return ["".join(record.pieces) for record in read(source, kind="document")]


@pytest.mark.parametrize("container", ["gzip", "bzip2", "xz", "zstd"])
def test_a_bomb_is_refused_on_the_way(make, pack, monkeypatch, container):
    monkeypatch.setattr(containers, "FREE", 1 << 19)
    bomb = make("bomb.fa", pack(container, b">a\n" + b"A" * (3 << 20)))
    stream = containers.open_bytes(bomb)
    said = refusal(lambda: [None for _ in iter(stream.read, b"")])
    assert "unpacks to at most 600 times its size" in said and "unpack it first" in said
    assert stream.read() == b""  # and it is over
    assert "600 times" in refusal(lambda: letters(bomb))
    monkeypatch.setattr(containers, "FREE", 1 << 22)  # of a run of N at the start there may be so much
    assert len(letters(bomb)[0]) == 3 << 20


def test_folders_and_patterns_leave_out_what_may_never_end(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    (tmp_path / "lost.fa").symlink_to("gone.fa")
    os.mkfifo(tmp_path / "pipe.fa")
    (tmp_path / "zero.fa").symlink_to("/dev/zero")
    kept = (str(tmp_path / "a.fa"), str(tmp_path / "lost.fa"))  # that a link leads nowhere is said by its reader
    assert files([str(tmp_path)]) == kept and files([str(tmp_path / "*.fa")]) == kept
    assert files([str(tmp_path / "pipe.fa")]) == (str(tmp_path / "pipe.fa"),)  # named by someone who means it
    assert describe(str(tmp_path))["files"] == 2


def two(count, *runs, bases=9):
    """A 2bit file that declares so many records, and has one with these tables of runs."""
    head = struct.pack("<4IB1sI", 0x1A412743, 0, count, 0, 1, b"a", 22)
    return head + struct.pack("<I", bases) + b"".join(array("I", table).tobytes() for table in runs)


@pytest.mark.parametrize("declared", [2**31, 2**32 - 1])
def test_a_2bit_index_is_bounded(make, declared):
    said = refusal(lambda: letters(make("a.2bit", two(declared))))
    assert f"expected at most {twobit.MOST_RECORDS:,} records, found {declared:,}; " in said and "twoBitToFa" in said


def test_2bit_runs_are_bounded(make):
    found = make("a.2bit", two(1, [2, 0, 4, 3, 1], [1, 5, 2], [0]) + bytes(3))
    assert letters(found) == [b"NNNTNttTT"]
    said = refusal(lambda: letters(make("a.2bit", two(1, [2**31], bases=2**32 - 1))))
    assert f"at most {twobit.MOST_RUNS:,} runs" in said and "twoBitToFa" in said
    # an end past 32 bits is past the record
    assert "runs in order" in refusal(
        lambda: letters(make("a.2bit", two(1, [1, 2**32 - 2, 9], [0], [0], bases=2**32 - 1)))
    )


def test_lines_rows_and_cells_are_bounded(make, monkeypatch):
    for module, name in ((fastq, "LONGEST_READ"), (jsonl, "LONGEST_LINE"), (vcf, "LONGEST_ROW")):
        monkeypatch.setattr(module, name, MOST)
    monkeypatch.setattr(delimited, "LONGEST_CELL", MOST // 2)
    monkeypatch.setattr(delimited, "LONGEST_LINE", MOST)
    long = "word " * MOST
    assert "at most 5,000 bytes" in refusal(lambda: letters(make("a.fq", f"@a\n{'ACGT' * MOST}\n+\n".encode())))
    assert "at most 5,000 bytes" in refusal(lambda: texts(make("a.jsonl", b'{"text": "' + long.encode() + b'"}\n')))
    said = refusal(lambda: list(read(make("a.csv", f"id,text\n1,{long}".encode()), read_block=1000)))
    assert ":2: expected lines of at most 5,000 bytes" in said and "a file of its own" in said
    said = refusal(lambda: texts(make("b.csv", b'id,text\n1,"' + b"word\n" * MOST)))
    assert "field larger than field limit (2500)" in said


@pytest.mark.parametrize("head", ["LOCUS       A 4 bp DNA\nDEFINITION", "ID   A; SV 1; linear; DNA; STD; PRO; 4 BP."])
def test_the_definition_of_a_record_is_bounded(make, monkeypatch, head):
    monkeypatch.setattr(genbank, "DEFINITION", 3)
    line = "\nDE   some more" if head[0] == "I" else "  some more\n          "
    foot = "\nSQ   Sequence\n     acgt 4\n//\n" if head[0] == "I" else "\nORIGIN\n        1 acgt\n//\n"
    assert letters(make("a.gb", (head + line * 3 + foot).encode())) == [b"ACGT"]
    assert "at most 3 lines, found a longer one" in refusal(
        lambda: letters(make("b.gb", (head + line * 4 + foot).encode()))
    )


def test_the_header_of_a_vcf_is_bounded(make, monkeypatch):
    monkeypatch.setattr(vcf, "LONGEST_HEADER", MOST)
    columns = b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    made = make("a.vcf", b"##fileformat=VCF\n" + b"##a=b\n" * MOST + columns)
    assert "a header of at most 5,000 bytes" in refusal(lambda: VcfFile(made))


def test_many_columns_take_no_more_than_each(make):
    names = [f"c{i}" for i in range(11_000)]
    table = make("a.csv", (",".join(names) + "\n" + ",".join("1" * 11_000) + "\n").encode())
    assert read_table(table).columns == tuple(names)
    twice = make("b.csv", (",".join([*names, "c7"]) + "\n").encode())
    assert "found 'c7' twice" in refusal(lambda: read_table(twice))
    asked = iter(f"name{i}" for i in range(10**9))
    assert alike("name0", asked) == ["name0"] and next(asked) == "name10000"


def test_trees_are_bounded(make, monkeypatch):
    monkeypatch.setattr(trees, "ELEMENTS", 100)
    page = lambda number: b"<!doctype html>" + b"<p>a</p>" * number  # noqa: E731
    assert texts(make("a.html", page(90)))[0].count("a") == 90
    assert "at most 100 elements" in refusal(lambda: texts(make("a.html", page(101))))
    body = "<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 40
    assert "at most 100 elements" in refusal(lambda: texts(make("a.docx", packed.docx(body))))


def test_attributes_are_bounded(make, monkeypatch):
    """Each is compared with all before it; a long one is no matter."""
    monkeypatch.setattr(trees, "PAIRS", 200**2)
    page = lambda inside: b"<!doctype html><p>Dusk.<img " + inside + b">"  # noqa: E731
    many = [b"data-%d='a > b'" % i for i in range(201)]
    assert texts(make("a.html", page(b"src='data:," + b"d 1 > 0 " * 9000 + b"'"))) == ["Dusk.\n\n"]
    assert texts(make("a.html", page(b" ".join(many[1:])))) == ["Dusk.\n\n"]
    for between in (b" ", b"", b"\n"):
        said = refusal(lambda between=between: texts(make("a.html", page(between.join(many)))))
        assert "expected elements of few attributes, found 201 in one" in said


def test_letters_of_links_are_counted_once_each(make):
    """What was added up anew at each element took a time by the square of their number."""
    menu = b"<!doctype html><ul><li><a href='#'>Home</a><li>See <a href='#'>this</a> and that.</ul>"
    for record in read(make("a.html", menu)):
        assert "".join(record.pieces) == "Home\n\nSee this and that.\n\n"
        assert [mark.part for mark in record.layout.marks] == ["note", "item"]


def test_archives_are_bounded(make, monkeypatch):
    lamp = "<p>The lamp was lit at dusk.</p>"
    again = make("again.epub", packed.epub({"a": lamp}, spine=["a"] * 50))
    assert texts(again)[0].count("lamp") == 1  # a chapter stands in a spine once
    book = {f"c{i}": lamp + " " * 40_000 for i in range(9)}
    sound = make("book.epub", packed.epub(book, spine=list(book)))
    assert texts(sound)[0].count("lamp") == 9
    monkeypatch.setattr(archive, "SMALL", 100_000)
    monkeypatch.setattr(archive, "PACKED", 20)
    assert "of sound size" in refusal(lambda: texts(sound))  # each is small, but not all of them
    monkeypatch.setattr(archive, "DIRECTORY", 300)
    assert "a list of parts of at most 300 bytes" in refusal(lambda: texts(sound))


def test_the_list_of_parts_is_measured_before_it_is_read(make):
    """Beyond 65,535 parts a second record at the end of the archive says how long it is."""
    end = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 7) + b"comment"
    second = b"PK\6\6" + struct.pack("<Q2H2I4Q", 44, 45, 45, 0, 0, 2**30, 2**30, 2**40, 4)
    for size, tail in ((2**32 - 1, end), (2**40, second + b"PK\6\7" + struct.pack("<IQI", 0, 4, 1) + end)):
        with open(make("a.docx", b"PK\3\4[Content_Types].xml" + tail), "rb") as file:
            assert f"at most 4,194,304 bytes, found {size:,}" in refusal(lambda file=file: archive.Archive(file, "a"))


def test_info_looks_at_some_records(make, monkeypatch):
    many = make("a.fa", b">\n" * 30)
    assert describe(many)["records"] == 30 and describe(many)["whole"]
    monkeypatch.setattr(sequences, "RECORDS", 20)
    found = describe(many)
    assert found["records"] == 20 and not found["whole"]


def test_an_array_of_more_than_can_be_is_refused_in_one_line(tmp_path, recwarn):
    with open(tmp_path / "a.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (1 << 62, 4)})
    assert "expected an array of NumPy" in refusal(lambda: describe(str(tmp_path / "a.npy")))
    assert not recwarn.list  # it would stand on stderr


def test_scales_of_a_track_end_where_its_widths_do(tmp_path):
    """A scale of 2^32 bases a bin, the one past 2^30, does not fit the format."""
    length = 2**32 - 1
    start = np.arange(0, length - (1 << 16), 1 << 16)
    runs = Runs(np.zeros(len(start), np.int64), start, start + (1 << 16), (start % 7).astype(np.float32))
    assert write_runs(tmp_path / "x.bw", ["a"], [length], [runs])
    reader = pybigtools.open(str(tmp_path / "x.bw"))
    assert max(reader.zooms()) == 2**30 and reader.chroms() == {"a": length}


def test_a_summary_to_verify_is_bounded(make, monkeypatch):
    monkeypatch.setattr(claims, "LONGEST", 30)
    assert "at most 30 bytes" in refusal(lambda: list(claims.read_claims(make("summary.json", b"[" * 31))))


def sheet(content, filters="/FlateDecode", times=1):
    """A PDF of pages that all draw `content`, whose form `X` draws itself ten times."""
    writer = pypdf.PdfWriter()
    stream = StreamObject()
    stream._data, stream[NameObject("/Filter")] = content, NameObject(filters)
    form = StreamObject()
    form._data, form[NameObject("/Subtype")] = b"/Y Do " * 10, NameObject("/Form")
    inner = StreamObject()
    inner._data, inner[NameObject("/Subtype")] = b"0 0 m " * 100, NameObject("/Form")
    forms = DictionaryObject({NameObject("/X"): form, NameObject("/Y"): inner})
    for _ in range(times):
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Contents")] = stream
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): forms})
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("content", [bytes(MOST * 2), b"/X Do " * 100], ids=["inflates", "draws forms of forms"])
def test_a_page_that_unpacks_to_too_much_is_not_read(make, monkeypatch, content):
    monkeypatch.setattr(weight, "PAGE", MOST)
    monkeypatch.setattr(pdfium.PdfiumFile, "sheet", lambda *_: pytest.fail("PDFium was given the page"))
    monkeypatch.setattr(pdfium.PdfiumFile, "title", lambda *_: "A title")
    said = refusal(lambda: texts(make("a.pdf", sheet(zlib.compress(content)))))
    assert "found 1 without (large); extract its text first: pdftotext" in said


def test_pages_of_one_file_unpack_to_a_bounded_sum(make, monkeypatch):
    monkeypatch.setattr(pdf, "FREE", MOST)
    monkeypatch.setattr(pdf, "EXPANSION", 1)
    made = make("a.pdf", sheet(zlib.compress(b"0 0 m " * 800), times=9))
    assert "at most 1 times the size of the file, found more at page 2" in refusal(lambda: texts(made))


DEEP = "[" * 10**5 + "]" * 10**5


def test_json_from_elsewhere_is_bounded_in_depth(make, tmp_path):
    summary = '{"schema": "longseq.summary/1", "records": %s}'
    for inside, found in ((DEEP, "more than 100 deep"), ("[1]", "has no attribute"), ("7", "not iterable")):
        path = make("summary.json", (summary % inside).encode())
        assert found in refusal(lambda path=path: read_texts(path, None, (), "--x"))
        assert describe(path)["what"] == "summary"
    labels = make("labels.csv", f'id,sentences\na,"{DEEP}"\n'.encode())
    assert "sentences as JSON, found lists and objects more than" in refusal(lambda: read_examples(["a.txt"], labels))
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n' + DEEP + "\n")
    assert read_lines(tmp_path / "metrics.jsonl") == [{"step": 1}]
