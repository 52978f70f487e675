"""EPUB: the chapters in the order of its spine, without navigation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.archive import Archive
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.documents import alone, seekable
from longseq.formats.html import blocks
from longseq.formats.known import document_name
from longseq.formats.setting import Part, Setter, squeezed
from longseq.formats.trees import attribute, html, local, text_of, xml
from longseq.records import Layout, Record

VERSION = 3
"""Raised whenever the same book gives another text."""
_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/xml")


def records(stream: ByteStream, *, format: str = "epub", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """The one document of a file; the book's title is the record's description.

    A chapter without a heading of its own is named by the table of contents. Notes say how many `chapters` were read.

    Raises:
        InputError: no EPUB; from the pieces, a chapter that is missing or damaged.
    """
    where = place(stream.source)
    with ExitStack() as opening:
        archive = Archive(opening.enter_context(seekable(stream)), where)
        book = _Book(archive, where)
        record = Record(
            id=document_name(stream.source),
            kind="document",
            source=stream.source,
            index=0,
            pieces=iter(()),
            description=book.title,
            notes={"format": format, "chapters": len(book.spine)},
            layout=Layout(extractor=f"longseq.epub/{VERSION}", sectioned=True),
        )
        opened = opening.pop_all()  # the pieces' to close: a record outlives its reader
    return alone(record, _pieces(book, record, opened))


def _pieces(book: _Book, record: Record, opened: ExitStack) -> Iterator[str]:
    assert record.layout is not None
    setter = Setter(record.layout)
    with opened:
        for name in book.spine:
            chapter = list(blocks(_page(book.archive.read(name), record.source)))
            if name in book.titles and not any(block.part == "heading" for block in chapter):
                setter.set(Part("prose", "", 1, book.titles[name]))
            yield from setter.all(chapter)


def _page(data: bytes, where: str) -> Any:
    """XHTML where it is well formed, else whatever can be made of it."""
    try:
        return xml(data, where)
    except InputError:
        return html(data, where)[0]


class _Book:
    """What the package document says (EPUB 3.3, section 5)."""

    def __init__(self, archive: Archive, where: str):
        self.archive = archive
        container = xml(archive.read("META-INF/container.xml"), where)
        package = next((attribute(e, "full-path") for e in container.iter("{*}rootfile")), "")
        if not package:
            raise InputError(where=where, expected="a package document in the EPUB", found="none")
        package = archive.beside("", package)
        root = xml(archive.read(package), where)
        self.title = squeezed(next((text_of(e) for e in root.iter("{*}title")), ""))
        items = {attribute(e, "id"): e for e in root.iter("{*}item")}
        names = {key: archive.beside(package, attribute(e, "href")) for key, e in items.items() if _here(e)}
        navigation = {key for key, e in items.items() if "nav" in attribute(e, "properties").split()}
        guide = [e for e in root.iter("{*}reference") if attribute(e, "type") == "toc"]
        toc = {archive.beside(package, attribute(e, "href")) for e in guide} | {names.get(key) for key in navigation}
        pages = {key: name for key, name in names.items() if attribute(items[key], "media-type") in _PAGES}
        spine = [attribute(e, "idref") for e in root.iter("{*}itemref")]
        # a chapter stands in the spine once (EPUB 3.3, section 5.7.3)
        self.spine = list(dict.fromkeys(pages[key] for key in spine if key in pages and pages[key] not in toc))
        if not self.spine:
            raise InputError(where=where, expected="chapters in the EPUB's spine", found="none")
        self.titles: dict[str, str] = {}
        for key, element in items.items():
            if key in navigation or "dtbncx" in attribute(element, "media-type"):
                self._contents(names.get(key, ""), where)

    def _contents(self, name: str, where: str) -> None:
        """First title of each chapter in a table of contents, of EPUB 3 (links) or 2 (navPoint)."""
        if name not in self.archive:
            return
        root = xml(self.archive.read(name), where)
        for link in root.iter("{*}a", "{*}navPoint"):
            target, title = attribute(link, "href"), text_of(link)
            if local(link) == "navPoint":
                target = next((attribute(e, "src") for e in link.iter("{*}content")), "")
                title = next((text_of(e) for e in link.iter("{*}text")), "")
            if target and title.strip():
                self.titles.setdefault(self.archive.beside(name, target), squeezed(title))


def _here(item: Any) -> bool:
    """Whether a part lies in the archive; one on the network is left alone."""
    return "://" not in attribute(item, "href") and bool(attribute(item, "href"))
