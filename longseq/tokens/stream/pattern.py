"""Regular expressions of tokenizers, read for one question: which neighbours can one match hold?

Glushkov's construction (1961): the places of a pattern where a letter is read, and which place may follow which. If no
place that reads `a` is followed by one that reads `b`, no path of the matcher steps from `a` to `b`, so the text can be
cut between them and both parts matched alone. Assertions count as reading the letter they look at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from longseq.tokens.stream.letters import Fact, Test
from longseq.tokens.stream.reader import Node, Unreadable, read

LIMIT = 16
"""Most letters that the bounded places of a pattern may read for `signature` to speak."""


LONGEST, PAIRS = 4096, 50_000
"""Letters of a pattern, and pairs of places that may follow each other, that are looked at: each pair of letters of a
text asks all of them."""


@dataclass
class Pattern:
    """What is known of one pattern. `Pattern.of` gives None where nothing can be proven."""

    places: list[Test] = field(default_factory=list)
    """The test of each place."""
    assertions: set[int] = field(default_factory=set)
    """Places that look without reading."""
    first: set[int] = field(default_factory=set)
    """Places that may read the first letter of a match."""
    follows: set[tuple[int, int]] = field(default_factory=set)
    """(p, q): q may read the letter after p's."""
    alone: set[int] = field(default_factory=set)
    """Places that can read a whole match by themselves."""
    endless: set[int] = field(default_factory=set)
    """Places that may read any number of letters in a row."""
    plain: bool = True
    """Greedy, without repeated groups, and bounded elsewhere by `LIMIT`."""

    @classmethod
    def of(cls, source: str) -> Pattern | None:
        """None for look-behind, word boundaries, back-references, patterns that match nothing, and endless ones."""
        if len(source) > LONGEST:
            return None
        pattern = cls()
        try:
            first, _, empty, pattern.alone, bounded = _visit(read(source), pattern)
        except (Unreadable, RecursionError):
            return None
        pattern.first = first
        pattern.plain = pattern.plain and bounded <= LIMIT
        return None if empty else pattern

    def crosses(self, a: str, b: str) -> bool:
        """Whether a match, or what it looks at, may hold `a` and `b` side by side."""
        return any(self.places[p](a) is not False and self.places[q](b) is not False for p, q in self.follows)

    def covers(self, a: str) -> bool:
        """Whether `a` is surely part of a match."""
        return any(self.places[p](a) is True for p in self.alone)

    def signature(self, a: str) -> tuple[Fact, ...] | None:
        """What the pattern can tell of a letter inside a long run of its like; None where that is not settled.

        In a run of equal signatures longer than `LIMIT` only endless places and what follows them are alive, and greed
        takes the run whole: a match that holds more than `LIMIT` of its letters holds all the rest.
        """
        if not self.plain or any(self.places[p](a) is not False for p in self._before_assertions):
            return None
        facts = tuple(self.places[p](a) for p in self._alive)
        return None if None in facts else facts

    @cached_property
    def _alive(self) -> list[int]:
        after = {q for p, q in self.follows if p in self.endless}
        return sorted(self.first | self.endless | after)

    @cached_property
    def _before_assertions(self) -> list[int]:
        return sorted({p for p, q in self.follows if q in self.assertions})


def _visit(node: Node, pattern: Pattern) -> tuple[set[int], set[int], bool, set[int], int]:
    """(first, last, may be empty, places that can be the whole, letters read by bounded places) of a subtree."""
    if node.kind == "place":
        assert node.test is not None
        pattern.places.append(node.test)
        p = len(pattern.places) - 1
        return {p}, {p}, False, {p}, 1
    if node.kind == "assertion":
        first, last, _, _, _ = _visit(node.parts[0], pattern)
        pattern.assertions |= set(range(min(first), len(pattern.places)))
        return first, last, True, set(), 0
    if node.kind == "either":
        parts = [_visit(part, pattern) for part in node.parts]
        return (
            set().union(*(p[0] for p in parts)),
            set().union(*(p[1] for p in parts)),
            any(p[2] for p in parts),
            set().union(*(p[3] for p in parts)),
            max((p[4] for p in parts), default=0),
        )
    if node.kind == "repeat":
        return _repeat(node, pattern)
    return _sequence(node, pattern)


def _follow(pattern: Pattern, last: set[int], first: set[int]) -> None:
    if len(pattern.follows) + len(last) * len(first) > PAIRS:
        raise Unreadable
    pattern.follows |= {(p, q) for p in last for q in first}


def _repeat(node: Node, pattern: Pattern) -> tuple[set[int], set[int], bool, set[int], int]:
    first, last, empty, alone, bounded = _visit(node.parts[0], pattern)
    if node.most is None or node.most > 1:
        _follow(pattern, last, first)
    single = node.parts[0].kind == "place"
    if node.most is None and single:
        pattern.endless |= first
        bounded = 0
    elif node.most is not None and (single or node.most <= 1):
        bounded *= node.most
    else:
        pattern.plain = False
    pattern.plain = pattern.plain and not node.lazy
    return first, last, empty or node.least == 0, alone if node.least <= 1 else set(), bounded


def _sequence(node: Node, pattern: Pattern) -> tuple[set[int], set[int], bool, set[int], int]:
    first: set[int] = set()
    last: set[int] = set()
    empty, bounded = True, 0
    alone: set[int] = set()
    skipped = True  # all parts so far can be left out, none of them an assertion
    for part in node.parts:
        f, l, e, a, n = _visit(part, pattern)
        _follow(pattern, last, f)
        can_skip = e and part.kind != "assertion"
        alone = (alone if can_skip else set()) | (a if skipped else set())
        skipped = skipped and can_skip
        first = first | f if empty else first
        last = last | l if e else l
        empty, bounded = empty and e, bounded + n
    return first, last, empty, alone, bounded
