"""Tokenizers without merges: an id for each character of a text, or for each word between white space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from longseq.tokens.train.config import Learning
from longseq.tokens.train.normal import normalizer

if TYPE_CHECKING:
    from longseq.tokens.stream import StreamTokenizer

END = "<|endoftext|>"
"""Special token of a text tokenizer: the end of a document. A text that spells it stays text."""
UNKNOWN = "<|unknown|>"
"""Special token that stands for what was not learned."""


def counted(texts: Iterable[str], config: Learning) -> Counter[str]:
    """How often each character, or each word, is in these texts."""
    found: Counter[str] = Counter()
    form = normalizer(config)
    for text in texts:
        read = form.normalize_str(text) if form is not None else text
        found.update(read.split() if config.unit == "words" else read)
    return found


def unit_tokenizer(counts: Counter[str], config: Learning, special: Sequence[str]) -> StreamTokenizer:
    """The special tokens, `UNKNOWN` among them, and then the most frequent units in order of their letters."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    from longseq.tokens.stream import StreamTokenizer

    known = [unit for unit, times in counts.items() if times >= config.min_frequency and unit not in special]
    known.sort(key=lambda unit: (-counts[unit], unit))
    units = sorted(known[: config.vocabulary - len(special)])
    words = {unit: i for i, unit in enumerate([*special, *units])}
    tokenizer = Tokenizer(models.WordLevel(words, UNKNOWN))
    form = normalizer(config)
    if form is not None:
        tokenizer.normalizer = form
    if config.unit == "words":
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in special])
    return StreamTokenizer(tokenizer)
