"""DOCX: paragraphs, lists, tables, text boxes and footnotes in their order, insertions in and deletions out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.archive import Archive
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.documents import alone, seekable
from longseq.formats.known import document_name
from longseq.formats.setting import Part, Setter, squeezed
from longseq.formats.trees import attribute, local, text_of, xml
from longseq.records import Layout, Record

VERSION = 1
"""Raised whenever the same file gives another text."""
_OTHERS = {"xl/workbook.xml": "an Excel workbook", "ppt/presentation.xml": "a PowerPoint presentation"}
_HEADING = re.compile(r"heading\s*([1-9])$", re.IGNORECASE)
_SKIPPED = frozenset(["del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "rPr", "sdtPr", "fldData"])
"""Deletions, what fields are made of, properties, and the second copy of a text box."""
_LETTERS = {"tab": "\t", "br": " ", "cr": " ", "noBreakHyphen": "-", "softHyphen": ""}


def records(stream: ByteStream, *, format: str = "docx", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """The one document of a file; its title, where its properties have one, is the record's description.

    Raises:
        InputError: no DOCX, or damaged.
    """
    where = place(stream.source)
    with ExitStack() as opening:
        archive = Archive(opening.enter_context(seekable(stream)), where)
        main = _main(archive, where)
        record = Record(
            id=document_name(stream.source),
            kind="document",
            source=stream.source,
            index=0,
            pieces=iter(()),
            description=_title(archive, where),
            notes={"format": format},
            layout=Layout(extractor=f"longseq.docx/{VERSION}"),
        )
        opened = opening.pop_all()  # the pieces' to close: a record outlives its reader
    return alone(record, _pieces(_Walk(archive, main, where), record, opened))


def _pieces(walk: _Walk, record: Record, opened: ExitStack) -> Iterator[str]:
    assert record.layout is not None
    with opened:
        yield from Setter(record.layout).all(walk.blocks())


def _main(archive: Archive, where: str) -> str:
    for name, what in _OTHERS.items():
        if name in archive:
            raise InputError(where=where, expected="a Word document", found=what)
    if "_rels/.rels" in archive:
        for relation in xml(archive.read("_rels/.rels"), where):
            if attribute(relation, "Type").endswith("/officeDocument"):
                return archive.beside("", attribute(relation, "Target").lstrip("/"))
    if "word/document.xml" not in archive:
        raise InputError(where=where, expected="a Word document", found="a zip archive of something else")
    return "word/document.xml"


def _title(archive: Archive, where: str) -> str:
    if "docProps/core.xml" not in archive:
        return ""
    return squeezed(next((text_of(e) for e in xml(archive.read("docProps/core.xml"), where).iter("{*}title")), ""))


class _Walk:
    """Through the body of a document (ECMA-376, part 1, section 17)."""

    def __init__(self, archive: Archive, main: str, where: str):
        self._root = xml(archive.read(main), where)
        self._depths: dict[str, int] = {}
        self._kinds: dict[str, str] = {}
        self._notes: dict[tuple[str, str], Any] = {}
        folder = main.rpartition("/")[0]
        if (name := f"{folder}/styles.xml") in archive:
            self._styles(xml(archive.read(name), where))
        for kind in ("footnote", "endnote"):
            if (name := f"{folder}/{kind}s.xml") in archive:
                for note in xml(archive.read(name), where):
                    if attribute(note, "type") not in ("separator", "continuationSeparator", "continuationNotice"):
                        self._notes[(kind, attribute(note, "id"))] = note

    def _styles(self, root: Any) -> None:
        """What each style makes: a heading, by name or outline level, its own or of the one it is based on."""
        styles = {attribute(e, "styleId"): e for e in root.iter("{*}style")}
        based = {key: _value(style, "basedOn") for key, style in styles.items()}
        told: dict[str, tuple[int, str]] = {}  # what a style is, with those that it is based on
        for key in styles:
            chain, at = [], key
            while at in styles and at not in told:
                told[at] = (0, "")  # so that a circle ends
                chain.append(at)
                at = based[at]
            depth, kind = told.get(at, (0, ""))
            for at in reversed(chain):
                name = _value(styles[at], "name")
                heading = _HEADING.match(name)
                if heading or _level(styles[at]):
                    depth, kind = int(heading[1]) if heading else _level(styles[at]), ""
                else:
                    kind = kind or _kind(name.lower())
                told[at] = (depth, kind)
        self._depths = {key: depth for key, (depth, _) in told.items() if depth}
        self._kinds = {key: kind for key, (_, kind) in told.items() if kind}

    def blocks(self) -> Iterator[Part]:
        body = next(self._root.iter("{*}body"), self._root)
        yield from self._inside(body)

    def _inside(self, element: Any) -> Iterator[Part]:
        for child in element:
            name = local(child)
            if name == "p":
                yield from self._paragraph(child)
            elif name == "tbl":
                yield from self._table(child)
            elif name not in _SKIPPED:
                yield from self._inside(child)

    def _paragraph(self, element: Any) -> Iterator[Part]:
        boxes: list[Any] = []
        notes: list[Any] = []
        text = "".join(self._texts(element, boxes, notes))
        style = next((attribute(e, "val") for e in element.iterfind("{*}pPr/{*}pStyle")), "")
        depth = _level(element) or self._depths.get(style, 0)
        item = element.find("{*}pPr/{*}numPr") is not None
        part = "heading" if depth else self._kinds.get(style, "item" if item else "prose")
        yield Part(part, text, depth)
        for box in boxes:
            yield from self._inside(box)
        for note in notes:
            text = " ".join("".join(self._texts(p, [], [])) for p in note.iter("{*}p"))
            yield Part("note", text)

    def _table(self, element: Any) -> Iterator[Part]:
        rest: list[Any] = []
        for row in element.iterfind("{*}tr"):
            if row.find("{*}trPr/{*}del") is not None:
                continue
            cells = [cell for cell in row.iter("{*}tc") if next(cell.iterancestors("{*}tr")) is row]
            texts = [" ".join("".join(self._texts(p, rest, rest)) for p in cell.iter("{*}p")) for cell in cells]
            yield Part("table" if len(cells) > 1 else "prose", " | ".join(map(squeezed, texts)))
        for other in rest:  # boxes and notes of cells
            yield from (Part("note", "".join(self._texts(p, [], []))) for p in other.iter("{*}p"))

    def _texts(self, element: Any, boxes: list[Any], notes: list[Any]) -> Iterator[str]:
        """Text of runs; text boxes and notes that hang on them go to the lists."""
        for child in element:
            name = local(child)
            if name == "t":
                yield child.text or ""
            elif name in _LETTERS:
                yield _LETTERS[name]
            elif name in ("footnoteReference", "endnoteReference"):
                note = self._notes.pop((name.removesuffix("Reference"), attribute(child, "id")), None)
                if note is not None:  # each is told once: where it is first called
                    notes.append(note)
            elif name == "txbxContent":
                boxes.append(child)
            elif name == "r" and child.find("{*}rPr/{*}vanish") is not None:
                continue
            elif name not in _SKIPPED:
                yield from self._texts(child, boxes, notes)


def _value(style: Any, name: str) -> str:
    return next((attribute(e, "val") for e in style.iterfind("{*}" + name)), "")


def _level(element: Any) -> int:
    """Depth by an outline level of its own, 1 the outermost; 0 for body text."""
    level = next((attribute(e, "val") for e in element.iterfind("{*}pPr/{*}outlineLvl")), "9")
    return "012345678".index(level) + 1 if level in tuple("012345678") else 0


def _kind(name: str) -> str:
    """What a style of this name makes, where that is no heading of a section."""
    if name.startswith(("toc ", "caption", "footnote", "endnote", "header", "footer", "bibliography")):
        return "note"
    return "quote" if "quote" in name else "heading" if name == "title" else ""
