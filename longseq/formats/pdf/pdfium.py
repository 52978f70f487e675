"""PDF through PDFium: words of a page with their places, its objects, and what the document says of its pages."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from longseq.errors import InputError
from longseq.formats.pdf.raised import raise_digits
from longseq.formats.pdf.weight import Heavy

GAP = 1.8
"""Of the letters' height: a wider gap ends a fragment."""
MOST = 500_000
"""Letters of a page; each takes 15 microseconds, and the largest sheets of newspapers hold 100,000."""
FEW = 200
"""Letters; a page with more is not asked for its pictures."""
TITLES = 100_000
"""Entries of an outline that are looked at."""
_HYPHENS = (0x02, 0xFFFE)
"""How PDFium gives a hyphen at the end of a line, whether written or soft; it gives no line end then."""


class Fragment(NamedTuple):
    """Words that stand on one line without a wide gap; points from the lower left corner of the page."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str


class Sheet(NamedTuple):
    """What stands on one page."""

    fragments: list[Fragment]
    """In the order of the file."""
    letters: int
    """Characters other than blanks."""
    unmapped: int
    """Of the first letters of words, those whose font does not say which character they are."""
    words: int
    image: float
    """Share of the page that its largest picture covers; of a page with fewer than `FEW` letters."""
    drawn: int
    """Objects other than text; of such a page."""


class Title(NamedTuple):
    """An entry of the outline."""

    page: int
    """0-based."""
    depth: int
    """1 is the outermost."""
    text: str


class PdfiumFile:
    """A document; close it. Pages are loaded and given back one by one, so that memory does not grow with them."""

    def __init__(self, source: Path | BinaryIO, where: str):
        import pypdfium2

        self._where = where
        self.version = f"pypdfium2 {pypdfium2.version.PYPDFIUM_INFO}"
        try:
            self._document = pypdfium2.PdfDocument(source)
            self.pages = len(self._document)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise InputError(
                    where=where,
                    expected="a PDF that opens without a password",
                    found="one that asks for it",
                    remedy="decrypt it first: qpdf --decrypt --password=… IN OUT",
                ) from None
            raise InputError(
                f"is no PDF that can be read ({error})", where=where, remedy="copy or download the file again"
            ) from None

    def close(self) -> None:
        self._document.close()

    def label(self, index: int) -> str:
        """As the document numbers the page; its physical number where it does not."""
        try:
            return self._document.get_page_label(index) or str(index + 1)
        except Exception:  # a damaged tree of labels is no reason to lose the text
            return str(index + 1)

    def title(self) -> str:
        """What the document says that it is called."""
        try:
            return " ".join(self._document.get_metadata_value("Title").replace("\0", "").split())
        except Exception:  # damaged, as above
            return ""

    def outline(self) -> list[Title]:
        """The document's own table of contents, as far as its entries lead to pages."""
        found: list[Title] = []
        try:
            for entry in self._document.get_toc(max_depth=8):
                target = entry.get_dest()
                page = None if target is None else target.get_index()
                title = " ".join(entry.get_title().replace("\0", "").split())
                if page is not None and title:
                    found.append(Title(page, entry.level + 1, title))
                if len(found) >= TITLES:
                    break
        except Exception:  # an outline that loops or leads nowhere
            return found
        return found

    def sheet(self, index: int) -> Sheet:
        """The page at `index`, 0-based.

        Raises:
            InputError: it cannot be loaded.
            Heavy: it has more than `MOST` letters.
        """
        import pypdfium2

        try:
            page = self._document[index]
        except pypdfium2.PdfiumError as error:
            raise InputError(str(error), where=self._where) from None
        try:
            text = page.get_textpage()
            try:
                return _sheet(page, text, pypdfium2.raw)
            finally:
                text.close()
        except pypdfium2.PdfiumError as error:
            raise InputError(str(error), where=self._where) from None
        finally:
            page.close()


