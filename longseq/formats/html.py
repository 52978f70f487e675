"""HTML: what a reader of the page reads, without navigation, scripts and forms; headings begin sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.documents import alone
from longseq.formats.known import document_name
from longseq.formats.setting import Part, Setter, squeezed
from longseq.formats.trees import attribute, entity, html, local, text_of, unnested
from longseq.records import Layout, Record

VERSION = 3
"""Raised whenever the same page gives another text."""
LARGEST = 1 << 25
"""Bytes of a page, which is held whole: five times that in memory."""
MAIN = 0.5
"""Share of the page's text that its <main> or only <article> holds, to stand for the page."""

_HIDDEN = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "head",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "map",
        "form",
        "button",
        "select",
        "input",
        "textarea",
        "datalist",
        "dialog",
        "nav",
        "menu",
        "rp",
        "rt",
    ]
)
_ROLES = frozenset(
    [
        "navigation",
        "banner",
        "search",
        "contentinfo",
        "menu",
        "menubar",
        "toolbar",
        "dialog",
        "alert",
        "doc-toc",
        "doc-index",
    ]
)
_TYPES = frozenset(["toc", "landmarks", "page-list", "lot", "loi"])
_REFERENCES = frozenset(["footnote-reference", "footnote-ref", "link-target"])
"""Classes of a note's number (docutils, pandoc), and of the address that is printed behind a link (Sphinx)."""
_NOTES = frozenset(["footnote", "footnotes"])
"""Classes of notes themselves."""
_BLOCKS = {
    **dict.fromkeys(
        [
            "p",
            "div",
            "section",
            "article",
            "main",
            "address",
            "center",
            "dd",
            "dt",
            "figure",
            "details",
            "summary",
            "body",
            "hgroup",
        ],
        "",
    ),
    "li": "item",
    "blockquote": "quote",
    **dict.fromkeys(["figcaption", "caption", "aside", "footer"], "note"),
    **dict.fromkeys(["ul", "ol", "dl", "table", "tbody", "thead", "tfoot", "fieldset", "hr", "header", "html"], ""),
}
_HEADINGS = {f"h{n}": n for n in range(1, 7)}


