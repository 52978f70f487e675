"""Trees of HTML and XML elements. XML entities are never expanded, and nothing outside the bytes is read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html.entities import html5
from types import GeneratorType
from typing import Any

from longseq.errors import InputError
from longseq.formats.encoding import byte_order_mark, guess, wide

ELEMENTS = 1_000_000
"""Of a tree, which is held: 300 bytes each."""
PAIRS = 10**9
"""Of attributes of one element, in all elements of a page of HTML: its parser compares each with each before it."""
_LONG = 1000
"""Bytes of a tag before its attributes are counted."""
_TAG = re.compile(rb"""<[A-Za-z](?:[^>"']++|"[^"]*+"|'[^']*+')*+""")
_ATTRIBUTE = re.compile(rb"""[^\s=/>"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?""")
_SAID = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_NOT_ASCII = re.compile(rb"[^\x00-\x7f]")
_LIKE = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252"}
"""What is meant where a page names the smaller set (WHATWG Encoding Standard, section 4.2)."""
_PYTHONS = frozenset(["idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"])
"""Codecs of Python's own that no page is written in; some raise, and one takes a square of the page's length."""


def html(data: bytes, where: str) -> tuple[Any, str]:
    """The root of an HTML document, however broken, and its encoding: a mark's, its own word if true, or told.

    Raises:
        InputError: more than `ELEMENTS`, or than `PAIRS` of attributes, or deeper than 2048 elements: of those the
            parser would leave the rest of the page out.
    """
    from lxml import etree

    _require_few(data, where)

    text, encoding = decoded(data)
    # without huge_tree a page ends at the depth of 256, which <font> that nobody closes reaches
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    # libxml2 takes no zero bytes; a declaration of XML is no part of HTML
    data = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.replace("\0", "")).encode("utf-8", "replace")
    _require_few_attributes(data, where)
    root = etree.fromstring(data, parser) if data.strip() else None
    if any("Excessive depth" in entry.message for entry in parser.error_log):
        raise InputError(where=where, expected="HTML at most 2048 elements deep", found="a deeper page")
    return (etree.Element("html") if root is None else root), encoding


def xml(data: bytes, where: str) -> Any:
    """The root of an XML document.

    Raises:
        InputError: not well formed, more than `ELEMENTS`, deeper than 256 of them, or with entities of its own.
    """
    from lxml import etree

    _require_few(data, where)

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(where=where, expected="well-formed XML", found=str(error)) from None
    own = root.getroottree().docinfo.internalDTD
    if own is not None and any(True for _ in own.iterentities()):
        raise InputError(
            where=where, expected="XML without entities of its own", found="a declaration of them (they may be a bomb)"
        )
    return root


def _require_few(data: bytes, where: str) -> None:
    number = data.count(b"<") - data.count(b"</")
    if number > ELEMENTS:
        expected = f"at most {ELEMENTS:,} elements in a page or part"
        raise InputError(where=where, expected=expected, found=f"{number:,}", remedy="split it")


def _require_few_attributes(data: bytes, where: str) -> None:
    pairs = 0
    for tag in _TAG.finditer(data):
        if tag.end() - tag.start() >= _LONG:
            number = sum(1 for _ in _ATTRIBUTE.finditer(tag[0])) - 1  # the first is the name
            pairs += number * number
            if pairs > PAIRS:
                found = f"{number:,} in one"
                raise InputError(where=where, expected="elements of few attributes", found=found, remedy="leave it out")


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a page, and its encoding."""
    mark, encoding = byte_order_mark(data[:4])
    encoding = encoding or wide(data[: 1 << 16])
    if encoding is None and not data.isascii() and (first := _NOT_ASCII.search(data)):
        encoding = guess(data[first.start() :])
        said = _SAID.search(data[:2048])
        if said and encoding != "utf-8":
            name = said[1].decode().lower()
            try:
                known = codecs.lookup(name := _LIKE.get(name, name)).name
                if known not in _PYTHONS:
                    b"a".decode(name, "ignore")
                    encoding = "cp1252" if known.startswith("utf") else name
            except LookupError:
                pass  # a name that nobody knows, or of what makes no text
    encoding = encoding or "utf-8"
    return data[mark:].decode(encoding, "replace"), encoding


def local(element: Any) -> str:
    """Name without its namespace; empty for an entity."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """By name without its namespace; empty where there is none."""
    for key, value in element.attrib.items():
        if key.replace(":", "}").rpartition("}")[2] == name:
            return value
    return ""


def text_of(element: Any, skip: frozenset[str] = frozenset()) -> str:
    """All text inside an element but for elements of these names."""
    return "".join(unnested(_texts(element, skip)))


def unnested(walk: Iterator[Any]) -> Iterator[Any]:
    """What a walk yields; a generator among it stands for what that yields. So the depth of a tree takes no stack."""
    walks = [walk]
    while walks:
        for item in walks[-1]:
            if isinstance(item, GeneratorType):
                walks.append(item)
                break
            yield item
        else:
            walks.pop()


def _texts(element: Any, skip: frozenset[str]) -> Iterator[Any]:
    yield element.text or "" if isinstance(element.tag, str) else entity(element)
    for child in element:
        if local(child) not in skip or not isinstance(child.tag, str):
            yield _texts(child, skip)
        yield child.tail or ""


def entity(element: Any) -> str:
    """The character that an entity of HTML stands for; others are left out."""
    return html5.get(f"{element.name};", "") if hasattr(element, "name") else ""
