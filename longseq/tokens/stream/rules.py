"""What each component of a tokenizer may do across two neighbouring letters, read from its JSON.

A component that is not known here is taken to reach across everything: then nothing is proven, and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from longseq.tokens.stream.letters import composes, is_number, is_punctuation, is_space, one_grapheme
from longseq.tokens.stream.pattern import Pattern

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern built into the component ByteLevel."""

Spec = Mapping[str, Any]
Pair = Callable[[str, str], bool]


def never(a: str, b: str) -> bool:
    return False


def always(a: str, b: str) -> bool:
    return True


def as_it_is(text: str) -> str:
    return text


def nothing_to_tell(letter: str) -> Hashable | None:
    return ()


def unsettled(letter: str) -> Hashable | None:
    return None


@dataclass(frozen=True)
class Rule:
    """One component. Of two texts L + R, with L ending in a and R starting with b:"""

    crosses: Pair = never
    """(a, b): False proves that the component does to L + R what it does to L and to R apart."""
    cuts: Pair = never
    """(a, b): True proves that a pre-tokenizer splits between them."""
    signature: Callable[[str], Hashable | None] = nothing_to_tell
    """Inside a long run of letters of one signature, none of them None, a pre-tokenizer does not split again once it
    has taken more than `pattern.LIMIT` of them together."""
    apply: Callable[[str], str] = as_it_is
    """What the component makes of a text, its effects at the text's two ends left out."""


REACHES = Rule(crosses=always, signature=unsettled)
"""The rule of the unknown."""


def flat(spec: Spec | None) -> list[Spec]:
    """The components of a normalizer, pre-tokenizer or post-processor in order, sequences opened."""
    if spec is None:
        return []
    if spec["type"] != "Sequence":
        return [spec]
    parts: list[Spec] = next(
        (spec[name] for name in ("normalizers", "pretokenizers", "processors") if name in spec), []
    )
    return [inner for part in parts for inner in flat(part)]


def normalizer_rules(spec: Spec | None, engine: Callable[[Spec], Callable[[str], str]]) -> list[Rule]:
    """`engine` gives the function of one normalizer."""
    return [_normalizer(part, engine) for part in flat(spec)]


def _normalizer(spec: Spec, engine: Callable[[Spec], Callable[[str], str]]) -> Rule:
    kind = spec["type"]
    if kind in ("NFC", "NFD", "NFKC", "NFKD", "BertNormalizer"):
        return Rule(crosses=lambda a, b: composes(b), apply=engine(spec))
    if kind in ("Lowercase", "StripAccents", "Nmt", "ByteLevel"):  # letter by letter
        return Rule(apply=engine(spec))
    if kind == "Precompiled":  # cluster by cluster
        return Rule(crosses=one_grapheme, apply=engine(spec))
    if kind == "Prepend":  # acts at the start only
        return Rule()
    if kind == "Strip":  # acts at both ends, through spaces
        return Rule(crosses=lambda a, b: is_space(a) is not False or is_space(b) is not False)
    if kind == "Replace":
        literal, pattern = spec["pattern"].get("String"), spec["pattern"].get("Regex")
        if literal:
            return Rule(crosses=neighbours([literal]), apply=engine(spec))
        known = Pattern.of(pattern) if pattern else None
        if known is not None:
            return Rule(crosses=known.crosses, apply=engine(spec))
    return REACHES


def pretokenizer_rules(spec: Spec | None) -> list[Rule]:
    rules: list[Rule] = []
    for part in flat(spec):
        unreadable = bool(rules) and rules[-1].apply is _bytes_as_letters
        rules.append(REACHES if unreadable else _pretokenizer(part))
    return rules


def _pretokenizer(spec: Spec) -> Rule:
    kind = spec["type"]
    if kind == "BertPreTokenizer":
        return Rule(
            cuts=lambda a, b: any(f(c) is True for f in (is_space, is_punctuation) for c in (a, b)),
            signature=_facts(is_space, is_punctuation),
        )
    if kind == "WhitespaceSplit":
        return Rule(cuts=lambda a, b: is_space(a) is True or is_space(b) is True, signature=_facts(is_space))
    if kind == "Whitespace":
        return _split({"pattern": {"Regex": r"\w+|[^\w\s]+"}, "behavior": "Removed"})
    if kind == "Punctuation":
        return _by_fact(is_punctuation, spec.get("behavior", "Isolated"))
    if kind == "Digits":
        return _by_fact(is_number, "Isolated" if spec["individual_digits"] else "Contiguous")
    if kind == "CharDelimiterSplit":
        return _by_fact(lambda a: a == spec["delimiter"], "Removed")
    if kind == "Metaspace":
        return _metaspace(spec["replacement"], spec.get("split", True))
    if kind == "ByteLevel":
        rule = _split({"pattern": {"Regex": GPT2}, "behavior": "Isolated"}) if spec.get("use_regex", True) else Rule()
        return Rule(rule.crosses, rule.cuts, rule.signature, _bytes_as_letters)
    if kind == "Split":
        return _split(spec)
    return REACHES


