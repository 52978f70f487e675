"""Where the sentences of a passage end: sentencex, and our rules where it fails. The only door to `sentencex`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import get_sentence_boundaries

from longseq.tokens.sentences.joins import goes_on

UNCLOSED = 64
"""More quotation marks than this that nothing closes are noise, read as blanks: sentencex looks for the end of each."""
SPACED = 30
"""Letters after which a blank ends a sentence in a script that has no stops (Thai, Lao)."""

_QUOTES = dict.fromkeys(map(ord, "\"'“”„‟‘’‚‛«»‹›「」『』《》〈〉()[]{}（）［］【】〔〕"), " ")
_PAIRS = ("“”", "‘’", "„“", "«»", "»«", "‹›", "「」", "《》")
_BULLETS = "•⁃⁌⁍■□▪▫▶▸►◆◇○●◦★☆➢➣➤"
_ITEM = re.compile(
    rf"^([^\S\n]*)[{_BULLETS}](?=\s)|(?<!\S)\((?=(?:[^\W\d_]|[ivxl]{{1,5}}|[IVXL]{{1,5}}|\d{{1,3}})\)\s)", re.M
)
_APOSTROPHE = re.compile(r"(?<=[\w.])['’](?=\w)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLOSING = re.compile("[”’»›」』》〉）】〕］]+")
_OPENING = re.compile(r"(?:(?<=\s)[\"'“„‟‘‚‛«‹「『《〈(\[{（［【〔]+|[“„‟‘‚‛«‹「『《〈(\[{（［【〔]+)\Z")
_SPOKEN = re.compile(r"[\"'”’»›]\s+\Z")
_WITHIN = (
    re.compile('『[^『』]*』|‘[^‘’]*’|〈[^〈〉]*〉|\\([^()]*\\)|"[^"]*"'),
    re.compile("「[^「」]*」|“[^“”]*”|《[^《》]*》|（[^（）]*）|【[^【】]*】|〔[^〔〕]*〕"),
)
_HAN = "\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff"
_MISSED = re.compile(
    # sentencex wants a letter behind it, no digit
    r"(?<![。！？｡])[。！？｡]++[”’」』）】]*+(?=[^\s。！？｡…”’」』）】〕》])"
    rf"|(?<=[{_HAN}])[?!]++(?=[{_HAN}])"
    r"|(?:[။៕។]|(?<=\S)།)\s*(?=[^\s၊။៕។།\"”’»)])"
    r"|…[”’\"]?\s+(?=[\"“‘]?(?!I\b)[A-Z\u0410-\u042f])"
    r"|\n[^\S\n]*(?=(?:\d{1,2}[^\S\n]{2,})?[QA][.:][^\S\n])"  # a turn of a transcript begins its line
    rf"|\n[^\S\n]*(?=[{_BULLETS}]\s)"
    r"|(?<=[a-z]{2})[.!?]\d{1,2}\s+(?=[\"“(]?[A-Z])"  # the number of a note, set small, stands at the stop
)
_SPACELESS = re.compile(r"(?<=[\u0e01-\u0edf])[^\S\n]+(?=[\u0e01-\u0e2e\u0e40-\u0e44\u0e81-\u0eae\u0ec0-\u0ec4\"“(])")
_THAI = re.compile("[\u0e01-\u0edf]")
_CARRIES_ON = (
    "และ", "หรือ", "แต่", "ที่", "ซึ่ง", "อัน", "โดย", "เพราะ", "ว่า", "เพื่อ", "จึง", "ก็", "แล้ว", "คือ", "เช่น", "ของ", "ใน",
    "จาก", "กับ", "ให้", "จน", "ถึง", "ตาม", "เป็น", "เมื่อ", "ทั้ง", "รวม", "ແລະ", "ຫຼື", "ແຕ່", "ທີ່", "ເພາະ",
)  # fmt: skip
"""And, or, but, which, because …: behind a blank they carry the Thai or Lao sentence on."""


def ends(text: str, language: str) -> list[int]:
    """Increasing offsets at which a sentence of `text` ends, white space behind it included; the last is its length.

    `text` is not empty. Quotations stay whole.
    """
    found: list[int] = []
    start = 0
    for end in _with_missed(text, _raw(text, language)):
        if end < len(text) and (closing := _CLOSING.match(text, end)) and not text[end - 1].isspace():
            end = closing.end()  # 『本当？』
        if end > start and not goes_on(text, start, end):
            found.append(end)
            start = end
    if not found or found[-1] != len(text):
        found.append(len(text))
    return found


def ends_in_quotes(text: str, language: str) -> list[int]:
    """As `ends`, with quotation marks and brackets read as blanks; a mark that opens goes to the sentence after it."""
    found = [0]
    for end in ends(text.translate(_QUOTES), language):
        if text[end : end + 1].islower() and _SPOKEN.search(text, max(found[-1] + 1, end - 16), end):
            continue  # “Why?” he asked
        opened = _OPENING.search(text, max(found[-1] + 1, end - 16), end) if end < len(text) else None
        found.append(opened.start() if opened else end)
    return found[1:]


def _raw(text: str, language: str) -> list[int]:
    """What sentencex finds. It takes all of a line behind a bullet or `(b)` for one sentence: `_` stands for those.

    And it takes two apostrophes for quotation marks: they are letters to it.
    """
    text = _APOSTROPHE.sub("x", _ITEM.sub(r"\1_", text))
    if any(text.count(pair[0]) - text.count(pair[1]) > UNCLOSED for pair in _PAIRS):
        text = text.translate(_QUOTES)
    try:
        found = get_sentence_boundaries(language, text)
    except UnicodeEncodeError:  # a lone surrogate cannot cross into UTF-8; any letter of the same length will do
        found = get_sentence_boundaries(language, _SURROGATE.sub("\ufffd", text))
    return [*(end for end in (b["end_index"] for b in found) if 0 < end < len(text)), len(text)]


def _with_missed(text: str, found: list[int]) -> Iterator[int]:
    """These ends, and those between them that sentencex passes over."""
    spaceless = _THAI.search(text) is not None
    if not spaceless and not _MISSED.search(text):
        yield from found
        return
    bare = text
    for pattern in _WITHIN:
        bare = pattern.sub(_emptied, bare)
    start = 0
    for end in found:
        for missed in _MISSED.finditer(bare, start, end):
            if missed.end() < end:
                yield missed.end()
        if spaceless:
            yield from _at_blanks(bare, start, end)
        yield end
        start = end


def _emptied(quoted: re.Match[str]) -> str:
    """A quotation without the stops in it, as long as it is."""
    text = quoted[0]
    return text if len(text) < 4 else f"{text[:2]}{'x' * (len(text) - 3)}{text[-1]}"


def _at_blanks(text: str, start: int, end: int) -> Iterator[int]:
    """Ends of sentences at the blanks of a script that has no stops."""
    for blank in _SPACELESS.finditer(text, start, end):
        if blank.start() - start >= SPACED and not text.startswith(_CARRIES_ON, blank.end()):
            yield blank.end()
            start = blank.end()
