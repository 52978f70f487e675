"""Readers of documents and tables of them."""

from __future__ import annotations

import io
import re
import zipfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

from fuzzing import HERE, Target

from longseq.errors import LongseqError
from longseq.formats import read
from longseq.formats.table import read_table
from longseq.tasks.info import describe

PART = re.compile(rb"^=== (.*)\n", re.MULTILINE)
"""The line above each part of an archive that is laid out as text."""
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"\x84\x31\x95\x33", b"\x1f\x8b")
LETTERS = (b"\x82\xa0", b"\xc4\xe3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe2\x80\xa8", b"\r", b"\0")
XML = b"<!DOCTYPE a [ <!ENTITY <!ATTLIST ]> &a; <![CDATA[ ]]> <!-- --> <? ?> </ /> > xmlns= encoding= &#xD800;".split()
HTML = b"<html> <body> <head> <title> <main> <article> <header> <table> <tr> <td> <div> <p> <b> <li> <ul> <ol>".split()
HTML += b"<h1> <pre> <math> <br> <script> </html> class= role= hidden style= charset= undefined idna punycode".split()
JATS = b"<article> <body> <sec> <p> <list> <disp-quote> <fig> <front> <sub-article> <abstract> <title> <tr>".split()
WORD = b"<w:p> <w:tbl> <w:tr> <w:tc> <w:txbxContent> <w:r> <w:t> w:id= w:val= <w:basedOn <w:outlineLvl".split()
BOOK = b"itemref idref= <item id= href= ../ %2e%2e/ nav toc media-type= full-path= navPoint".split()
ZIP = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"\1\0\x1c\0", b"\0\0")
PDF = b"obj endobj endstream xref trailer startxref << >> /Kids[ /Filter/FlateDecode /Type/ObjStm /Encrypt".split()
PDF += b"/Count /Length /Prev /Parent /ToUnicode beginbfrange endbfrange Tj Tm Do Tf BT /MediaBox /Rotate".split()
JSON = (*b'{"text": "id": "title": "sequence": \\ud800 NaN Infinity [[[[ {"a": null ] } true \\u0000'.split(), b'", "')
CELLS = (b'"', b'""', b",", b"\t", b"\n", b"\r", b"\r\n", b"text", b"id", b"\0", b"\xef\xbb\xbf", b"label", b",,,,,,,,")
COLUMNS = (b"PAR1", b"ARROW1", b"\x15", b"\x80\x01")
ARRAY = (*b"'descr': '|O' '<f4' 'shape': True ( [".split(), b"\x93NUMPY", b"\1\0", b"\3\0")


def walked(path: Path) -> None:
    """Every piece of every record, what raises in one notwithstanding."""
    fault: LongseqError | None = None
    with read(path, kind="document") as reading:
        for record in reading:
            try:
                deque(record.pieces, maxlen=0)
            except LongseqError as error:
                fault = error
    if fault is not None:
        raise fault


def every(*reads: Callable[[Path], object]) -> Callable[[Path], None]:
    """A reader that reads as all of these do."""

    def all_of(path: Path) -> None:
        fault: LongseqError | None = None
        for one in reads:
            try:
                one(path)
            except LongseqError as error:
                fault = error
        if fault is not None:
            raise fault

    return all_of


def informed(path: Path) -> None:
    describe(str(path))


TABLE = every(walked, read_table, informed)


def zipped(name: str) -> Callable[[Path, bytes], Path]:
    """Writes an archive of the parts that text lays out: a line `=== NAME`, then what the part holds."""

    def lay(folder: Path, data: bytes) -> Path:
        _, *parts = PART.split(data)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for part, held in zip(parts[::2], parts[1::2], strict=True):
                info = zipfile.ZipInfo(part.decode("latin-1").replace("\0", "") or "a")
                info.compress_type = zipfile.ZIP_STORED if part == b"mimetype" else zipfile.ZIP_DEFLATED
                archive.writestr(info, held.removesuffix(b"\n"))
        path = folder / name
        path.write_bytes(file.getvalue() or b"PK")
        return path

    return lay


def saved(folder: Path, data: bytes) -> Path:
    """A folder of `Dataset.save_to_disk`, whose table these bytes are."""
    return _set(folder, (HERE / "seeds" / "data_set_state" / "state.json").read_bytes(), data)


def stated(folder: Path, data: bytes) -> Path:
    """Such a folder, whose `state.json` these bytes are."""
    return _set(folder, data, (HERE / "seeds" / "data_set" / "two.arrow").read_bytes())


def _set(folder: Path, state: bytes, table: bytes) -> Path:
    path = folder / "set"
    path.mkdir(exist_ok=True)
    (path / "state.json").write_bytes(state)
    (path / "data.arrow").write_bytes(table)
    return path


DOCUMENTS = (
    Target(name="text", file="a.txt", read=walked, words=(*MARKS, *LETTERS)),
    Target(
        name="told", file="a", read=every(walked, informed), words=(*MARKS, b"<!--", b"-->", b"](", b"{", b">", b"#")
    ),
    Target(name="html", file="a.html", read=walked, words=(*HTML, *XML, *MARKS)),
    Target(name="jats", file="a.xml", read=walked, words=(*JATS, *XML)),
    Target(name="docx_parts", file="a.docx", read=walked, words=(*WORD, *XML), lay=zipped("a.docx")),
    Target(name="docx", file="a.docx", read=walked, words=ZIP),
    Target(name="epub_parts", file="a.epub", read=walked, words=(*BOOK, *HTML, *XML), lay=zipped("a.epub")),
    Target(name="epub", file="a.epub", read=walked, words=ZIP),
    Target(name="pdf", file="a.pdf", read=walked, words=(*PDF,), examples=60),
    Target(name="jsonl", file="a.jsonl", read=TABLE, words=JSON),
    Target(name="csv", file="a.csv", read=TABLE, words=CELLS),
    Target(name="tsv", file="a.tsv", read=TABLE, words=CELLS),
    Target(name="parquet", file="a.parquet", read=TABLE, words=COLUMNS),
    Target(name="arrow", file="a.arrow", read=TABLE, words=COLUMNS),
    Target(name="data_set", file="set", read=TABLE, words=COLUMNS, lay=saved),
    Target(name="data_set_state", file="set", read=TABLE, words=JSON, lay=stated),
    Target(name="npy", file="a.npy", read=informed, words=ARRAY),
)
