"""In what encoding bytes are text, told from the bytes, and text from bytes whatever they are.

ASCII first says nothing, so the choice is made at the first byte that is none, from what follows it. UTF-8 is strict
enough to prove itself. The double-byte encodings of East Asia take one another's bytes; they are told apart by how much
of what they give is common: each orders its letters by frequency, the common ones in the first rows. Of the rest, words
mostly of high bytes are Cyrillic or Greek, told apart by case: an upper letter does not follow a lower one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from longseq.formats.containers import ByteStream

SAMPLE = 1 << 16
"""Bytes that the choice looks at."""
SURE, LIKELY, EDGE = 0.6, 0.35, 0.1
"""Scores of a double-byte encoding: past other choices; past none; what kana or Hangul add."""
BAD = "\ufffd"
"""Stands for a byte that is no text."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_GOOD = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
_NOT_ASCII = re.compile(rb"[^\x00-\x7f]")
_COMMON = {
    # The first plane of each, by its bytes: the 3,755 of GB 2312 level 1, the 5,401 of Big5, JIS level 1, Hangul.
    "gb18030": rb"[\xb0-\xd7][\xa1-\xfe]|[\xa1\xa3][\xa1-\xfe]",
    "big5": rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]|[\xa1\xa2][\x40-\x7e\xa1-\xfe]",
    "shift_jis": rb"\x82[\x4f-\xf1]|\x83[\x40-\x96]|\x81[\x40-\xac]|[\x88-\x97][\x40-\x7e\x80-\xfc]",
    "euc_jp": rb"[\xa4\xa5][\xa1-\xf6]|[\xa1\xa3][\xa1-\xfe]|[\xb0-\xcf][\xa1-\xfe]",
    "euc_kr": rb"[\xb0-\xc8][\xa1-\xfe]|[\xa1\xa3][\xa1-\xfe]",
}
_EVERY = {
    "gb18030": rb"[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[\x30-\x39][\x81-\xfe][\x30-\x39])",
    "big5": rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]",
    "shift_jis": rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]|[\xa1-\xdf]",
    "euc_jp": rb"[\x8e\xa1-\xfe][\xa1-\xfe]|\x8f[\xa1-\xfe]{2}",
    "euc_kr": rb"[\xa1-\xfe][\xa1-\xfe]",
}
_UNITS = {
    name: re.compile(rb"(" + _COMMON[name] + rb")|(" + every + rb")|([\x80-\xff])") for name, every in _EVERY.items()
}
_KANA = re.compile("[\u3041-\u30f6]")
_ALPHABETS = {"cp1251": range(0x400, 0x460), "koi8-r": range(0x400, 0x460), "cp1253": range(0x384, 0x3CF)}
_CODECS = {"big5": "big5hkscs", "shift_jis": "cp932", "euc_kr": "cp949"}
"""Python's codec of an encoding, where a larger one takes all that the name allows."""


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return BAD * (error.end - error.start), error.end


codecs.register_error("longseq-bad-bytes", _stand_in)


