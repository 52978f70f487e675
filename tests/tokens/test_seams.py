"""What the joins stand on: patterns, places where nothing reaches across, and the theorem of byte-pair encoding."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers
from trained_tokenizers import BUILDERS, CL100K, trained

from longseq.tokens.stream.check import agrees
from longseq.tokens.stream.engine import Engine
from longseq.tokens.stream.pattern import LIMIT, Pattern
from longseq.tokens.stream.rules import GPT2
from longseq.tokens.stream.seams import REACH

LETTERS = "abAs'1 \n\t.-_\u4e2d\u3002\u00e9\u0301\U0001f600\u2167\u3000"
CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lo}\p{M}]*[\p{Ll}\p{Lo}\p{M}]+(?i:'s|'t)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lo}\p{M}]+"
    r"[\p{Ll}\p{Lo}\p{M}]*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = [
    GPT2,
    CL100K,
    CASED,
    r"\w+|[^\w\s]+",
    r" ?[^(\s|[.,\u3002])]+",
    r"[a-c]+1?|\s+$",
    r"(?:ab|ba)+",
    r"A(?=b)|\d{2,}",
]

strings = st.text(LETTERS, min_size=1, max_size=12)


def splits(source, text):
    return [part for part, _ in pre_tokenizers.Split(Regex(source), "isolated").pre_tokenize_str(text)]


@pytest.mark.parametrize("source", PATTERNS)
@settings(max_examples=300, deadline=None)
@given(left=strings, right=strings)
def test_a_pattern_splits_both_sides_of_a_crossless_border_alone(source, left, right):
    pattern = Pattern.of(source)
    assume(not pattern.crosses(left[-1], right[0]))
    apart, together = splits(source, left) + splits(source, right), splits(source, left + right)
    if pattern.covers(left[-1]) or pattern.covers(right[0]):
        assert together == apart
    else:  # both may belong to one stretch that nothing matches
        assert together in (apart, [*splits(source, left)[:-1], splits(source, left)[-1] + splits(source, right)[0],
                                    *splits(source, right)[1:]])  # fmt: skip


@pytest.mark.parametrize("source", PATTERNS)
def test_the_borders_that_matter_are_found(source):
    pattern = Pattern.of(source)
    assert not pattern.crosses("1", " ") or source == r"[a-c]+1?|\s+$"
    assert any(not pattern.crosses(a, b) for a in LETTERS for b in LETTERS)


@pytest.mark.parametrize("source", PATTERNS[:4])
@settings(max_examples=100, deadline=None)
@given(
    letter=st.sampled_from(LETTERS),
    start=st.sampled_from(["", " ", "'", ".", "a", "\n"]),
    end=st.text(LETTERS, max_size=3),
)
def test_a_long_run_of_one_signature_is_not_split_again(source, letter, start, end):
    assume(Pattern.of(source).signature(letter) is not None)
    short = splits(source, start + letter * (LIMIT + 2))
    assume(len(short[-1]) > LIMIT)
    long = splits(source, start + letter * 300 + end)
    held = max(part.count(letter) for part in long)
    assert held >= 300 - (LIMIT + 2 - short[-1].count(letter))


@pytest.mark.parametrize(
    "source", [r"\bword\b", r"(?<=a)b", r"(a)\1", "a*", r"\p{Han}+", r"[a-z&&[^b]]+", r"^a", r"(?!ab)c"]
)
def test_what_is_not_understood_is_not_judged(source):
    assert Pattern.of(source) is None


@pytest.mark.parametrize("kind", [kind for kind in BUILDERS if kind != "bpe without pre-tokenizer"])
@settings(max_examples=60, deadline=None)
@given(text=st.text(LETTERS + "   ", min_size=2, max_size=50))
def test_tokens_around_a_cut_are_those_of_its_sides(kind, text):
    engine = _engine(kind)
    for at in range(1, len(text)):
        if engine.seams.cut(text, at):
            context = text[max(at - REACH, 0) : at]
            whole, before, again = engine.encode(text), engine.encode(text[:at]), engine.encode(context)
            after = engine.encode(context + text[at:])
            assert whole.ids == before.ids + after.ids[len(again.ids) :]


_ENGINES = {}


def _engine(kind):
    if kind not in _ENGINES:
        _ENGINES[kind] = Engine(trained(kind))
    return _ENGINES[kind]


@pytest.mark.parametrize("kind", BUILDERS)
def test_every_pipeline_can_be_cut_or_joined_somewhere(kind):
    seams = _engine(kind).seams
    text = "one word, and another word"
    cuts = [at for at in range(len(text)) if seams.cut(text, at)]
    assert bool(cuts) != (kind == "bpe without pre-tokenizer")
    assert seams.known and all(seams.apart(text, at) for at in (9, 13))


@pytest.mark.parametrize(
    ("normalizer", "left", "right"),
    [
        (normalizers.NFC(), "cafe", "\u0301 au lait"),
        (normalizers.NFC(), "\u1112", "\u1161 and on"),
        (normalizers.NFKD(), "a", "\uff9e b"),
        (normalizers.Strip(), "one word ", "and more"),
        (normalizers.Replace("ab", "c"), "xyza", "bxyz"),
        (normalizers.Replace(Regex(" {2,}"), " "), "word  ", " word"),
    ],
)
def test_nothing_is_cut_where_a_normalizer_reaches_across(normalizer, left, right):
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    assert Engine(tokenizer).seams.apart(left + right, len(left))
    tokenizer.normalizer = normalizer
    assert not Engine(tokenizer).seams.apart(left + right, len(left))


def test_nothing_is_cut_where_an_added_token_may_reach_or_end():
    tokenizer = trained("byte-level")
    assert all(Engine(tokenizer).seams.apart("by the   wind  river", at) for at in (2, 7, 9, 15))
    tokenizer.add_tokens([AddedToken("  ", normalized=False), AddedToken("wind", rstrip=True)])
    seams = Engine(tokenizer).seams
    assert [seams.apart("by the   wind  river", at) for at in (2, 6, 7, 8, 9, 11, 13, 15)] == [
        *(True, True, False, False, False, False, False, False)
    ]


merges = st.lists(st.tuples(st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3)), max_size=12)


@settings(max_examples=300, deadline=None)
@given(merges=merges, left=st.text("ab", min_size=1, max_size=14), right=st.text("ab", min_size=1, max_size=14))
def test_byte_pairs_meet_alone_as_they_meet_in_a_text(merges, left, right):
    words = {"a": 0, "b": 1}
    usable = []  # a merge needs both of its parts; the order of ranks is free
    for a, b in merges:
        if a in words and b in words and (a, b) not in usable:
            usable.append((a, b))
            words.setdefault(a + b, len(words))
    tokenizer = Tokenizer(models.BPE(words, usable))

    def encode(text):
        return tokenizer.encode(text).tokens

    a, b = encode(left)[-1], encode(right)[0]
    assert (encode(left + right) == encode(left) + encode(right)) == (encode(a + b) == [a, b])


@pytest.mark.parametrize("kind", ["byte-level", "word-piece", "unigram"])
def test_the_check_at_load_finds_a_stream_that_differs(kind, monkeypatch):
    engine = Engine(trained(kind))
    assert agrees(engine)
    right = engine.tokens

    def shifted(encoding, first, last, start, opens):
        tokens = right(encoding, first, last, start, opens)
        return tokens._replace(offsets=tokens.offsets + (start > 0))

    monkeypatch.setattr(engine, "tokens", shifted)
    assert not agrees(engine)
