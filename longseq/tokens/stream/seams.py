"""Places in a text where a tokenizer can be stopped and started again, proven from its components alone."""

from __future__ import annotations

from collections.abc import Hashable

from longseq.tokens.stream.rules import REACHES, AddedTokens, Rule, nothing_to_tell

REACH = 16
"""Letters on either side of a place from which it is judged."""


class Seams:
    """The rules of one tokenizer in the order in which its components act."""

    def __init__(self, normalizers: list[Rule], added: AddedTokens, pretokenizers: list[Rule]):
        self._normalizers, self._added, self._pretokenizers = normalizers, added, pretokenizers

    @property
    def known(self) -> bool:
        """Whether every component is one whose reach is known."""
        return REACHES not in self._normalizers + self._pretokenizers

    def apart(self, text: str, at: int) -> bool:
        """Whether what reads and normalizes letters does so to both sides of `at` independently."""
        return self._normalized(text, at) is not None

    def cut(self, text: str, at: int) -> bool:
        """Whether the tokens of any text that holds `text[at - REACH:at + REACH]` are those of its two sides."""
        sides = self._normalized(text, at)
        if sides is None:
            return False
        left, right = sides
        split = False
        for rule in self._pretokenizers:
            if rule.crosses(left[-1], right[0]):
                return False
            split = split or rule.cuts(left[-1], right[0])
            left, right = rule.apply(left), rule.apply(right)
        return split

    def uniform(self, text: str) -> bool:
        """Whether the pre-tokenizers cannot tell the letters of `text` apart; see `Rule.signature`."""
        if all(rule.signature is nothing_to_tell for rule in self._pretokenizers):
            return True
        for rule in self._normalizers:
            text = rule.apply(text)
        letters = set(text)
        for rule in self._pretokenizers:
            signatures: set[Hashable | None] = {rule.signature(letter) for letter in letters}
            if len(signatures) != 1 or None in signatures:
                return False
            letters = set(rule.apply("".join(sorted(letters))))
        return True

    def _normalized(self, text: str, at: int) -> tuple[str, str] | None:
        """The letters around `at` as the pre-tokenizers see them; None where the sides are not independent.

        The outer end of each side may be read otherwise in the whole text. So each rule keeps only what lies between
        `at` and a place that it does not reach across.
        """
        left, right = text[max(at - REACH, 0) : at], text[at : at + REACH]
        if not left or not right or self._near_word(left, right):
            return None
        for rule in self._normalizers:
            if rule.crosses(left[-1], right[0]):
                return None
            left, right = _settled(rule, left, right)
            left, right = rule.apply(left), rule.apply(right)
            if not left or not right:
                return None
        return None if self._near_word(left, right) else (left, right)

    def _near_word(self, left: str, right: str) -> bool:
        """Whether an added token may cross, or may end here: whether it does can depend on all that stands before."""
        return self._added.crosses(left[-1], right[0]) or self._added.may_end(left)


def _settled(rule: Rule, left: str, right: str) -> tuple[str, str]:
    start = next((i for i in range(1, len(left)) if not rule.crosses(left[i - 1], left[i])), len(left))
    end = next((i for i in range(len(right) - 1, 0, -1) if not rule.crosses(right[i - 1], right[i])), 0)
    return left[start:], right[:end]
