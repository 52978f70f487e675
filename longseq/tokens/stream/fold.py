"""Whole-text tokens from windows of the text.

Two ways on from a window, each proven:

* a **cut**: the tokenizer itself splits there and looks at neither side from the other (`seams`), so the next window
  starts afresh, with a few letters before the cut whose tokens are known and dropped;
* a **join**: for byte-pair encoding inside one long pre-token, the next window overlaps this one and both hold the same
  token (`join`, theorem in `resume`).

Where neither is found the window doubles up to a cap. Past the cap it is cut all the same, and `exact` is False.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from longseq.tokens.stream.buffer import Buffer
from longseq.tokens.stream.engine import Encoding, Engine, Tokens, span
from longseq.tokens.stream.join import join
from longseq.tokens.stream.resume import AtCut, AtToken, Resume
from longseq.tokens.stream.seams import REACH


@dataclass(frozen=True)
class Sizes:
    """All in code points."""

    window: int
    """Text encoded at once."""
    overlap: int
    """Text at a window's end in which nothing is cut, and which the next window repeats for a join."""
    cap: int
    """Longest window."""


@dataclass
class _Window:
    resume: Resume
    width: int
    text: str
    encoding: Encoding
    first: int = 0

    @property
    def end(self) -> int:
        return self.resume.start + len(self.text)


class Fold:
    """One text on its way through a tokenizer.

    A text no longer than the cap is always exact: what follows the last cut is held back, up to a cap's worth, until
    the pre-token it lies in is seen to end; where that cannot be proven, it is encoded again in one window.
    """

    def __init__(self, engine: Engine, sizes: Sizes, provable: bool):
        self._engine, self._sizes, self._provable = engine, sizes, provable
        self.exact = True
        """Once the text has ended: whether the tokens given out are proven to be those of the whole text."""
        self.length = 0
        """Code points of the text, once it has ended."""

    def tokens(self, pieces: Iterator[str]) -> Iterator[Tokens]:
        """The text's tokens in order, a window's worth at a time."""
        buffer, cap = Buffer(pieces), self._sizes.cap
        window: _Window | None = self._open(buffer, AtCut(0, 0, []))
        origin, held, opens = AtCut(0, 0, []), [], True  # type: tuple[Resume, list[Tokens], bool]
        while window is not None:
            buffer.forget(origin.start - REACH)
            ended = buffer.ends_at(window.end)
            step = self._step(buffer, window, ended)
            if step is None and window.width < cap and not ended:
                window = self._open(buffer, window.resume, 2 * window.width)
                continue
            if step is None and held and window.end - origin.start <= cap:
                window, held = self._open(buffer, origin, cap), []
                continue
            if step is None:
                self.exact = False
                step = self._forced(buffer, window, ended)
            last, following = step
            first_of_all = opens and not any(len(part.ids) for part in held)
            held.append(self._engine.tokens(window.encoding, window.first, last, window.resume.start, first_of_all))
            self.length, window = window.end, following
            unsettled = window is not None and isinstance(window.resume, AtToken)
            if window is None or not unsettled or window.resume.at - origin.start > cap:
                opens = first_of_all and not len(held[-1].ids)
                yield from held
                origin, held = window.resume if window else origin, []

    def _step(self, buffer: Buffer, window: _Window, ended: bool) -> tuple[int, _Window | None] | None:
        """(one past the last token to give out, the next window, None at the end of the text); None: not proven."""
        first = window.resume.first(self._engine, window.text, window.encoding)
        window.first = window.resume.likely(window.encoding) if first is None else first
        if first is None:
            return None
        if ended:
            return len(window.encoding), None
        return self._cut(buffer, window) or self._join(buffer, window)

    def _open(self, buffer: Buffer, resume: Resume, width: int | None = None) -> _Window:
        narrow = self._sizes.window if self._provable else self._sizes.cap
        width = min(width or narrow, self._sizes.cap)
        text = buffer.window(resume.start, resume.at - resume.start + width)
        return _Window(resume, width, text, self._engine.encode(text))

    def _overlap(self, window: _Window) -> int:
        """The overlap grows with the window."""
        return self._sizes.overlap * window.width // self._sizes.window

    def _cut(self, buffer: Buffer, window: _Window) -> tuple[int, _Window] | None:
        """(one past the last token to give out, the next window) at the last cut that can be proven."""
        found = self._last_cut(window) if self._provable else None
        if found is None:
            return None
        last, at = found
        context = window.text[max(at - REACH, 0) : at]
        end = window.resume.start + at
        return last, self._open(buffer, AtCut(end - len(context), end, self._engine.encode(context).ids))

    def _last_cut(self, window: _Window) -> tuple[int, int] | None:
        """(number of tokens on its left, its place in the window)."""
        encoding, seams = window.encoding, self._engine.seams
        after, before = window.resume.at - window.resume.start, len(window.text) - self._overlap(window)
        words, right = encoding.word_ids, len(window.text)
        for i in range(len(words), window.first - 1, -1):
            if 0 < i < len(words) and words[i] == words[i - 1]:
                continue
            right = span(encoding, i)[0] if i < len(words) else right
            left = span(encoding, i - 1)[1] if i else 0
            high = min(right, before)
            for at in range(high, max(left - 1, after, high - REACH), -1):
                if seams.cut(window.text, at):
                    return i, at
        return None

    def _join(self, buffer: Buffer, window: _Window) -> tuple[int, _Window] | None:
        """As `_cut`, at a token that the next window shares."""
        if not self._provable or not self._engine.merges:
            return None
        start, width, overlap = window.resume.start, window.width, self._overlap(window)
        joined = join(self._engine, buffer, start, window.text, window.encoding, window.first, width, overlap)
        if joined is None:
            return None
        last, resume, text, encoding = joined
        return last, _Window(resume, window.width, text, encoding)

    def _forced(self, buffer: Buffer, window: _Window, ended: bool) -> tuple[int, _Window | None]:
        """As `_step`, unproven: before the last word, else the last token, that leaves the overlap whole."""
        spans, words = window.encoding.offsets, window.encoding.word_ids
        if ended:
            return len(spans), None
        after, before = window.resume.at - window.resume.start, len(window.text) - self._overlap(window)
        inner = [
            i for i in range(window.first + 1, len(spans)) if max(spans[i - 1][1], after + 1) <= spans[i][0] <= before
        ]
        starts = [i for i in inner if words[i] != words[i - 1]] or inner
        last, at = (starts[-1], spans[starts[-1]][0]) if starts else (len(spans), len(window.text))
        at += window.resume.start
        return last, self._open(buffer, Resume(max(at - REACH, window.resume.start), at))
