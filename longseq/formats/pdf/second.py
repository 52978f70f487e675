"""PDF through pypdf: the second reader, for what the first one cannot open or finds nothing in."""

from __future__ import annotations

import base64
import logging
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from longseq.errors import InputError
from longseq.formats.pdf.order import Line

LARGEST = 1 << 20
"""Bytes inflated at a time."""
WIDTH, STEP = 5.0, 12.0
"""Points of a letter and of a line, where the reader does not say where letters stand."""


def _whole(data: bytes, filters: list[str]) -> bool:
    try:
        if filters[:1] == ["/ASCII85Decode"]:
            data, filters = base64.a85decode(b"<~" + data.strip().removeprefix(b"<~"), adobe=True), filters[1:]
    except ValueError:
        return False
    return filters != ["/FlateDecode"] or _inflates(data)


def _inflates(data: bytes) -> bool:
    inflate, data = zlib.decompressobj(), data.rstrip(b"\r\n")
    try:
        while data and not inflate.eof:
            inflate.decompress(data, LARGEST)
            data = inflate.unconsumed_tail
    except zlib.error:
        return False
    return True


class SecondReader:
    """The pages of a file as pypdf reads them."""

    def __init__(self, source: Path | BinaryIO, where: str):
        import pypdf

        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it finds wrong is said by us, once
        self.version = f"pypdf {pypdf.__version__}"
        self._where = where
        self._reader: Any = pypdf.PdfReader(source, strict=False)
        self._pages = [*self._reader.pages]  # asked for one by one later, each would take a walk through all of them
        self.pages = len(self._pages)

    def whole(self, index: int) -> bool:
        """Whether the content of the page at `index` can be inflated to its end: what a reader shows of it may be half.

        What is packed in other ways, and pages that cannot be found, count as whole: it is others who say so.
        """
        try:
            page = self._pages[index]
            contents = page.get("/Contents", [])
            for stream in contents if isinstance(contents, list) else [contents]:
                part = stream.get_object()
                filters = part.get("/Filter", [])
                if not _whole(part._data, filters if isinstance(filters, list) else [filters]):
                    return False
        except MemoryError:
            raise
        except Exception:
            return True
        finally:
            self._reader.resolved_objects.clear()  # or all that was read stays in memory
        return True

    def lines(self, index: int) -> list[Line]:
        """Text of the page at `index`, 0-based, line by line; empty for an empty page.

        Raises:
            InputError: the page is damaged.
        """
        try:
            page = self._pages[index]
            contents = page.get_contents()
            if contents is not None:
                contents.get_data()
            text = page.extract_text()
        except MemoryError:
            raise
        except Exception as error:  # pypdf raises whatever the damage leads to
            raise InputError(f"{type(error).__name__}: {error}".splitlines()[0], where=self._where) from None
        finally:
            self._reader.resolved_objects.clear()  # or all that was read stays in memory
        found = [line.strip() for line in text.splitlines() if line.strip()]
        right = WIDTH * max(map(len, found), default=0)
        return [
            Line(line, 0.0, -STEP * i, WIDTH * len(line), -STEP * i + STEP, 0.0, right, 1)
            for i, line in enumerate(found)
        ]