def records(stream: ByteStream, *, format: str = "html", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """The one document of a file; its title is the record's description. Notes say its `encoding`.

    Raises:
        InputError: from the pieces, more than `LARGEST` bytes.
    """
    record = Record(
        id=document_name(stream.source),
        kind="document",
        source=stream.source,
        index=0,
        pieces=iter(()),
        notes={"format": format},
        layout=Layout(extractor=f"longseq.html/{VERSION}", sectioned=True),
    )
    root, encoding = html(_whole(stream), place(stream.source))
    record.description = squeezed(next((text_of(title) for title in root.iter("title")), ""))
    record.notes = {**record.notes, "encoding": encoding}
    record.truncated = stream.truncated
    assert record.layout is not None
    return alone(record, Setter(record.layout).all(blocks(_main(root))))


def _whole(stream: ByteStream) -> bytes:
    parts, size = [], 0
    while piece := stream.read():
        parts.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise InputError(where=place(stream.source), expected=f"at most {LARGEST:,} bytes of HTML", found="more")
    return b"".join(parts)


def _main(root: Any) -> Any:
    """The element that holds the page's own text, by its own word where that is most of the text."""
    total = len(squeezed(text_of(root, _HIDDEN)))
    for name in ("main", "article"):
        found = list(root.iter(name)) or [e for e in root.iter() if attribute(e, "role") == name]
        if len(found) == 1 and len(squeezed(text_of(found[0], _HIDDEN))) > MAIN * total:
            return found[0]
    return root


def blocks(root: Any, depth: int = 0) -> Iterator[Part]:
    """The blocks of an HTML tree in order; sections `depth` deeper than their headings say."""
    return _Walk(depth).walk(root)


class _Walk:
    """Gathers the text of the block at hand; a block that begins or ends hands out what was gathered."""

    def __init__(self, depth: int):
        self._depth = depth
        self._parts = ["prose"]
        self._text: list[str] = []
        self._letters = 0  # of that text
        self._linked = 0  # of them, those inside links

    def walk(self, root: Any) -> Iterator[Part]:
        return unnested(self.all(root))

    def all(self, root: Any) -> Iterator[Any]:
        """What `walk` gives, still nested."""
        yield self._element(root)
        yield self._flush()

    def _flush(self) -> Iterator[Part]:
        text, linked = "".join(self._text), self._linked
        self._text, self._letters, self._linked = [], 0, 0
        for line in text.split("\v"):
            if line := squeezed(line):
                # A list item that is all link is a menu, or a table of contents.
                menu = self._parts[-1] in ("item", "numbered") and linked >= 0.8 * len(line)
                yield Part("note" if menu else self._parts[-1], line)

    def _element(self, element: Any) -> Iterator[Any]:
        name = local(element).lower()
        if not name:
            self._add(entity(element))
            return
        if _skipped(element, name):
            return
        if name in _HEADINGS or name in ("pre", "table", "math"):
            yield self._whole(element, name)
        elif name == "br":
            self._add("\v")
        elif name in _BLOCKS:
            yield from self._flush()
            ordered = name == "li" and local(element.getparent()) == "ol"
            self._parts.append("numbered" if ordered else _BLOCKS[name] or self._parts[-1])
            said = any("footnote" in attribute(element, key) for key in ("type", "role"))
            if said or not _NOTES.isdisjoint(attribute(element, "class").split()):
                self._parts[-1] = "note"
            yield self._inside(element)
            yield from self._flush()
            self._parts.pop()
        else:
            before = self._letters
            yield self._inside(element)
            if name == "a" and attribute(element, "href"):
                self._linked += max(self._letters - before, 0)

    def _inside(self, element: Any) -> Iterator[Any]:
        self._add(element.text or "")
        for child in element:
            yield self._element(child)
            self._add(child.tail or "")

    def _add(self, text: str) -> None:
        self._text.append(text)
        self._letters += len(text)

    def _whole(self, element: Any, name: str) -> Iterator[Any]:
        if name == "math":
            self._add(attribute(element, "alttext") or text_of(element, frozenset({"annotation"})))
            return
        yield from self._flush()
        if name == "pre":
            yield Part("code", text_of(element))
        elif name == "table":
            yield _table(element, self._depth)
        else:
            text = "".join(unnested(_words(element)))
            yield Part("heading", text, self._depth + _HEADINGS[name])


def _table(element: Any, depth: int) -> Iterator[Any]:
    """Rows, their cells parted by ` | `; a table of one column lays out a page and is walked as such."""
    rows = list(unnested(_rows(element)))
    cells = [[cell for cell in row if local(cell) in ("td", "th")] for row in rows]
    for caption in element:
        if local(caption) == "caption":
            yield Part("note", "".join(unnested(_words(caption))))
    nested = any(cell.find(".//{*}table") is not None for row in cells for cell in row)
    layout = nested or all(len(row) <= 1 for row in cells)
    for row in cells:
        if layout:
            for cell in row:
                yield _Walk(depth).all(cell)
        else:
            yield Part("table", " | ".join(squeezed("".join(unnested(_words(cell)))) for cell in row))


def _rows(element: Any) -> Iterator[Any]:
    """Rows of a table, without those of tables in it."""
    for child in element:
        name = local(child)
        if name == "tr":
            yield child
        if name != "table":
            yield _rows(child)


def _words(element: Any) -> Iterator[Any]:
    """Text of a heading or a cell, without what is hidden and without links to itself."""
    yield element.text or ""
    for child in element:
        name = local(child).lower()
        if not name:
            yield entity(child)
        elif not _skipped(child, name):
            blank = " " if name in _BLOCKS or name == "br" else ""
            yield blank
            yield _words(child)
            yield blank
        yield child.tail or ""


def _skipped(element: Any, name: str) -> bool:
    if name in _HIDDEN or "hidden" in element.attrib or attribute(element, "role") in _ROLES:
        return True
    if name in ("header", "footer") and local(element.getparent()) == "body" and element.find(".//{*}h1") is None:
        return True
    if not _TYPES.isdisjoint(attribute(element, "type").split()):
        return True
    if name == "a" and (attribute(element, "type") == "noteref" or attribute(element, "role") == "doc-noteref"):
        return True  # a note's number is no part of the sentence
    style = attribute(element, "style").replace(" ", "")
    if "display:none" in style or "visibility:hidden" in style:
        return True
    classes = attribute(element, "class").split()
    if not _REFERENCES.isdisjoint(classes):
        return True
    return name == "a" and ("headerlink" in classes or (element.text or "").strip() in ("¶", "#"))