def _sheet(page: Any, text: Any, raw: Any) -> Sheet:
    count = text.count_chars()
    if count > MOST:
        raise Heavy
    codes = [raw.FPDFText_GetUnicode(text, i) for i in range(count)]
    box = _Boxes(page, text, raw)
    fragments: list[Fragment] = []
    lines = list(_lines(codes))
    words = [word for line in lines for word in line]
    unmapped = sum(raw.FPDFText_HasUnicodeMapError(text, start) == 1 for start, _ in words)
    raise_digits(words, codes, box.base, box)
    for line in lines:
        fragments += _fragments(line, codes, box)
    letters = sum(code > 32 and code != 0xAD for code in codes)
    image, drawn = _objects(page, raw) if letters < FEW else (0.0, 0)
    return Sheet(fragments, letters, unmapped, len(words), image, drawn)


def _lines(codes: list[int]) -> Iterator[list[tuple[int, int]]]:
    """Words of each line, as ranges of characters."""
    line: list[tuple[int, int]] = []
    start = None
    for i, code in enumerate([*codes, 10]):
        if code in (9, 10, 13, 32, 0xA0):
            if start is not None:
                line.append((start, i))
                start = None
            if code in (10, 13) and line:
                yield line
                line = []
        elif start is None:
            start = i
        if code in _HYPHENS and start is not None:
            yield [*line, (start, i + 1)]
            line, start = [], None


def _fragments(line: list[tuple[int, int]], codes: list[int], box: _Boxes) -> Iterator[Fragment]:
    parts: list[tuple[tuple[float, float, float, float], str]] = []
    for start, end in line:
        first, last = box(start), box(end - 1)
        place = (min(first[0], last[0]), first[1], max(first[2], last[2]), first[3])
        height = max(first[3] - first[1], 1.0)
        if parts:
            before = parts[-1][0]
            height = max(height, before[3] - before[1])
            middle = (place[1] + place[3]) / 2
            far = not -GAP * height < place[0] - before[2] < GAP * height
            if far or not before[1] - height < middle < before[3] + height:
                yield _joined(parts)
                parts = []
        parts.append((place, _text(codes[start:end])))
    if parts:
        yield _joined(parts)


def _joined(parts: list[tuple[tuple[float, float, float, float], str]]) -> Fragment:
    left, right = min(place[0] for place, _ in parts), max(place[2] for place, _ in parts)
    letters: Counter[tuple[float, float]] = Counter()  # by lower and upper edge: fonts differ, most letters count
    for place, word in parts:
        letters[place[1], place[3]] += len(word)
    low, high = letters.most_common(1)[0][0]
    return Fragment(left, low, right, high, " ".join(word for _, word in parts))


def _text(codes: list[int]) -> str:
    text = "".join("-" if code in _HYPHENS else chr(code) for code in codes)
    # Characters past U+FFFF may come as two halves.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Boxes:
    """Loose boxes of characters (from the font's descent to its ascent), turned upright where the page is rotated."""

    def __init__(self, page: Any, text: Any, raw: Any):
        self._text, self._raw, self._rect = text, raw, raw.FS_RECTF()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._turn = page.get_rotation()

    def __call__(self, index: int) -> tuple[float, float, float, float]:
        rect = self._rect
        if not self._raw.FPDFText_GetLooseCharBox(self._text, index, ctypes.byref(rect)):
            return (0.0, 0.0, 0.0, 0.0)
        left, right = min(rect.left, rect.right), max(rect.left, rect.right)
        low, high = min(rect.bottom, rect.top), max(rect.bottom, rect.top)
        if self._turn == 90:
            return low, -right, high, -left
        if self._turn == 180:
            return -right, -high, -left, -low
        if self._turn == 270:
            return -high, left, -low, right
        return left, low, right, high

    def base(self, index: int) -> float:
        """Where the character stands, upwards."""
        self._raw.FPDFText_GetCharOrigin(self._text, index, ctypes.byref(self._x), ctypes.byref(self._y))
        x, y = self._x.value, self._y.value
        return {90: -x, 180: -y, 270: x}.get(self._turn, y)


def _objects(page: Any, raw: Any) -> tuple[float, int]:
    """Share of the page under its largest picture, and how many objects are no text."""
    width, height = page.get_size()
    image, drawn = 0.0, 0
    for thing in page.get_objects(max_depth=4):
        if thing.type == raw.FPDF_PAGEOBJ_TEXT:
            continue
        drawn += 1
        if thing.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, low, right, high = thing.get_bounds()
            image = max(image, (right - left) * (high - low) / max(width * height, 1.0))
    return min(image, 1.0), drawn
