"""Hostile documents: endless lines, deep nesting, entities, pages that point at themselves, folders that never end."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path

from limits_cases import GIB, MIB, Case, cases, of_bytes, packed, repeated

SUMMARY = "summarize {} --out out"
COUNT = "summarize {} --no-model --out out"
HTML, ARTICLE = b"<!doctype html><title>t</title><p>", b"<?xml version='1.0'?><article><body><p>"


def all_cases() -> Iterator[Case]:
    yield from _packed()
    yield from _lines()
    yield from _nested()
    yield from _entities()
    yield from _pdf()
    yield from _folders()


def _packed() -> Iterator[Case]:
    for how in ("gz", "zst"):
        text = packed(how, b"", b"The light was lit at dusk. ", 100 * GIB)
        yield from cases("packed", f"100 GiB of one sentence in {how}", f"bomb.txt.{how}", text, SUMMARY)
    page = packed("gz", HTML, b"<b>a</b>", 100 * GIB)
    yield from cases("packed", "100 GiB of HTML in gz", "bomb.html.gz", page, SUMMARY)


def _lines() -> Iterator[Case]:
    blank = repeated(b"", b"word", GIB)
    yield from cases("lines", "1 GiB of text without a blank or line feed", "word.txt", blank, "info {}")
    words = repeated(b"", b"so it goes on ", 4 * MIB)
    yield from cases("lines", "4 MiB of words without a line feed or stop", "words.txt", words, SUMMARY, honest=True)
    marks = repeated(b"# Title\n\n", b"#", GIB)
    yield from cases("lines", "1 GiB of one heading in Markdown", "heading.md", marks, "info {}")
    cell = repeated(b"id,text\n1,", b"text ", GIB)
    yield from cases("lines", "CSV with a cell of 1 GiB", "cell.csv", cell, COUNT)
    quote = repeated(b'id,text\n1,"', b"text\n", GIB)
    yield from cases("lines", "CSV with a quotation mark that never closes", "quote.csv", quote, COUNT)
    row = repeated(b'{"id": "1", "text": "', b"text ", GIB, b'"}\n')
    yield from cases("lines", "JSON lines with a line of 1 GiB", "line.jsonl", row, COUNT)
    tag = repeated(b"<!doctype html><p class='", b"a ", GIB, b"'>text</p>")
    yield from cases("lines", "HTML with a tag of 1 GiB", "tag.html", tag, COUNT)
    columns = of_bytes(lambda: ",".join(f"c{i}" for i in range(1_000_000)).encode() + b"\n" + b"1," * 999_999 + b"1\n")
    yield from cases("lines", "CSV of a million columns", "columns.csv", columns, COUNT)
    table = repeated(b"# T\n\n", b"| cell " * 1000 + b"|\n", 1000 * 7002)
    yield from cases("lines", "a Markdown table of a million cells", "table.md", table, "info {}")

    def lines(path: Path) -> None:
        path.write_text("".join(f"Sentence {i} of them all stands here.\n\n" for i in range(1_000_000)))

    yield from cases("lines", "a text of a million sentences", "sentences.txt", lines, "info {}")
    yield from cases("lines", "a text of a million sentences", "sentences.txt", lines, SUMMARY, honest=True)
    heads = lambda path: path.write_text("".join(f"# Part {i}\n\nIt is number {i} of all.\n\n" for i in range(20_000)))  # noqa: E731
    yield from cases("lines", "Markdown of 20,000 sections", "sections.md", heads, SUMMARY, honest=True)


def _nested() -> Iterator[Case]:
    deep = 1_000_000
    array = repeated(b'{"text": ', b"[", deep, b"]" * deep + b"}\n")
    yield from cases("nested", "JSON a million arrays deep", "deep.jsonl", array, COUNT)
    keys = repeated(b"", b'{"a":', 5 * deep, b"1" + b"}" * deep)
    yield from cases(
        "nested", "JSON a million objects deep", "deep.json", keys, "info {}", "train --config {} --out run"
    )
    toml = repeated(b"a = ", b"[", deep, b"]" * deep)
    yield from cases(
        "nested", "TOML a million arrays deep", "deep.toml", toml, "info {}", "train --config {} --out run"
    )
    dots = repeated(b"[", b"a.", 2 * deep, b"a]\n")
    yield from cases("nested", "TOML with a key of a million parts", "dots.toml", dots, "info {}")
    for name in (b"div", b"table", b"ul><li", b"a href='#'"):
        page = repeated(b"<!doctype html>", b"<" + name + b">", (len(name) + 2) * deep, b"text")
        yield from cases("nested", f"HTML a million <{name.decode()}> deep", "deep.html", page, COUNT)
    article = repeated(ARTICLE, b"<sec>", 5 * deep, b"text")
    yield from cases("nested", "JATS a million sections deep", "deep.xml", article, COUNT)
    quotes = repeated(b"", b"> ", 2 * deep, b"text\n")
    yield from cases("nested", "Markdown a million quotations deep", "deep.md", quotes, COUNT)
    wide = repeated(HTML, b"<p>text</p>", 60 * MIB)
    yield from cases("nested", "60 MiB of HTML in short elements", "wide.html", wide, COUNT)
    attributes = of_bytes(lambda: b"<!doctype html><p " + b" ".join(b"a%d=1" % i for i in range(deep)) + b">text")
    yield from cases("nested", "an HTML element of a million attributes", "attributes.html", attributes, COUNT)


def laughs(body: bytes) -> bytes:
    """Ten entities, each ten times the one before (a billion laughs)."""
    lines = [b'<!ENTITY a0 "ha">', *(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 10))]
    return b"<?xml version='1.0'?><!DOCTYPE article [" + b"".join(lines) + b"]>" + body.replace(b"@", b"&a9;")


def blowup(body: bytes) -> bytes:
    """One entity of 100 kB, 100,000 times (a quadratic blow-up)."""
    declared = b"<?xml version='1.0'?><!DOCTYPE article [<!ENTITY a '" + b"a" * 100_000 + b"'>]>"
    return declared + body.replace(b"@", b"&a;" * 100_000)


def outside(body: bytes) -> bytes:
    """An entity that is a file of this machine."""
    declared = b"<?xml version='1.0'?><!DOCTYPE article [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>"
    return declared + body.replace(b"@", b"&a;")


ENTITIES: dict[str, Callable[[bytes], bytes]] = {
    "a billion laughs": laughs,
    "a quadratic blow-up": blowup,
    "an external entity": outside,
}


def _entities() -> Iterator[Case]:
    for what, make in ENTITIES.items():
        for said, file, body in (
            ("JATS", "entities.xml", b"<article><body><p>@</p></body></article>"),
            ("XHTML", "entities.html", b"<html><body><p>@</p></body></html>"),
        ):
            made = of_bytes(lambda make=make, body=body: make(body))
            yield from cases("entities", f"{said} with {what}", file, made, COUNT)


def pdf(objects: list[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalog."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % at for at in places)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def stream(data: bytes, more: bytes = b"") -> bytes:
    return b"<</Length %d%s>>stream\n" % (len(data), more) + data + b"\nendstream"


_CATALOG, _FONT = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
_PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>"
_TEXT = b"BT /F 12 Tf 72 720 Td (The lamp was lit at dusk and burned all night.) Tj ET\n"


def _pdf() -> Iterator[Case]:
    def book(pages: int) -> bytes:
        kids = b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, b" ".join(repeat(b"3 0 R", pages)))
        return pdf([_CATALOG, kids, _PAGE, _FONT, stream(_TEXT)])

    def one(content: bytes) -> bytes:
        return pdf([_CATALOG, b"<</Type/Pages/Count 1/Kids[3 0 R]>>", _PAGE, _FONT, content])

    def bomb() -> bytes:
        pack = zlib.compressobj(9)
        packed = b"".join(pack.compress(_TEXT * (MIB // len(_TEXT))) for _ in range(2000)) + pack.flush()
        return one(stream(packed, b"/Filter/FlateDecode"))

    def twice() -> bytes:
        pack = zlib.compressobj(9)
        once = b"".join(pack.compress(bytes(MIB)) for _ in range(2000)) + pack.flush()
        return one(stream(zlib.compress(once), b"/Filter[/FlateDecode/FlateDecode]"))

    cycle = [_CATALOG, b"<</Type/Pages/Count 1/Kids[2 0 R]>>"]
    chain = [_CATALOG, *(b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % (i + 3) for i in range(100_000)), _PAGE]
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<</X 5 0 R>>>>"
    forms = [
        _CATALOG,
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        _PAGE.replace(b"/Font<</F 4 0 R>>", b"/XObject<</X 5 0 R>>"),
    ]
    forms += [_FONT, form + b"/Length 5>>stream\n/X Do\nendstream"]
    many = one(stream(_TEXT * 200_000))
    objects = b"1 0 2 9 <</Type/Catalog/Pages 2 0 R>> null"
    inside = pdf([_CATALOG, stream(objects, b"/Type/ObjStm/N 2147483647/First 8/Extends 2 0 R")])
    made = {
        "a PDF of 10,000 pages": lambda: book(10_000),
        "a PDF that declares 2^31-1 pages": lambda: book(1).replace(b"/Count 1/", b"/Count 2147483647/"),
        "a PDF whose tree of pages is a circle": lambda: pdf(cycle),
        "a PDF whose tree of pages is 100,000 deep": lambda: pdf(chain),
        "a PDF whose page draws itself": lambda: pdf(forms),
        "a PDF whose page inflates to 2 GiB": bomb,
        "a PDF whose page inflates twice": twice,
        "a PDF of 200,000 lines on a page": lambda: many,
        "a PDF of objects in objects": lambda: inside,
        "a PDF of nested arrays": lambda: pdf(
            [b"<</Type/Catalog/Pages " + b"[" * 1_000_000 + b"]" * 1_000_000 + b">>"]
        ),
    }
    for what, make in made.items():
        yield from cases("pdf", what, "book.pdf", of_bytes(make), SUMMARY, honest="10,000 pages" in what)
    yield from cases("pdf", "a PDF of 100,000 pages", "book.pdf", of_bytes(lambda: book(100_000)), "info {}")
    yield from cases("pdf", "a PDF whose page inflates to 2 GiB", "book.pdf", of_bytes(bomb), "info {}")


def _folders() -> Iterator[Case]:
    def folder(path: Path) -> None:
        path.mkdir()
        (path / "a.txt").write_text("The lamp was lit at dusk. It burned all night.\n")

    def fifo(path: Path) -> None:
        folder(path)
        os.mkfifo(path / "b.txt")

    def device(path: Path) -> None:
        folder(path)
        (path / "b.txt").symlink_to("/dev/zero")

    def circle(path: Path) -> None:
        folder(path)
        (path / "inside").mkdir()
        (path / "inside" / "up").symlink_to(path, target_is_directory=True)
        (path / "c.txt").symlink_to("c.txt")

    def many(path: Path) -> None:
        path.mkdir()
        for i in range(100_000):
            (path / f"{i}.txt").write_text("A word.\n")

    for what, make in {
        "a folder with a named pipe in it": fifo,
        "a folder with a link to an endless device": device,
        "a folder with links in a circle": circle,
    }.items():
        yield from cases("folders", what, "folder", make, COUNT, "train {} --out run --dry-run")
    yield from cases("folders", "a folder of 100,000 files", "folder", many, "info {}")
    yield from cases("folders", "a folder of 100,000 files", "folder", many, COUNT, honest=True)
    yield from cases("folders", "a named pipe that nobody writes to", "pipe.fa", os.mkfifo, "info {}")
    yield from cases(
        "folders", "an endless device", "zeros", lambda path: path.symlink_to("/dev/zero"), SUMMARY, "info {}"
    )
