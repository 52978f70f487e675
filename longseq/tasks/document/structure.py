"""What the lines of a document are: prose, list items, quotations, headings, code, tables; and in which section.

Where the document's format says it (HTML, DOCX, a PDF's outline), its layout is believed. Else rules that look at one
line, the line after it and the kind of the line before, so that a document streams. They know Markdown,
reStructuredText, and the commonest headings of plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, cast

from longseq.records import Layout, Mark

Part = Literal["prose", "item", "numbered", "quote", "heading", "code", "table", "note", "blank"]

LONGEST_LINE = 1000
"""Code points; a longer line is prose, handed on in slices of this length."""
LONGEST_TITLE = 200
"""Code points of a heading."""
TERM = 60
"""Code points of a line that is a term, with what it means below it, further to the right."""
LONGEST_FENCE = 400
"""Lines; code whose fence is still open then was no code."""


class Block(NamedTuple):
    """A line, or a slice of a long one. The texts of all blocks concatenate to the document."""

    part: Part
    """What it is: "numbered" is a paragraph with a number or letter in front; ornament without letters is "blank"."""
    text: str
    """The line with its line end."""
    mark: int
    """Code points at its front that are no text: a bullet, a number, `##`."""
    continues: bool
    """Whether it carries on the paragraph of the block before."""
    section: str
    """Titles of the sections it lies in, outermost first, joined by ` > `; empty before the first heading."""


_LINE = re.compile(rf"[^\n]{{0,{LONGEST_LINE - 1}}}\n|[^\n]{{{LONGEST_LINE}}}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HASHES = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#:._])\1{2,}\s*$")
_ORNAMENT = re.compile(r"[\s\-=_*+~^#.·•:|]+$")
_LEADERS = re.compile(r"\.{5,}|(?:\. ){4,}|…{3,}|·{5,}")
_ROW, _CELLS = re.compile(r"\s*\|.*\|\s*$"), re.compile(r"\s*\S.* \| .* \| ")
_BARE_NUMBER = re.compile(  # of a page, or of the paragraph below it
    r"(?:page\s+|p\.\s*)?[(\[]?\d+(?:\.\d+)*[.)\]]?(?:\s+of\s+\d+)?$", re.I
)
_LINE_NUMBER = re.compile(r"[^\S\n]{0,9}(\d{1,2})(?:[^\S\n]{2,}|(?=\s*$))")  # of a transcript
_TURN = re.compile(r"[QA][.:]?[^\S\n]{2}|[QA][.:][^\S\n]|(?:BY )?(?:THE|MR\.|MRS\.|MS\.|DR\.) [A-Z][A-Z .'’-]*:")
_SAID = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\b[A-Z])[.?!][\"”')]*$|[-–—]$")
_DIRECTIVE = re.compile(r"\.\. (?:[\w:+.-]+::|_[^:]+:|\[[^\]]+\] |\|[^|]+\| )")  # of reStructuredText
_NOTED = re.compile(r"\[\d{1,3}\] +(?=\S)")  # a note, its further lines indented
_QUOTE = re.compile(r"\s{0,3}>[\s>]*")
_BULLET = re.compile(r"\s*[-*+•‣◦▪–]\s+(?=\S)")
_NUMBER = re.compile(r"\s*(?:\(?\d{1,3}[.)]|\(?[a-z]\)|\([ivxl]+\)|[ivxl]+\.|[①-⑳])\s+(?=\S)")
_DIVISION = re.compile(
    r"(volume|book|part|chapter|act|canto|section|scene|appendix)\s+(\d+|[ivxlc]+)\b(?!\s+(?-i:[a-z]))", re.I
)
_DIVISION_CJK = re.compile(r"第[0-9０-９一二三四五六七八九十百千零〇两兩]+([卷部篇編编章回幕节節])[^。！？]{0,40}$")
_CJK_TITLE = r"(?=[\u3400-\u9fff])[^。！？；.!?;]{1,40}$"
_NUMBERED_CJK = (
    re.compile(r"[一二三四五六七八九十]{1,3}、" + _CJK_TITLE),
    re.compile(r"[（(][一二三四五六七八九十]{1,3}[）)]、?" + _CJK_TITLE),
    re.compile(r"\d{1,2}[.．、]\s*" + _CJK_TITLE),
)
"""一、 then (一) then 1., each inside the one before."""
_NUMBERED = re.compile(r"(\d+(?:\.\d+)+)\.?\s+[^\W\d_]|(\d{1,2})\s+[^\W\d_a-z]")
_ROMAN = re.compile(r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})\.\s+[^\W\d_]")
_LETTERED = re.compile(r"([A-H])\.\s+[^\W\d_]")
_STOP = re.compile(r"[.!?;:,。！？；：，、…][\"'”’」』)）]*$")
_DEPTH = {"volume": 1, "book": 1, "part": 1, "卷": 1, "部": 1, "篇": 1, "編": 1, "编": 1, "section": 3, "scene": 3}
_DEPTH |= {"appendix": 2, "节": 3, "節": 3}
_RUNNING = ("prose", "item", "numbered", "quote")  # what goes on over lines until a blank one
_LEAF = 9  # depth of a heading that says nothing of its depth


def blocks(pieces: Iterable[str], layout: Layout | None = None) -> Iterator[Block]:
    """The lines of the text whose pieces these are, each with what it is. The pieces' cuts change nothing.

    `layout` may fill while the pieces are walked. Its marks lie at starts of lines.
    """
    outline = _Outline(layout)
    held: str | None = None
    for line in _lines(pieces):
        if held is not None:
            yield outline.block(held, line)
        held = line
    if held is not None:
        yield outline.block(held, "")


class _Outline:
    """Reads line after line; knows the sections and what the line before was."""

    def __init__(self, layout: Layout | None):
        self._layout, self._next, self._mark = layout, 0, Mark(0)
        self._offset = 0  # code points before this line
        self._path: list[tuple[int, str]] = []
        self._underlines: list[str] = []  # in order of appearance, which is their depth
        self._before: Part = "blank"  # kind of the last line
        self._paragraph: Part = "prose"  # kind of the last paragraph or heading
        self._term = -1  # indentation of a paragraph's first line if that is short enough for a term, else -1
        self._hang = 0  # indentation of the text of the note above, under which its further paragraphs stand; or 0
        self._sliced = self._underlined = False  # whether this line began in the block before; underlines a title
        self._fence, self._fenced = "", 0  # what closes the code, and its lines so far
        self._numbered, self._said = 0, True  # last line number of a transcript; whether a sentence ended there

    def block(self, line: str, following: str) -> Block:
        """What `line` is, given the one after it (empty at the end of the text)."""
        entered = self._layout is not None and not self._sliced and self._pass_marks(self._layout)
        if self._sliced:
            part, mark, continues = self._before, 0, True
        elif self._mark.part:
            part, mark, continues = self._marked(line, entered)
        else:
            part, mark, continues = self._classify(line, following)
        told = part == "prose" or (part == "note" and line[0] == " ")
        short = told and not continues and len(line) < TERM and not _STOP.search(line.strip())
        self._term = _indentation(line) if short else -1
        self._offset += len(line)
        self._sliced = not line.endswith("\n")
        self._before = part
        self._paragraph = self._paragraph if part == "blank" else part
        return Block(part, line, mark, continues, " > ".join(title for _, title in self._path))

    def _pass_marks(self, layout: Layout) -> bool:
        """Take the marks up to this line; whether there were any."""
        first = self._next
        while self._next < len(layout.marks) and layout.marks[self._next].start <= self._offset:
            self._mark = layout.marks[self._next]
            self._next += 1
            if self._mark.depth:
                self._enter(self._mark.depth, self._mark.title, told=True)
        return self._next > first

    def _marked(self, line: str, entered: bool) -> tuple[Part, int, bool]:
        if not line.strip():
            return "blank", 0, False
        part = cast(Part, self._mark.part)
        return part, 0, not entered and self._before == part and part not in ("table", "heading")

    def _classify(self, line: str, following: str) -> tuple[Part, int, bool]:
        text = line.strip()
        if self._underlined:
            self._underlined = False
            return "blank", 0, False
        if self._fence or _FENCE.match(line):
            return self._code(line, text)
        if not text:
            return "blank", 0, False
        defines = -1 < self._term < _indentation(line) - 1  # a term, below it what it means
        if self._is_of_note(line, following):
            return "note", 0, self._before == "note" and not defines
        if transcript := self._transcript(line, following):
            return transcript
        first = self._before not in _RUNNING
        if len(line) >= LONGEST_LINE:
            return "prose", 0, self._before == "prose"
        if (hashes := _HASHES.match(line)) and len(text) <= LONGEST_TITLE and not (self._underlines and line[0] == " "):
            self._enter(len(hashes[1]), text.strip("# \t"))
            return "heading", hashes.end(), False
        if first and self._is_underlined(text, following):
            return "heading", 0, False
        if _ORNAMENT.match(text):
            return "table" if "|" in text else "blank", 0, False
        if first and (found := _NOTED.match(line) or _DIRECTIVE.match(line)):
            self._hang = found.end() if found[0][0] == "[" else 0
            return "note", 0, False
        if self._before == "note" and line[0] == " ":
            return "note", 0, True
        if _LEADERS.search(text) or self._is_row(line, following) or (first and _BARE_NUMBER.match(text)):
            return "table", 0, False
        if quote := _QUOTE.match(line):
            return ("quote", 0, True) if self._before == "quote" else ("quote", quote.end(), False)
        if bullet := _BULLET.match(line):
            return "item", bullet.end(), False
        if self._is_heading_cjk(text, following) or (first and self._is_heading(text, following)):
            return "heading", 0, False
        if (first or self._before in ("item", "numbered")) and (number := _NUMBER.match(line)):
            return "numbered", number.end(), False
        if not first:
            return self._before, 0, not defines
        of_item = self._paragraph in ("item", "numbered") and line[:2].isspace()
        return self._paragraph if of_item else "prose", 0, False

    def _is_row(self, line: str, following: str) -> bool:
        """Of a table; where no bar stands at its ends only beside another row, or above a rule."""
        beside = self._before == "table" or _CELLS.match(following) or _ORNAMENT.match(following.strip())
        return bool(_ROW.match(line) or (beside and _CELLS.match(line)))

    def _is_of_note(self, line: str, following: str) -> bool:
        """Whether a line stands under the text of the note above it, and does not only begin an indented paragraph."""
        under = all(not each.strip() or _indentation(each) >= self._hang for each in (line, following))
        self._hang *= under
        return self._hang > 0

    def _transcript(self, line: str, following: str) -> tuple[Part, int, bool] | None:
        """A line of a transcript, numbered one more than the line before or one less than the line after."""
        found, after = _LINE_NUMBER.match(line), _LINE_NUMBER.match(following)
        number = int(found[1]) if found else 0
        goes_on = 0 < self._numbered == number - 1
        if not found or not (goes_on or (after and int(after[1]) == number + 1)):
            self._numbered = 0
            return None
        spoken, said = line[found.end() :].strip(), self._said
        self._numbered, self._said = number, _SAID.search(spoken) is not None
        if not spoken:
            return "blank", 0, False
        if said or not goes_on or _TURN.match(spoken) or self._before != "prose":
            return "prose", found.end(), False
        return "prose", 0, True

    def _code(self, line: str, text: str) -> tuple[Part, int, bool]:
        if not self._fence:
            self._fence, self._fenced = _FENCE.match(line)[1], 0  # type: ignore[index]
            return "code", 0, False
        self._fenced += 1
        if (text.startswith(self._fence) and not text.strip(self._fence[0])) or self._fenced > LONGEST_FENCE:
            self._fence = ""
        return "code", 0, True

    def _is_underlined(self, text: str, following: str) -> bool:
        found = _UNDERLINE.match(following)
        if not found or len(text) > LONGEST_TITLE or not any(map(str.isalnum, text)):
            return False
        if found[1] not in "=-" and len(following.strip()) < 0.8 * len(text):
            return False
        if found[1] not in self._underlines:
            self._underlines.append(found[1])
        self._enter(1 + self._underlines.index(found[1]), text)
        self._underlined = True
        return True

    def _is_heading_cjk(self, text: str, following: str) -> bool:
        """第一回, 一、, (一) or 1.: no blank line stands around them. A run of the last is a list."""
        if found := _DIVISION_CJK.match(text):
            self._enter(_DEPTH.get(found[1], 2), text)
            return True
        for depth, pattern in enumerate(_NUMBERED_CJK, start=_LEAF - 3):
            inside = depth == _LEAF - 3 or any(above in (depth - 1, depth) for above, _ in self._path)
            if inside and pattern.match(text) and not pattern.match(following.strip()):
                self._enter(depth, text)
                return True
        return False

    def _is_heading(self, text: str, following: str) -> bool:
        """A heading of plain text: a short line that says so itself and stands alone."""
        if len(text) > LONGEST_TITLE or following.strip():
            return False
        if found := _DIVISION.match(text):
            depth = _DEPTH.get(found[1].lower(), 2)
        elif _STOP.search(text):
            return False
        elif found := _NUMBERED.match(text):
            depth = found[1].count(".") + 1 if found[1] else 1
        elif _ROMAN.match(text):
            depth = _LEAF - 2
        elif (found := _LETTERED.match(text)) and self._is_next_letter(found[1]):
            depth = _LEAF - 1
        elif text.isupper() and sum(map(str.isalpha, text)) > 3:
            depth = _LEAF
        else:
            return False
        self._enter(depth, text)
        return True

    def _is_next_letter(self, letter: str) -> bool:
        """Whether A., B. … goes on below a section with a Roman number."""
        depth, title = self._path[-1] if self._path else (0, "")
        return depth == _LEAF - 2 if letter == "A" else depth == _LEAF - 1 and title[0] == chr(ord(letter) - 1)

    def _enter(self, depth: int, title: str, told: bool = False) -> None:
        if self._layout is not None and self._layout.sectioned and not told:
            return
        while self._path and self._path[-1][0] >= depth:
            self._path.pop()
        self._path.append((depth, " ".join(title.split())[:LONGEST_TITLE]))


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Lines with their ends, and slices of `LONGEST_LINE` of those that are longer."""
    rest = ""
    for piece in pieces:
        rest += piece
        end = 0
        for found in _LINE.finditer(rest):
            end = found.end()
            yield found[0]
        rest = rest[end:]
    if rest:
        yield rest
