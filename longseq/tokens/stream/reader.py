"""The part of Oniguruma's syntax that tokenizers use, read into a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from longseq.tokens.stream.letters import Fact, Test, either, in_category, is_space, is_word, negated

CATEGORIES = {"L", "M", "N", "P", "S", "Z"}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\x0c", "v": "\x0b"}


class Unreadable(Exception):  # noqa: N818 - never leaves this folder
    """The pattern uses what this reader does not know."""


@dataclass
class Node:
    """A piece of a pattern."""

    kind: Literal["place", "sequence", "either", "repeat", "assertion"]
    parts: list[Node] = field(default_factory=list)
    test: Test | None = None
    """A place's."""
    least: int = 0
    """A repetition's lower bound."""
    most: int | None = None
    """A repetition's upper bound; None is endless."""
    lazy: bool = False
    """A repetition that prefers fewer."""


def read(source: str) -> Node:
    """Raises `Unreadable` for look-behind, anchors other than `$`, word boundaries, back-references, scripts."""
    reader = _Reader(source)
    tree = reader.alternatives(folded=False)
    if reader.rest():
        raise Unreadable(source)
    return tree


class _Reader:
    def __init__(self, source: str):
        self._source, self._at = source, 0

    def rest(self) -> str:
        return self._source[self._at :]

    def _take(self, text: str) -> bool:
        found = self._source.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _next(self) -> str:
        if self._at >= len(self._source):
            raise Unreadable(self._source)
        self._at += 1
        return self._source[self._at - 1]

    def alternatives(self, folded: bool) -> Node:
        parts = [self._sequence(folded)]
        while self._take("|"):
            parts.append(self._sequence(folded))
        return parts[0] if len(parts) == 1 else Node("either", parts)

    def _sequence(self, folded: bool) -> Node:
        parts = []
        while self.rest() and self.rest()[0] not in "|)":
            parts.append(self._repeated(self._item(folded)))
        return Node("sequence", parts)

    def _item(self, folded: bool) -> Node:
        for opening, kind in (("(?:", "group"), ("(?i:", "fold"), ("(?!", "not"), ("(?=", "is"), ("(?>", "group")):
            if self._take(opening):
                inner = self.alternatives(folded or kind == "fold")
                self._close()
                return inner if kind in ("group", "fold") else _looking(inner, self._source)
        if self._take("(?"):
            raise Unreadable(self._source)
        if self._take("("):
            inner = self.alternatives(folded)
            self._close()
            return inner
        if self._take("["):
            return Node("place", test=self._class(folded))
        if self._take("$"):
            return Node("assertion", [Node("place", test=_anything)])
        letter = self._next()
        if letter == ".":
            return Node("place", test=lambda a: a != "\n")
        if letter in "^*+?":
            raise Unreadable(self._source)
        return Node("place", test=self._escape() if letter == "\\" else _exactly(letter, folded))

    def _close(self) -> None:
        if not self._take(")"):
            raise Unreadable(self._source)

    def _repeated(self, item: Node) -> Node:
        bounds: tuple[int, int | None]
        if self._take("*"):
            bounds = (0, None)
        elif self._take("+"):
            bounds = (1, None)
        elif self._take("?"):
            bounds = (0, 1)
        elif self._take("{"):
            bounds = self._braces()
        else:
            return item
        lazy = self._take("?")
        self._take("+")  # possessive: the same letters
        if self.rest()[:1] in ("*", "+", "?", "{") or item.kind == "assertion":
            raise Unreadable(self._source)
        return Node("repeat", [item], least=bounds[0], most=bounds[1], lazy=lazy)

    def _braces(self) -> tuple[int, int | None]:
        text, _, _ = self.rest().partition("}")
        self._at += len(text) + 1
        least, comma, most = text.partition(",")
        if not (least or "0").isdigit() or not (most or "0").isdigit() or not text.strip(","):
            raise Unreadable(self._source)
        low = int(least or 0)
        return low, int(most) if most else (None if comma else low)

    def _escape(self) -> Test:
        """What follows a backslash, inside or outside a class."""
        letter = self._next()
        if letter in "sS":
            return is_space if letter == "s" else lambda a: negated(is_space(a))
        if letter in "wW":
            return is_word if letter == "w" else lambda a: negated(is_word(a))
        if letter in "dD":
            return _category("Nd", letter == "D")
        if letter in "pP":
            return self._property(letter == "P")
        if letter in _CONTROLS:
            return _exactly(_CONTROLS[letter], False)
        if letter in "ux":
            return _exactly(self._code(letter), False)
        if letter.isalnum():
            raise Unreadable(self._source)
        return _exactly(letter, False)

    def _property(self, negative: bool) -> Test:
        if not self._take("{"):
            raise Unreadable(self._source)
        negative ^= self._take("^")
        name, _, _ = self.rest().partition("}")
        self._at += len(name) + 1
        if name[:1] not in CATEGORIES or len(name) > 2:
            raise Unreadable(self._source)
        return _category(name, negative)

    def _code(self, letter: str) -> str:
        if self._take("{"):
            digits, _, _ = self.rest().partition("}")
            self._at += len(digits) + 1
        else:
            width = 4 if letter == "u" else 2
            digits = self.rest()[:width]
            self._at += width
        try:
            return chr(int(digits, 16))
        except ValueError:
            raise Unreadable(self._source) from None

    def _class(self, folded: bool) -> Test:
        negative, tests = self._take("^"), []
        while not self._take("]"):
            if self.rest().startswith(("&&", "[:")):
                raise Unreadable(self._source)
            if self._take("["):
                tests.append(self._class(folded))
                continue
            letter = self._member()
            if not isinstance(letter, str):
                tests.append(letter)
            elif self.rest().startswith("-") and self.rest()[1:2] not in ("]", ""):
                self._at += 1
                last = self._member()
                if not isinstance(last, str):
                    raise Unreadable(self._source)
                tests.append(_between(letter, last, folded))
            else:
                tests.append(_exactly(letter, folded))
        return _union(tests, negative)

    def _member(self) -> str | Test:
        """A letter of a class, or the test of an escape that stands for many."""
        letter = self._next()
        if letter != "\\":
            return letter
        follower = self.rest()[:1]
        if follower in _CONTROLS:
            return _CONTROLS[self._next()]
        if follower and follower in "ux":
            return self._code(self._next())
        if follower and not follower.isalnum():
            return self._next()
        return self._escape()


def _looking(inner: Node, source: str) -> Node:
    """Look-ahead of one letter; more would need the text around it."""
    only = inner.parts[0] if inner.kind == "sequence" and len(inner.parts) == 1 else inner
    if only.kind != "place":
        raise Unreadable(source)
    return Node("assertion", [only])


def _anything(letter: str) -> Fact:
    return True


def _exactly(wanted: str, folded: bool) -> Test:
    if not folded:
        return lambda a: a == wanted
    letters = set(wanted.casefold())
    return lambda a: None if len(a.casefold()) > 1 else a.casefold() in letters


def _between(first: str, last: str, folded: bool) -> Test:
    if folded:  # either case of either bound: what the engine folds is not worth settling
        return lambda a: None if a.isalpha() else first <= a <= last
    return lambda a: first <= a <= last


def _category(name: str, negative: bool) -> Test:
    if negative:
        return lambda a: negated(in_category(a, name))
    return lambda a: in_category(a, name)


def _union(tests: list[Test], negative: bool) -> Test:
    if negative:
        return lambda a: negated(either(*(test(a) for test in tests)))
    return lambda a: either(*(test(a) for test in tests))
