"""Hostile DOCX and EPUB files: bombs, a thousand names for one part, parts without end, ways out of the archive."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from limits_cases import GIB, MIB, Case, cases
from limits_documents import COUNT, ENTITIES

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = b"<Types/>"
CONTAINER = b"<container><rootfiles><rootfile full-path='book.opf'/></rootfiles></container>"
TEXT = "<p>The lamp was lit at dusk. It burned all night.</p>"


def all_cases() -> Iterator[Case]:
    for what, file, make in _files():
        yield from cases("archives", what, file, make, COUNT)


def document(body: str) -> bytes:
    return f"<w:document xmlns:w='{WORD}'><w:body>{body}</w:body></w:document>".encode()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(path: Path, main: bytes, more: dict[str, bytes] | None = None) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in {"[Content_Types].xml": TYPES, "word/document.xml": main, **(more or {})}.items():
            file.writestr(name, data)


def epub(path: Path, chapters: dict[str, bytes], *, named: dict[str, str] | None = None, spine: int = 0) -> None:
    """`named`: other names in the manifest; `spine`: so many times the first chapter in the spine."""
    names = [(named or {}).get(name, name) for name in chapters]
    items = "".join(
        f"<item id='c{i}' href='{name}' media-type='application/xhtml+xml'/>" for i, name in enumerate(names)
    )
    refs = "<itemref idref='c0'/>" * spine or "".join(f"<itemref idref='c{i}'/>" for i in range(len(names)))
    package = f"<package><manifest>{items}</manifest><spine>{refs}</spine></package>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        file.writestr("META-INF/container.xml", CONTAINER)
        file.writestr("book.opf", package)
        for name, data in chapters.items():
            file.writestr(name, data)


def _files() -> Iterator[tuple[str, str, Callable[[Path], object]]]:
    yield "DOCX: a part of 1 GiB, a thousand times packed", "flat.docx", _flat
    yield "DOCX: a part that says it is small", "lies.docx", _lies
    yield "DOCX: a thousand names of one packed part", "quine.docx", _overlapping
    yield "EPUB: 16 chapters of 15 MiB, a thousand times packed", "chapters.epub", _chapters
    yield "EPUB: one chapter of 1 MiB, 10,000 times in the spine", "again.epub", _again
    yield "DOCX: a zip in a zip in a zip", "nested.docx", _nested
    for number in (65_535, 200_000, 2_000_000):
        yield f"DOCX of {number:,} parts", "parts.docx", lambda path, number=number: _parts(path, number)
    yield (
        "EPUB of 10,000 chapters",
        "spine.epub",
        lambda path: epub(path, {f"{i}.xhtml": f"<html><body>{TEXT}</body></html>".encode() for i in range(10_000)}),
    )
    for size in (60, 250):
        yield (
            f"DOCX: a body of {size} MiB in short paragraphs",
            "long.docx",
            lambda path, size=size: docx(
                path, document("".join(paragraph(f"so it goes on {i}") for i in range(size * MIB // 52)))
            ),
        )
    yield (
        "DOCX: a million paragraphs deep",
        "deep.docx",
        lambda path: docx(path, document("<w:sdt>" * 1_000_000 + "</w:sdt>" * 1_000_000)),
    )
    for what, make in ENTITIES.items():
        body = document(paragraph("@"))
        yield f"DOCX with {what}", "entities.docx", lambda path, make=make, body=body: docx(path, make(body))
        page = b"<html><body><p>@</p></body></html>"
        yield (
            f"EPUB with {what}",
            "entities.epub",
            lambda path, make=make, page=page: epub(path, {"a.xhtml": make(page)}),
        )
    for name in ("../outside.xhtml", "/etc/hostname", "..%2f..%2fetc/hostname", "C:\\x.xhtml", "file:///etc/hostname"):
        yield (
            f"EPUB: a chapter named {name}",
            "way.epub",
            lambda path, name=name: epub(path, {"a.xhtml": TEXT.encode()}, named={"a.xhtml": name}),
        )
    yield (
        "DOCX: a main part named /etc/hostname",
        "way.docx",
        lambda path: docx(
            path,
            document(paragraph("a")),
            {"_rels/.rels": b"<r><x Type='http://x/officeDocument' Target='../../etc/hostname'/></r>"},
        ),
    )
    yield "EPUB: a chapter that is a symbolic link", "link.epub", _link


def _flat(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", TYPES)
        with file.open("word/document.xml", "w") as part:
            for _ in range(1024):
                part.write(b" " * MIB)


def _lies(path: Path) -> None:
    """Both places that tell the size say 1,000 bytes."""
    _flat(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<I", GIB), struct.pack("<I", 1000)))


def _overlapping(path: Path) -> None:
    """1,000 entries of the central directory point at one packed part of 16 MiB (Fifield 2019, WOOT 13)."""
    docx(path, document(" " * (16 * MIB - 1000)))
    data = path.read_bytes()
    at = data.index(b"PK\1\2")
    directory, end = data[at : data.rindex(b"PK\5\6")], data[data.rindex(b"PK\5\6") :]
    second = directory[directory.index(b"PK\1\2", 4) :]
    entries = b"".join(second.replace(b"word/document.xml", b"word/document%04d" % i) for i in range(1000))
    end = end[:8] + struct.pack("<HHI", 1002, 1002, len(directory) + len(entries)) + end[16:]
    path.write_bytes(data[:at] + directory + entries + end)


def _chapters(path: Path) -> None:
    epub(path, {f"{i}.xhtml": b"<html><body>" + b"<p>" * (5 * MIB) for i in range(16)})


def _again(path: Path) -> None:
    page = b"<html><body>" + TEXT.encode() * (MIB // len(TEXT)) + b"</body></html>"
    epub(path, {"a.xhtml": page}, spine=10_000)


def _nested(path: Path) -> None:
    data = bytes(16 * MIB)
    for _ in range(6):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
            for i in range(16):
                file.writestr(f"{i}.zip", data)
        data = buffer.getvalue()
    docx(path, document(paragraph("a")), {"word/embedded.zip": data})


def _parts(path: Path, number: int) -> None:
    """Written by hand: `zipfile` takes a minute to write so many."""
    names = [b"[Content_Types].xml", b"word/document.xml", *(b"p%07d" % i for i in range(number - 2))]
    bodies = {b"[Content_Types].xml": TYPES, b"word/document.xml": document(paragraph("The lamp was lit."))}
    parts, directory, at = [], [], 0
    for name in names:
        data = bodies.get(name, b"")
        facts = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, zlib.crc32(data), len(data), len(data), len(name), 0)
        parts.append(b"PK\3\4" + facts + name + data)
        directory.append(b"PK\1\2" + struct.pack("<H", 20) + facts + struct.pack("<HHHII", 0, 0, 0, 0, at) + name)
        at += len(parts[-1])
    size = sum(map(len, directory))
    end64 = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, number, number, size, at)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, at + size, 1)
    short = min(number, 65_535)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, short, short, size, at, 0)
    path.write_bytes(b"".join(parts) + b"".join(directory) + (end64 + locator if number > 65_535 else b"") + end)


def _link(path: Path) -> None:
    epub(path, {"a.xhtml": b"/etc/hostname"})
    data = path.read_bytes()
    at = data.rindex(b"PK\1\2")
    kind = struct.pack("<I", 0o120777 << 16)
    path.write_bytes(data[: at + 5] + b"\3" + data[at + 6 : at + 38] + kind + data[at + 42 :])
