"""What a page of a PDF unpacks to, measured before PDFium is given it, which has no bounds of its own."""

from __future__ import annotations

import base64
import re
import zlib
from collections import Counter
from typing import Any

PAGE = 1 << 23
"""Bytes, unpacked, of all that a page draws; PDFium takes up to 25 times that in memory, and 0.6 s a mebibyte."""
FONT = 1 << 26
"""Bytes, unpacked, of a font or of its table of characters."""
DEPTH = 30
"""Forms inside one another."""
_DRAWS = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+Do\b")
_FONTS = ("/FontFile", "/FontFile2", "/FontFile3")
_SHORT = {"/Fl": "/FlateDecode", "/A85": "/ASCII85Decode"}


class Heavy(Exception):  # noqa: N818 - never leaves this folder
    """More than a page may have."""


class Damaged(Exception):  # noqa: N818 - never leaves this folder
    """A stream that does not inflate to its end."""


class Scale:
    """Weighs the pages of one document; a font is looked at once."""

    def __init__(self) -> None:
        self._fonts: set[int] = set()

    def __call__(self, page: Any) -> int:
        """Bytes that a page draws; a form counts each time that it is drawn.

        Raises:
            Damaged: what the page draws is not whole.
            Heavy: it is more than `PAGE`, or a font more than `FONT`.
        """
        contents = page["/Contents"].get_object() if "/Contents" in page else []
        streams = [part.get_object() for part in contents] if isinstance(contents, list) else [contents]
        parts, left = [], PAGE
        for stream in streams:
            parts.append(unpacked(stream, left))
            left -= len(parts[-1])
        resources = page.get("/Resources")
        self._weigh_fonts(resources)
        return self._drawn(b"\n".join(parts), resources, {}, 0)

    def _drawn(self, data: bytes, resources: Any, known: dict[int, int], depth: int) -> int:
        if depth > DEPTH:
            raise Heavy
        total, named = len(data), _dictionary(resources, "/XObject")
        for name, times in Counter(_DRAWS.findall(data)).items() if named else ():
            total += times * self._form(named, "/" + name.decode("utf-8", "replace"), resources, known, depth)
            if total > PAGE:
                raise Heavy
        return total

    def _form(self, named: Any, name: str, resources: Any, known: dict[int, int], depth: int) -> int:
        form = named.get(name)
        key = getattr(form, "idnum", None) or id(form)
        if key not in known:
            known[key] = 0  # one that draws itself is not drawn again
            form = None if form is None else form.get_object()
            if form is not None and form.get("/Subtype") == "/Form":
                try:
                    data = unpacked(form, PAGE)
                except Damaged:
                    return 0
                own = form.get("/Resources", resources)
                self._weigh_fonts(own)
                known[key] = self._drawn(data, own, known, depth + 1)
        return known[key]

    def _weigh_fonts(self, resources: Any) -> None:
        fonts = _dictionary(resources, "/Font") or {}
        for reference in fonts.values():
            key = getattr(reference, "idnum", None) or id(reference)
            if key in self._fonts:
                continue
            self._fonts.add(key)
            font = reference.get_object()
            below = font.get("/DescendantFonts", [])
            for one in (font, *(part.get_object() for part in below.get_object())) if below else (font,):
                described = _dictionary(one, "/FontDescriptor") or {}
                for stream in (one.get("/ToUnicode"), *(described.get(key) for key in _FONTS)):
                    try:
                        if stream is not None and hasattr(stream.get_object(), "_data"):
                            unpacked(stream.get_object(), FONT)
                    except Damaged:
                        pass


def _dictionary(owner: Any, key: str) -> Any:
    owner = owner.get_object() if owner is not None else {}
    return owner[key].get_object() if key in owner else None


def unpacked(stream: Any, most: int) -> bytes:
    """The bytes of a stream object; those of a packing that is not known here as they are.

    Raises:
        Damaged: they do not inflate to their end.
        Heavy: they are more than `most`.
    """
    data: bytes = stream._data
    filters = stream.get("/Filter", [])
    filters = filters.get_object() if hasattr(filters, "get_object") else filters
    for name in filters if isinstance(filters, list) else [filters]:
        name = _SHORT.get(str(name), str(name))
        if name == "/ASCII85Decode":
            try:
                data = base64.a85decode(b"<~" + data.strip().removeprefix(b"<~"), adobe=True)
            except ValueError:
                raise Damaged from None
        elif name == "/FlateDecode":
            data = _inflated(data, most)
        else:
            break
    if len(data) > most:
        raise Heavy
    return data


def _inflated(data: bytes, most: int) -> bytes:
    inflate = zlib.decompressobj()
    try:
        found = inflate.decompress(data.rstrip(b"\r\n"), most + 1)
    except zlib.error:
        raise Damaged from None
    if len(found) > most:
        raise Heavy
    return found