def _metaspace(mark: str, split: bool) -> Rule:
    def apply(text: str) -> str:
        return text.replace(" ", mark)

    if not split:
        return Rule(apply=apply)
    return Rule(cuts=lambda a, b: b in (" ", mark), signature=lambda a: a in (" ", mark), apply=apply)


def _split(spec: Spec) -> Rule:
    literal, source, behavior = spec["pattern"].get("String"), spec["pattern"].get("Regex"), spec["behavior"]
    if literal is not None:
        if len(literal) == 1:
            return _by_fact(lambda a: a == literal, behavior)
        return Rule(crosses=neighbours([literal]), signature=unsettled)
    pattern = Pattern.of(source)
    if pattern is None:
        return REACHES
    if behavior not in ("Isolated", "Removed"):  # merged neighbours: parts stay apart, but no split is sure
        return Rule(crosses=pattern.crosses, signature=unsettled)

    def cuts(a: str, b: str) -> bool:
        return not pattern.crosses(a, b) and (pattern.covers(a) or pattern.covers(b))

    return Rule(crosses=pattern.crosses, cuts=cuts, signature=pattern.signature)


def _by_fact(test: Callable[[str], bool | None], behavior: str) -> Rule:
    """A split around single letters of which `test` is true."""

    def cuts(a: str, b: str) -> bool:
        left, right = test(a), test(b)
        if behavior == "Contiguous":
            return None not in (left, right) and left != right
        if behavior == "MergedWithPrevious":
            return left is True
        if behavior == "MergedWithNext":
            return right is True
        return left is True or right is True

    return Rule(cuts=cuts, signature=_facts(test))


def _facts(*tests: Callable[[str], bool | None]) -> Callable[[str], Hashable | None]:
    def signature(letter: str) -> Hashable | None:
        facts = tuple(test(letter) for test in tests)
        return None if None in facts else facts

    return signature


def _bytes_as_letters(text: str) -> str:
    """ByteLevel writes bytes as letters; nothing that comes after it is read here."""
    return text


@dataclass(frozen=True)
class AddedTokens:
    """Words sought in the text both before and after it is normalized; what lies between two is a text of its own."""

    crosses: Pair = never
    """As in `Rule`."""
    contents: frozenset[str] = frozenset()
    """All words, as given and normalized."""
    spaces_after: bool = False
    """Whether one of them takes the spaces that follow it."""

    @classmethod
    def of(cls, tokens: Iterable[Spec], normalize: Callable[[str], str]) -> AddedTokens:
        contents: set[str] = set()
        pairs: list[Pair] = []
        tokens = list(tokens)
        for token in tokens:
            forms = {form for form in (token["content"], normalize(token["content"])) if form}
            contents |= forms
            if token["lstrip"] or token["rstrip"] or token["single_word"]:
                pairs += [_edges(form, token) for form in forms]
        pairs.append(neighbours(contents))
        spaces_after = any(token["rstrip"] for token in tokens)
        return cls(lambda a, b: any(pair(a, b) for pair in pairs), frozenset(contents), spaces_after)

    def may_end(self, left: str) -> bool:
        """Whether one may end where `left` ends, of which only the last letters are known."""
        if self.spaces_after and is_space(left[-1]) is not False:
            return True
        return any(content.endswith(left[-len(content) :]) for content in self.contents)


def _edges(content: str, token: Spec) -> Pair:
    """The token looks at, or takes, what stands beside it."""
    strips = token["lstrip"] or token["rstrip"]

    def crosses(a: str, b: str) -> bool:
        if a == content[-1] or b == content[0]:
            return token["single_word"] or is_space(a) is not False or is_space(b) is not False
        return strips and is_space(a) is not False and is_space(b) is not False

    return crosses


def neighbours(texts: Iterable[str]) -> Pair:
    """Whether one of the texts holds the two letters side by side."""
    pairs = {text[i : i + 2] for text in texts for i in range(len(text) - 1)}
    return (lambda a, b: a + b in pairs) if pairs else never
