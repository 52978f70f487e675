"""Lines of a page joined to paragraphs: words that were hyphenated made whole, no blank between Chinese letters."""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from longseq.formats.pdf.order import Line
from longseq.formats.pdf.raised import SUPERSCRIPTS, begins_note, numbers_of, without_calls

REMEMBERED = 50_000
"""Hyphenated words of a document that are kept in mind."""
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_CLOSED = re.compile(rf"[.!?:;。！？：；…][\"'”’)\]»」』）]*[\d{SUPERSCRIPTS}]*$")
_OPENS = re.compile(
    r"[•◦▪‣●■–—*]\s|\(?(?:[a-z]|[ivxl]{1,4}|\d{1,3})[.)]\s|[QA][.:]\s|[A-Z]{2,12}[.:]?\s{2,}|[（(][一二三四五六七八九十]+[）)]|[一二三四五六七八九十]+、"
)
_LEADERS = re.compile(r"(?:\.\s?){5,}|…{3,}|·{5,}")
_CJK = re.compile("[\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef“”‘’…—]")
_HAN = re.compile("[\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_CUT = re.compile(r"(?<![^\W\d_])([^\W\d_]+)([-\u2010\xad])$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_TIED = re.compile(r"\w[-\u2010]$")  # COVID- 19
_COMPOUND = re.compile(r"\b[^\W\d_]+(?:[-\u2010][^\W\d_]+)+\b")
_KEEP = frozenset(
    [
        "well",
        "self",
        "ill",
        "all",
        "half",
        "cross",
        "ever",
        "so",
        "ex",
        "non",
        "semi",
        "quasi",
        "multi",
        "high",
        "low",
        "long",
        "short",
        "state",
    ]
)
"""First parts after which a hyphen at a line's end is taken for one of the word's own."""


class Paragraph(NamedTuple):
    """Lines that belong together."""

    text: str
    height: float
    """Of its letters."""
    part: str
    """"table", "note" (at the page's foot, in small letters), or empty."""
    open: bool
    """Whether it may go on, on the next page or in the next column."""


class Joiner:
    """Joins lines; remembers the hyphenated words of the document."""

    def __init__(self):
        self._compounds: set[str] = set()

    def paragraphs(self, lines: list[Line]) -> list[Paragraph]:
        """Of one page, in order; notes at its foot come before the last paragraph of the text, which may go on."""
        if not lines:
            return []
        leading = _leading(lines)
        usual = median(line.height for line in lines for _ in range(len(line.text)))
        groups: list[list[Line]] = []
        for line in lines:
            if groups and not self._breaks(groups[-1], line, leading * max(1.0, line.height / usual)):
                groups[-1].append(line)
            else:
                groups.append([line])
        low = _foot(lines, usual)
        found = [self._paragraph(group, all(line.y1 <= low for line in group)) for group in groups]
        notes = [p for p in found if p.part == "note"]
        called = numbers_of(note.text for note in notes)
        text = [p._replace(text=without_calls(p.text, called)) for p in found if p.part != "note"]
        return [*text[:-1], *notes, *text[-1:]]

    def join(self, before: str, after: str) -> str:
        """Two lines as one, or two halves of a paragraph."""
        cut = _CUT.search(before)
        if cut and after[:1].isalpha() and not after[:1].isupper():
            if self._hyphened(cut[1], cut[2], after, before):
                return before + after
            return before[: -len(cut[2])] + after
        if before.endswith("\xad"):
            return before[:-1] + after
        if _TIED.search(before) and after[:1].isalnum():
            return before + after
        if _CJK.match(before[-1:]) and _CJK.match(after[:1]) and (_HAN.match(before[-1:]) or _HAN.match(after[:1])):
            return before + after
        return f"{before} {after}"

    def goes_on(self, before: Paragraph, after: Paragraph) -> bool:
        """Whether the first paragraph of a page carries on the last one of the page before."""
        alike = abs(before.height - after.height) < 0.06 * before.height and not before.part and not after.part
        return alike and before.open and not _OPENS.match(after.text) and not _LEADERS.search(after.text)

    def _hyphened(self, first: str, hyphen: str, after: str, before: str) -> bool:
        """Whether the hyphen at a line's end belongs to the word."""
        if hyphen == "\xad":
            return False
        second = re.match(r"[^\W\d_]+", after)
        whole = f"{first}-{second[0] if second else ''}".casefold()
        return whole in self._compounds or first.casefold() in _KEEP or before[: -len(first) - 1].endswith("-")

    def _breaks(self, group: list[Line], line: Line, leading: float) -> bool:
        last = group[-1]
        em = last.height
        if abs(line.height - em) > 0.08 * em or line.cells > 1 or last.cells > 1:
            return True
        if _LEADERS.search(last.text) or _LEADERS.search(line.text) or _OPENS.match(line.text):
            return True
        step, same = last.y0 - line.y0, abs(line.left - last.left) < em and abs(line.right - last.right) < em
        closed = _CLOSED.search(last.text) is not None
        if closed and begins_note(line.text):
            return True
        if not same or step < 0:  # another column, or a band under it
            return closed or abs(step) < 3 * leading
        if step > 1.4 * leading:
            return True
        if _CUT.search(last.text):
            return False
        width = line.right - line.left
        short = last.x1 < last.right - 0.15 * width
        indented = line.x0 > min(other.x0 for other in group[-2:]) + 0.8 * em
        outdented = len(group) > 1 and line.x0 < min(other.x0 for other in group[-2:]) - 0.8 * em
        return (
            (closed and (short or outdented))
            or (indented and (closed or short))
            or (short and last.x1 < last.right - 0.5 * width)
        )

    def _paragraph(self, group: list[Line], foot: bool) -> Paragraph:
        text = _clean(group[0].text)
        for line in group[1:]:
            text = self.join(text, _clean(line.text))
        if len(self._compounds) < REMEMBERED:
            self._compounds.update(word.casefold().replace("\u2010", "-") for word in _COMPOUND.findall(text))
        last = group[-1]
        table = all(line.cells > 1 for line in group)
        part = "note" if foot else "table" if table else ""
        return Paragraph(text.replace("\xad", ""), last.height, part, _is_full(last) and not _CLOSED.search(text))


def _clean(text: str) -> str:
    return _CONTROL.sub("", text.translate(_LIGATURES)).strip()


def _leading(lines: list[Line]) -> float:
    """From line to line of a paragraph: as a rule what follows a full line that ends no sentence."""
    steps = [(a.y0 - b.y0, a) for a, b in pairwise(lines)]
    near = [(step, line) for step, line in steps if 1 < step < 4 * lines[0].height]
    inside = [step for step, line in near if _is_full(line) and not _CLOSED.search(line.text)]
    return median(inside or [step for step, _ in near] or [1.2 * lines[0].height])


def _is_full(line: Line) -> bool:
    """Whether a line reaches the end of its column."""
    return line.x1 > line.right - 0.15 * (line.right - line.left)


def _foot(lines: list[Line], usual: float) -> float:
    """Height on the page under which there are only lines in smaller letters: its footnotes."""
    low = -1e9
    for line in sorted(lines, key=lambda line: line.y0):
        if line.height > 0.93 * usual:
            break
        low = line.y1
    return low