class Decoder:
    """Text of a stream of bytes.

    `encoding` is known once text has been read: "ascii" until a byte says more. A byte that is no text in it stands as
    U+FFFD, and `bad` counts these. `mark` is the number of bytes of a byte order mark, which is no part of the text.
    """

    def __init__(self, stream: ByteStream):
        self._stream = stream
        self.mark, named = byte_order_mark(stream.peek(4))
        if self.mark:
            stream.read(self.mark)
        self.encoding = named or wide(stream.peek(SAMPLE)) or "ascii"
        self.bad = 0
        self._decoder = self._codec()

    def _codec(self) -> codecs.IncrementalDecoder:
        return codecs.getincrementaldecoder(_CODECS.get(self.encoding, self.encoding))("longseq-bad-bytes")

    def pieces(self, size: int) -> Iterator[str]:
        """The text, a piece for every `size` bytes; a character cut by the end of a cut container is left out."""
        while data := self._stream.read(size):
            if self.encoding == "ascii" and not data.isascii() and (first := _NOT_ASCII.search(data)):
                ahead = self._stream.peek(SAMPLE)
                self.encoding = guess(data[first.start() :] + ahead)
                self._decoder = self._codec()
            yield from self._decode(data, False)
        if not self._stream.truncated:
            yield from self._decode(b"", True)

    @property
    def pending(self) -> int:
        """Bytes of a character that is not whole yet."""
        return len(self._decoder.getstate()[0])

    def _decode(self, data: bytes, last: bool) -> Iterator[str]:
        held = self._decoder.getstate()[0]
        text = self._decoder.decode(data, last)
        if BAD in text:
            own = (held + data).count(BAD.encode()) if self.encoding == "utf-8" else 0  # U+FFFD of the file's own
            self.bad += text.count(BAD) - own
        if text:
            yield text


def byte_order_mark(start: bytes) -> tuple[int, str | None]:
    """Length of the byte order mark that these bytes begin with, and what it says."""
    return next(((len(mark), name) for mark, name in _MARKS if start.startswith(mark)), (0, None))


def wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of its ASCII is 0, and the other is none."""
    even, odd = sample[0 : len(sample) & ~1 : 2], sample[1::2]
    if len(odd) < 2:
        return None
    zeros = (even.count(0) / len(even), odd.count(0) / len(odd))
    if min(zeros) > 0 or max(zeros) < 0.4:
        return None
    return "utf-16-le" if zeros[1] else "utf-16-be"


def guess(sample: bytes) -> str:
    """The likeliest encoding of bytes of which the first is not ASCII; the last character may be cut."""
    sample = sample[:SAMPLE]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    high = len(_HIGH.findall(sample))
    proved = sum(map(len, _GOOD.findall(sample)))
    if proved >= high / 2:
        return "utf-8"
    scores = {name: _common(name, sample) for name in _UNITS}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] < SURE and (alphabet := _alphabet(sample)):
        return alphabet
    return best if scores[best] >= LIKELY else "cp1252"


def _common(name: str, sample: bytes) -> float:
    """Share of the bytes past ASCII that make common characters in this encoding, less five times the bad ones."""
    common = rare = bad = 0
    for one, other, broken in _UNITS[name].findall(sample):
        common, rare, bad = common + len(one), rare + len(other), bad + len(broken)
    score = (common - 5 * bad) / (common + rare + bad)
    if name in ("shift_jis", "euc_jp"):  # Japanese is known by its kana
        text = sample.decode(_CODECS.get(name, name), "ignore")
        return score + EDGE if 8 * len(_KANA.findall(text)) > len(text) else 0.0
    if name == "euc_kr":  # a third of other East Asian text lies in the rows of Hangul; of Korean nearly all
        return score + EDGE if score > 0.95 else 0.0
    return score


def _alphabet(sample: bytes) -> str | None:
    """Cyrillic or Greek of one byte a letter, where words are mostly of high bytes."""
    words = re.findall(rb"[A-Za-z\x80-\xff]+", sample)
    letters = sum(map(len, words))
    if 20 * len(words) < letters or sum(len(_HIGH.findall(word)) for word in words) < 0.6 * letters:
        return None
    wrong = {name: _wrong(sample.decode(name, "replace"), alphabet) for name, alphabet in _ALPHABETS.items()}
    best = min(wrong, key=lambda name: wrong[name])
    return best if wrong[best] < 0.1 else None


def _wrong(text: str, alphabet: range) -> float:
    """Share of the letters past ASCII that are of another alphabet, or upper after a lower one."""
    wrong = total = 0
    before = ""
    for letter in text:
        if letter > "\x7f":
            total += 1
            wrong += (letter.isalpha() and ord(letter) not in alphabet) or (letter.isupper() and before.islower())
        before = letter
    return wrong / max(total, 1)
