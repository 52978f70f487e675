"""Formulas as MathML: browsers set them by themselves, and say them aloud."""

from __future__ import annotations

import re

from longseq.report.page import Markup, element

Formula = Markup
"""A part of one."""
_TOKENS = re.compile(r"[A-Za-zφ]|\d+|[^\sA-Za-zφ\d]")


def formula(body: Formula, words: str) -> Markup:
    """On a line of its own; `words` are said to who cannot see it."""
    return element("math", body, display="block", alttext=words, aria_label=words, role="math")


def row(*parts: str | Formula) -> Formula:
    return element("mrow", *map(_part, parts))


def op(sign: str) -> Formula:
    return element("mo", sign)


def word(name: str) -> Formula:
    """The name of a function, upright."""
    return element("mi", name, mathvariant="normal")


def of(inside: Formula) -> Formula:
    """In brackets."""
    return element("mrow", op("("), inside, op(")"))


def sub(base: str | Formula, below: str) -> Formula:
    return element("msub", _part(base), _part(below))


def sup(base: str | Formula, above: str) -> Formula:
    return element("msup", _part(base), _part(above))


def power(base: str, exponent: Formula) -> Formula:
    return element("msup", _part(base), exponent)


def frac(top: Formula, bottom: Formula) -> Formula:
    return element("mfrac", top, bottom)


def sum_(below: str) -> Formula:
    return element("munder", op("∑"), _part(below))


def _part(text: str | Formula) -> Formula:
    """Letters, numbers and signs of plain text, each as what it is."""
    if isinstance(text, Markup):
        return text
    kinds = [
        element("mn" if token.isdigit() else "mi" if token.isalpha() else "mo", token.replace("-", "−"))
        for token in _TOKENS.findall(text)
    ]
    return kinds[0] if len(kinds) == 1 else element("mrow", *kinds)
