"""JATS XML, the articles of journals: title, abstract, sections; references, captions and notes known as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from longseq.errors import InputError, place
from longseq.formats.blocks import READ_BLOCK
from longseq.formats.containers import ByteStream
from longseq.formats.documents import alone
from longseq.formats.known import document_name
from longseq.formats.setting import Part, Setter, squeezed
from longseq.formats.trees import attribute, local, text_of, xml
from longseq.records import Layout, Record

VERSION = 1
"""Raised whenever the same article gives another text."""
LARGEST = 1 << 25
"""Bytes of a file, which is held whole: five times that in memory."""
_UNSPOKEN = frozenset(
    [
        "tex-math",
        "annotation",
        "alternatives",
        "object-id",
        "label-alternatives",
        "email",
        "ext-link-alternatives",
        "journal-meta",
        "contrib-group",
        "aff",
        "author-notes",
        "permissions",
        "history",
        "pub-date",
        "kwd-group",
        "counts",
        "custom-meta-group",
        "article-id",
        "article-categories",
        "volume",
        "issue",
        "fpage",
        "lpage",
        "elocation-id",
        "funding-group",
        "self-uri",
    ]
)
_SECTIONS = frozenset(["sec", "app", "ack", "ref-list", "glossary", "notes", "bio"])
_NOTES = frozenset(
    [
        "fig",
        "fig-group",
        "table-wrap-foot",
        "caption",
        "fn",
        "fn-group",
        "ref-list",
        "ref",
        "supplementary-material",
        "media",
        "ack",
    ]
)
_PLAIN = frozenset(["p", "verse-line", "attrib", "statement", "speech", "def", "term"])
_DISPLAYED = frozenset(
    [
        "list",
        "disp-quote",
        "boxed-text",
        "disp-formula",
        "preformat",
        "code",
        "fig",
        "table-wrap",
        "verse-group",
        "def-list",
    ]
)


def records(stream: ByteStream, *, format: str = "jats", read_block: int = READ_BLOCK) -> Iterator[Record]:
    """A record for each article of a file; its title is the record's description, its DOI or PMC number the id.

    Raises:
        InputError: no XML, too large, or with entities of its own.
    """
    where = place(stream.source)
    data = bytearray()
    while piece := stream.read():
        data += piece
        if len(data) > LARGEST:
            raise InputError(where=where, expected=f"at most {LARGEST:,} bytes of XML", found="more")
    root = xml(bytes(data), where)
    articles = [root] if local(root) == "article" else list(root.iter("{*}article"))
    for index, article in enumerate(articles):
        title = squeezed(next((text_of(e) for e in article.iter("{*}article-title")), ""))
        record = Record(
            id=_id(article) if len(articles) > 1 else document_name(stream.source),
            kind="document",
            source=stream.source,
            index=index,
            pieces=iter(()),
            description=title,
            notes={"format": format},
            layout=Layout(extractor=f"longseq.jats/{VERSION}", sectioned=True),
        )
        assert record.layout is not None
        yield from alone(record, Setter(record.layout).all(_article(article)))


def _id(article: Any) -> str:
    ids = {attribute(e, "pub-id-type"): text_of(e) for e in article.iterfind("{*}front//{*}article-id")}
    return ids.get("pmc") or ids.get("doi") or next(iter(ids.values()), "")


def _article(article: Any) -> Iterator[Part]:
    title = next(article.iterfind("{*}front//{*}title-group/{*}article-title"), None)
    if title is not None:
        yield Part("heading", text_of(title, _UNSPOKEN))
    for abstract in article.iterfind("{*}front//{*}abstract"):
        if abstract.find("{*}title") is None:
            yield Part("prose", "", 1, "Abstract")
        yield from _inside(abstract, 1, "prose")
    for name in ("body", "back", "sub-article", "response"):
        for element in article.iterfind("{*}" + name):
            if name in ("sub-article", "response"):
                yield from _article(element)
            else:
                yield from _inside(element, 0, "prose")


def _inside(element: Any, depth: int, part: str) -> Iterator[Part]:
    """Blocks of an element that holds blocks; sections in it lie below `depth`."""
    return _blocks(element, local(element) in _SECTIONS or local(element) == "abstract", depth, part)


def _blocks(elements: Iterable[Any], inside: bool, depth: int, part: str) -> Iterator[Part]:
    """Those of these elements, which lie in a section of their own or not (`inside`)."""
    for child in elements:
        name = local(child)
        if name in _UNSPOKEN or not name:
            continue
        if name in _SECTIONS:
            inner = "note" if name == "ref-list" else part
            yield from _inside(child, depth + 1, inner)
        elif name in ("title", "subtitle"):
            yield Part("heading", text_of(child, _UNSPOKEN), depth if name == "title" and inside else 0)
        elif name == "tr":
            cells = [squeezed(text_of(cell, _UNSPOKEN)) for cell in child]
            yield Part("table", " | ".join(cells))
        elif name in ("preformat", "code"):
            yield Part("code", text_of(child))
        elif name in _PLAIN or name == "mixed-citation" or name == "element-citation":
            yield from _paragraph(child, depth, part)
        elif name in ("list", "def-list"):
            yield from _inside(child, depth, "item" if part == "prose" else part)
        elif name == "disp-quote":
            yield from _inside(child, depth, "quote" if part == "prose" else part)
        elif name in _NOTES:
            yield from _inside(child, depth, "note")
        elif name in ("label", "article-title"):
            continue  # a number; the title was said
        else:
            yield from _inside(child, depth, part)


def _paragraph(element: Any, depth: int, part: str) -> Iterator[Part]:
    """Its text, cut where a list, a quotation or a figure stands inside it."""
    held = [element.text or ""]
    for child in element:
        name = local(child)
        if name in _DISPLAYED:
            yield Part(part, "".join(held))
            held = []
            yield from _blocks([child], False, depth, part)
        elif name not in _UNSPOKEN:
            held.append(text_of(child, _UNSPOKEN))
        held.append(child.tail or "")
    yield Part(part, "".join(held))
